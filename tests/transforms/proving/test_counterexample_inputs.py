"""On which inputs both sides are run: what overflows is no counter-example to another order."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import aten
from xductor.transforms import (
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Numerics,
    Rewrite,
    Scalar,
    Tensor,
    no,
)
from xductor.transforms.proving import counterexamples
from xductor.transforms.proving.path_world import Limits
from xductor.transforms.proving.paths import all_paths
from xductor.transforms.proving.prover import prove
from xductor.transforms.proving.subjects import RewriteSubject
from xductor.transforms.proving.symbolic import Reads


class OtherOrder(Rewrite):
    """a + b + c the other way round: 3e38 + 3e38 - 3e38 is infinite, or it is not."""

    stage = "joint"

    def pattern(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return aten.add(aten.add(a, b), c)

    def replacement(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        return aten.add(a, aten.add(b, c))


class LosesNaN(Rewrite):
    """A product with 0 as 0."""

    stage = "joint"

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.add(aten.mul(a, 0), b)

    def replacement(self, b: Tensor) -> Any:
        return aten.add(b, 0)


class LosesInfinity(Rewrite):
    """A clamp that nobody asked for: far above all that is no infinity."""

    stage = "joint"

    def pattern(self, a: Tensor) -> Any:
        return aten.neg(a)

    def replacement(self, a: Tensor) -> Any:
        return aten.neg(aten.clamp_max(a, 1e30))


def _example(rewrite: type[Rewrite], numerics: Numerics) -> Any:
    rewrite.numerics = numerics
    subject = RewriteSubject(rewrite())
    limits, reads = Limits(rank=1, dtypes=(torch.float32,)), Reads()
    for _, instance in all_paths(lambda path: subject.instance(path, limits, reads, set())):
        if set(instance.dtypes) != {torch.float32}:
            continue
        found = counterexamples.find(subject.run, instance, numerics=numerics)
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("numerics", [REASSOCIATES, ROUNDS_LESS_OFTEN])
def test_an_overflow_of_a_part_is_no_example_where_the_order_is_free(numerics: Numerics) -> None:
    assert _example(OtherOrder, numerics) is None


def test_it_is_one_where_the_bits_are_promised() -> None:
    assert _example(OtherOrder, EXACT) is not None


@pytest.mark.parametrize("rewrite", [LosesNaN, LosesInfinity])
@pytest.mark.parametrize("numerics", [EXACT, REASSOCIATES, ROUNDS_LESS_OFTEN])
def test_nan_and_infinities_as_inputs_are_tried_all_the_same(
    rewrite: type[Rewrite], numerics: Numerics
) -> None:
    assert _example(rewrite, numerics) is not None


class DropsSmallFactor(Rewrite):
    """A factor of an int that is asked about as a float: -1 and 1 are no smaller than 0.5."""

    stage = "joint"
    numerics = EXACT

    def pattern(self, a: Tensor, factor: Scalar) -> Any:
        return aten.mul(a, factor)

    def where(self, a: Tensor, factor: Scalar) -> Any:
        if a.dtype != torch.int64 or not isinstance(factor, int):
            return no("integers only")
        return factor > -0.5 and factor < 0.5

    def replacement(self, a: Tensor) -> Any:
        return aten.mul(a, 0)


def test_an_int_is_compared_with_a_float_as_a_number() -> None:
    assert prove(DropsSmallFactor).status in ("proved", "bounded")
