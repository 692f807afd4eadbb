"""Validation of a single rewrite on instances that its pattern generates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch

import xductor
from xductor.ir import aten
from xductor.transforms import Rewrite, Scalar, Tensor, each, maybe
from xductor.transforms.validation.instance_choices import Choices
from xductor.transforms.validation.instances import NoInstance, make_instance
from xductor.transforms.validation.validate import ValidationError, validate


class BmmToMm(Rewrite):
    stage = "joint"
    numerics = "reassociates"

    def pattern(self, x: Tensor, y: Tensor):
        return aten.bmm(x, y)

    def where(self, x: Tensor):
        return x.shape[0] == 1

    def replacement(self, x: Tensor, y: Tensor):
        return aten.unsqueeze(aten.mm(aten.squeeze(x, 0), aten.squeeze(y, 0)), 0)


class Permutes(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, p: list[int], q: list[int]):
        return aten.permute(aten.permute(x, p), q)

    def replacement(self, x: Tensor, p: list[int], q: list[int]):
        return aten.permute(x, [p[place] for place in q])


class Permuted(Permutes):
    """Composed the wrong way round."""

    def replacement(self, x: Tensor, p: list[int], q: list[int]):
        return aten.permute(x, [q[place] for place in p])


class SplitReluCat(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, n: int, dim: int):
        return aten.cat(each(aten.split(x, n, dim), aten.relu), dim)

    def replacement(self, x: Tensor):
        return aten.relu(x)


class IndexOfNegated(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, dim: int, index: Tensor):
        return aten.neg(aten.index_select(x, dim, index))

    def replacement(self, x: Tensor, dim: int, index: Tensor):
        return aten.index_select(aten.neg(x), dim, index)


class MaybeCopied(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor):
        return aten.sub(maybe(aten.clone)(x), y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.add(x, aten.neg(y))


class ExpandForgotten(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor):
        return aten.sub(maybe(aten.expand)(x, ...), y)

    def where(self, x: Tensor, y: Tensor):
        return x.same_shape(y)  # and yet the result may be expanded

    def replacement(self, x: Tensor, y: Tensor):
        return aten.add(x, aten.neg(y))


class MaximumOfExpanded(Rewrite):
    """Right only where nothing is expanded, or only what is reduced."""

    stage = "joint"

    def pattern(self, x: Tensor, size: list[int], dims: list[int]):
        return aten.amax(aten.expand(x, size), dims)

    def where(self, x: Tensor, size: list[int]):
        return len(size) == x.ndim

    def replacement(self, x: Tensor, dims: list[int]):
        return aten.amax(x, dims)


class SqueezeForgotten(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, dim: int):
        return aten.neg(aten.squeeze(x, dim))

    def replacement(self, x: Tensor):
        return aten.neg(x)


class SqueezeOfSeveralForgotten(SqueezeForgotten):
    def pattern(self, x: Tensor, dim: list[int]):
        return aten.neg(aten.squeeze(x, dim))


class SqueezeOfAllForgotten(SqueezeForgotten):
    def pattern(self, x: Tensor):
        return aten.neg(aten.squeeze(x))


@pytest.mark.parametrize("cls", [BmmToMm, Permutes, SplitReluCat, IndexOfNegated, MaybeCopied])
def test_right_rewrites(cls: type[Rewrite]) -> None:
    result = xductor.validate(cls, instances=15, rounds=3)
    assert result.ok, str(result)
    assert result.instances == 15
    assert result.runs >= 15
    assert len(result.dtypes) >= 4
    assert sum(result.dtypes.values()) == 15
    assert result.symbolic >= 1
    assert result.raise_if_wrong() is result


def test_instances_verify_and_match() -> None:
    shapes: set[int] = set()
    for seed in range(30):
        choices = Choices(seed, torch.float32, torch.device("cpu"), symbolic=seed % 3 == 0)
        module = make_instance(Permutes(), choices)
        xductor.verify(module, "types")
        (graph,) = module.ops
        (argument,) = graph.arguments  # type: ignore[attr-defined]
        shapes.add(argument.type.rank)
    assert len(shapes) >= 3


def test_named_dtypes() -> None:
    result = validate(Permutes, instances=6, dtypes=[torch.float8_e5m2, torch.uint16])
    assert result.ok
    assert set(result.dtypes) == {torch.float8_e5m2, torch.uint16}


def test_a_wrong_rewrite_is_violated_with_the_graph() -> None:
    result = validate(Permuted)
    assert result.status == "violated"
    text = str(result)
    assert "rewrite permuted" in text
    assert "fx.graph @instance" in text
    with pytest.raises(ValidationError, match="permuted: violated"):
        result.raise_if_wrong()


def test_a_broken_contract_is_violated_too() -> None:
    result = validate(ExpandForgotten)
    assert result.status == "violated"
    assert "expected sizes" in result.violations[0]


@pytest.mark.parametrize(
    "cls",
    [MaximumOfExpanded, SqueezeForgotten, SqueezeOfSeveralForgotten, SqueezeOfAllForgotten],
)
@pytest.mark.parametrize("seed", range(4))
def test_what_dims_of_one_show_is_seen(cls: type[Rewrite], seed: int) -> None:
    result = validate(cls, instances=24, seed=seed)
    assert result.status == "violated"
    assert "expected sizes" in result.violations[0]


class NeverHolds(Permutes):
    def where(self, x: Tensor):
        return False


class WantsHugeSizes(BmmToMm):
    def where(self, x: Tensor):
        return x.shape[0] == 1 and x.shape[1] == 4321


def test_no_instance_is_an_error() -> None:
    result = validate(NeverHolds, instances=2)
    assert result.status == "vacuous"
    assert result.instances == 0
    with pytest.raises(ValidationError, match=r"(?s)vacuous.*\n.*instances\(self\)"):
        result.raise_if_wrong()


class HelpedAlong(WantsHugeSizes):
    def instances(self) -> Iterator[Mapping[str, Any]]:
        yield {"x": torch.randn(1, 4321, 2), "y": torch.randn(1, 2, 3)}
        yield {
            "x": torch.randn(1, 4321, 2).double(),
            "y": lambda seed: torch.ones(1, 2, 3).double(),
        }


def test_a_rewrite_helps_with_its_own_instances() -> None:
    assert validate(WantsHugeSizes, instances=2).status == "vacuous"
    result = validate(HelpedAlong, instances=2)
    assert result.ok, str(result)
    assert result.dtypes == {torch.float32: 1, torch.float64: 1}


class SumOfTwos(Rewrite):
    """Right only where all elements are two: the values of `instances` are used as they are."""

    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.sum(x)

    def where(self, x: Tensor):
        return x.ndim == 1 and x.shape[0] == 17

    def replacement(self, x: Tensor):
        return aten.mul(aten.sum(aten.ones_like(x)), 2)

    def instances(self) -> Iterator[Mapping[str, Any]]:
        yield {"x": torch.full((17,), 2.0)}


def test_the_given_values_are_used() -> None:
    assert validate(SumOfTwos, instances=1).ok


class ScaledSum(Rewrite):
    """Not the same bits: the product is not rounded in a fused multiply-add."""

    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor, s: Scalar):
        return aten.add(x, aten.mul(y, s))

    def replacement(self, x: Tensor, y: Tensor, s: Scalar):
        return aten.mul(aten.add(x, y), s)


def test_other_arithmetic() -> None:
    assert validate(ScaledSum).status == "violated"


def test_what_cannot_be_made() -> None:
    class Impossible(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor):
            return aten.mm(aten.unsqueeze(aten.mm(x, x), 0), x)

        def replacement(self, x: Tensor):
            return x

    with pytest.raises(NoInstance, match=r"aten\.mm"):
        make_instance(Impossible(), Choices(0, torch.float32, torch.device("cpu")))
