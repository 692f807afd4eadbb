"""What `instances` yields is tried, or named in the result; alternatives are all exercised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import xductor
from xductor import Rewrite, Tensor, one_of
from xductor.backend.cli import main as command
from xductor.ir import aten
from xductor.transforms.validation.given_instances import InvalidInstances, given_instances
from xductor.transforms.validation.validate import ValidationError

F, B = torch.float32, torch.bfloat16


class ByDtype(Rewrite):
    """Right for both alternatives; the second for one dtype and size only."""

    stage = "joint"

    def pattern(self, x: Tensor, which: int) -> Any:
        return one_of(aten.neg(aten.neg(x)), aten.neg(aten.neg(aten.neg(aten.neg(x)))), as_=which)

    def where(self, x: Tensor, which: int) -> Any:
        return x.dtype == F if which == 0 else x.dtype == B and x.ndim == 1 and x.shape[0] == 13

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x)


class WrongInOne(ByDtype):
    """Wrong in the second alternative, which only `instances` reaches."""

    name = "wrong_in_one"

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x) if x.dtype == F else aten.neg(x)

    def instances(self) -> Iterator[dict[str, Any]]:
        yield {"x": torch.randn(3)}
        yield {"x": torch.randn(13, dtype=B)}


def test_each_alternative_is_tried_for_a_binding_that_leaves_it_open() -> None:
    found = xductor.validate(WrongInOne)
    assert found.status == "violated"
    assert "values differ" in str(found)


def test_an_alternative_that_nothing_exercised_is_named() -> None:
    found = xductor.validate(ByDtype, instances=4)
    assert found.status == "incomplete"
    assert not found.ok
    assert "never applied: alternative 1 of 2 (one_of, as_=which)" in str(found)
    with pytest.raises(ValidationError, match="alternative 1"):
        found.raise_if_wrong()


def test_with_an_instance_of_it_the_same_rewrite_is_validated() -> None:
    class Helped(ByDtype):
        def instances(self) -> Iterator[dict[str, Any]]:
            yield {"x": torch.randn(13, dtype=B), "which": 1}

    assert xductor.validate(Helped, instances=4).status == "validated"


class Products(Rewrite):
    """`x * s * 2` as `x * 2 * s`: exact for powers of two."""

    stage = "joint"
    numerics = xductor.REASSOCIATES

    def pattern(self, x: Tensor, s: float) -> Any:
        return aten.mul(aten.mul(x, s), 2.0)

    def where(self, x: Tensor) -> Any:
        return x.dtype == F

    def replacement(self, x: Tensor, s: float) -> Any:
        return aten.mul(aten.mul(x, 2.0), s)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": torch.ones(3), "sc": 2.0}, "`sc` is no variable of the pattern"),
        ({"y": 3}, "`y` is no variable of the pattern"),
        ({"x": torch.ones(3), "s": "two"}, "`s` is a str; expected a value of kind float"),
        ({"x": 2.0, "s": 2.0}, "`x` is a float; expected a value of kind tensor"),
        ({"x": torch.ones(3, dtype=B)}, "nothing is given for `s`"),
    ],
)
def test_a_malformed_binding_is_no_validation(given: dict[str, Any], said: str) -> None:
    class Malformed(Products):
        def instances(self) -> Iterator[dict[str, Any]]:
            yield given
            yield {"x": torch.ones(3), "s": 4.0}

    found = xductor.validate(Malformed, instances=4)
    assert found.status == "incomplete", found
    assert said in str(found)
    assert "instance 0" in str(found)


def test_a_misspelled_name_has_a_hint() -> None:
    class Misspelled(Products):
        def instances(self) -> Iterator[dict[str, Any]]:
            yield {"x": torch.ones(3), "ss": 2.0}

    assert "did you mean `s`?" in str(xductor.validate(Misspelled, instances=2))


def test_what_where_refuses_is_listed_only() -> None:
    class Refused(Products):
        def instances(self) -> Iterator[dict[str, Any]]:
            yield {"x": torch.ones(3, dtype=B), "s": 4.0}
            yield {"x": torch.ones(3), "s": 4.0}

    found = xductor.validate(Refused, instances=4)
    assert found.status == "validated"
    assert "instance 0 (x=bfloat16[3], s=4.0) was not applied" in str(found)
    assert "instance 1 (" not in str(found)


def test_a_proof_that_is_run_instead_is_undecided_by_the_same() -> None:
    pytest.importorskip("z3")

    @torch.library.custom_op("given_instances::products", mutates_args=())
    def products(x: torch.Tensor, s: float) -> torch.Tensor:
        return x * 2.0 * s

    products.register_fake(lambda x, s: torch.empty_like(x))

    class Unproved(Products):
        def replacement(self, x: Tensor, s: float) -> Any:
            from xductor.ir import ops

            return ops.given_instances.products(x, s)

        def instances(self) -> Iterator[dict[str, Any]]:
            yield {"x": torch.ones(3), "sc": 4.0}

    found = xductor.prove(Unproved)
    assert found.status == "undecided", found
    assert "`sc` is no variable of the pattern" in str(found)


class Tuples(Products):
    def instances(self) -> Any:
        return [(torch.ones(3), 2.0)]


class Raises(Products):
    def instances(self) -> Iterator[dict[str, Any]]:
        yield {"x": torch.ones(3), "s": 2.0}
        raise RuntimeError("mine")


@pytest.mark.parametrize(
    ("rewrite", "said"), [(Tuples, "yields a tuple"), (Raises, "raises RuntimeError: mine")]
)
def test_instances_that_are_none_are_an_error_with_its_place(
    rewrite: type[Rewrite], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidInstances, match=said) as caught:
        xductor.validate(rewrite)
    assert f"{Path(__file__).name}:" in str(caught.value)
    assert f"`instances` of {rewrite.name}" in str(caught.value)
    assert "expected dicts" in str(caught.value)
    assert command.main(["validate", f"{__file__}:{rewrite.__name__}"]) == 2
    assert said in capsys.readouterr().err


def test_a_tensor_on_meta_is_a_type_with_generated_values() -> None:
    class Types(Products):
        def instances(self) -> Iterator[dict[str, Any]]:
            yield {"x": torch.empty(2, 3, device="meta"), "s": 4.0}

    found = xductor.validate(Types, instances=1, rounds=4)
    assert (found.status, found.instances) == ("validated", 1)


def test_rewrites_by_name() -> None:
    assert xductor.validate("pointless_view", instances=2).ok
    with pytest.raises(ValueError, match="did you mean 'pointless_view'"):
        xductor.validate("pointless_veiw")
    with pytest.raises(ValueError, match="xductor validate fuse_attention"):
        xductor.validate("fuse_attention")
    with pytest.raises(ValueError, match="remove_noop_pass:NoopView"):
        xductor.validate("remove_noop_pass")
    with pytest.raises(TypeError, match="and not 3"):
        xductor.validate(3)  # type: ignore[arg-type]


def test_what_is_drawn_depends_on_nothing_drawn_before() -> None:
    """Nor does what is drawn afterwards depend on the instances."""
    seen: list[torch.Tensor] = []

    class Drawing(Rewrite):
        name = "drawing"
        stage = "joint"

        def pattern(self, x: Tensor) -> Any:
            return aten.neg(aten.neg(x))

        def replacement(self, x: Tensor) -> Any:
            return x

        def instances(self) -> Iterator[dict[str, Any]]:
            for _ in range(2):
                seen.append(torch.randn(3))
                yield {"x": seen[-1]}

    for before in (0, 1):
        torch.manual_seed(before)
        state = torch.get_rng_state()
        assert [len(one.values) for one in given_instances(Drawing(), 0)] == [1, 1]
        assert torch.equal(torch.get_rng_state(), state)
    first, second, *again = seen
    assert not torch.equal(first, second)
    assert all(map(torch.equal, (first, second), again))
