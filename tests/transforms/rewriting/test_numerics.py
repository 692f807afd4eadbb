"""What a rewrite may change about values: by dtype, and the level of fewer roundings."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import aten, prims
from xductor.transforms import (
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Rewrite,
    Tensor,
)
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.passes.numerics import (
    ADMITTED,
    admits,
    numerics_at,
    numerics_text,
    weakest,
)
from xductor.transforms.proving.prover import prove
from xductor.transforms.proving.solving.equality import Budget
from xductor.transforms.proving.solving.levels import Elements
from xductor.transforms.proving.solving.solver import Assumptions
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.semantics.scalars import fn
from xductor.transforms.semantics.terms import Term, cast, element
from xductor.transforms.validation.validate import validate

BY_DTYPE = {torch.float32: REASSOCIATES, torch.int64: EXACT, torch.bfloat16: ROUNDS_LESS_OFTEN}


class Twice(Rewrite):
    stage = "joint"
    numerics = BY_DTYPE

    def pattern(self, x: Tensor) -> Any:
        return aten.add(x, x)

    def replacement(self, x: Tensor) -> Any:
        return aten.mul(x, 2)


@pytest.mark.parametrize(
    ("dtype", "policy", "applied"),
    [
        (torch.float32, "default", 1),
        (torch.float32, "strict", 0),
        (torch.int64, "strict", 1),
        (torch.bfloat16, "default", 1),
        (torch.bfloat16, "strict", 0),
        (torch.float16, "fast", 0),
        (torch.int32, "default", 0),
    ],
)
def test_the_dtype_of_the_output_decides(
    trace: Any, dtype: torch.dtype, policy: Any, applied: int
) -> None:
    case = trace(lambda x: x + x, torch.ones(3).to(dtype))
    told: list[str] = []
    with watching(report=lambda one, op, error: told.append(str(error))):
        assert RewritePass.of([Twice], policy).rewrite(case.module) == applied
    assert bool(told) != bool(applied)


def test_one_numerics_for_all_is_as_before(trace: Any) -> None:
    class Loose(Twice):
        numerics = REASSOCIATES

    case = trace(lambda x: x + x, torch.ones(3))
    assert RewritePass.of([Loose], "strict").rewrite(case.module) == 0
    assert RewritePass.of([Loose]).rewrite(case.module) == 1


def test_what_is_said_of_it() -> None:
    declared = Twice.numerics
    assert numerics_text(declared) == (
        "exact (int64), reassociates (float32), rounds less often (bfloat16)"
    )
    assert weakest(declared) == ROUNDS_LESS_OFTEN
    assert numerics_at(declared, torch.float16) is None
    assert numerics_at(REASSOCIATES, None) == REASSOCIATES
    assert admits("strict", declared)
    assert not admits("strict", {torch.float32: REASSOCIATES})
    assert ROUNDS_LESS_OFTEN in ADMITTED["default"]
    assert ROUNDS_LESS_OFTEN not in ADMITTED["strict"]
    turned = dict(reversed(BY_DTYPE.items()))
    other = type("Turned", (Twice,), {"numerics": turned, "__module__": __name__})
    assert repr(other.numerics) == repr(declared)
    assert hash(other.numerics) == hash(declared)


@pytest.mark.parametrize(
    ("numerics", "said"),
    [
        ({torch.float32: "loose"}, "numerics is 'loose'; it is one of 'exact'"),
        ({"float32": EXACT}, "a mapping from torch dtypes, found 'float32'"),
        ({}, "a mapping from torch dtypes, found none"),
    ],
)
def test_a_mapping_of_something_else(numerics: Any, said: str) -> None:
    with pytest.raises(PatternError, match=said):
        type("Misspelt", (Twice,), {"numerics": numerics, "__module__": __name__})


class Narrow(Rewrite):
    """A sum of three that is rounded to 16 bits in between, and one that is not."""

    stage, numerics = "joint", ROUNDS_LESS_OFTEN

    def pattern(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return aten.add(aten.add(x, y), z)

    def where(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return all(one.dtype == torch.bfloat16 for one in (x, y, z)) and x.same_shape(
            y
        ) & x.same_shape(z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        wide = [prims.convert_element_type(one, torch.float32) for one in (x, y, z)]
        total = aten.add(aten.add(wide[0], wide[1]), wide[2])
        return prims.convert_element_type(total, torch.bfloat16)


class Turned(Narrow):
    """The other way round: a rounding more."""

    def pattern(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return Narrow.replacement(self, x, y, z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return aten.add(aten.add(x, y), z)


def _instances(self: Any) -> Any:
    """Of an ordinary size, so that there is something to round."""
    for seed in range(6):
        torch.manual_seed(seed)
        yield {name: torch.randn(40, 9).bfloat16() for name in "xyz"}


Narrow.instances = _instances  # type: ignore[attr-defined]


def test_fewer_roundings_are_validated_against_float64() -> None:
    found = validate(Narrow, instances=8, dtypes=(torch.bfloat16,))
    assert found.status == "validated", str(found)
    assert 0 < found.errors.after < 0.8 * found.errors.before


def test_a_rounding_more_is_a_violation() -> None:
    found = validate(Turned, instances=8, dtypes=(torch.bfloat16,))
    assert found.status == "violated"
    assert "further from float64 than what is replaced" in found.violations[0]


def _narrow(item: Term) -> Term:
    return cast(item, torch.bfloat16)


def _sums() -> tuple[Term, Term]:
    """An element of a sum of three, rounded in between and not."""
    wide = [cast(element(name, (), torch.bfloat16), torch.float32) for name in "xyz"]
    first = fn("add", wide[0], wide[1])
    between = cast(_narrow(first), torch.float32)
    return _narrow(fn("add", between, wide[2])), _narrow(fn("add", first, wide[2]))


def test_fewer_roundings_are_proved_and_more_are_not() -> None:
    pytest.importorskip("z3")
    often, seldom = _sums()
    budget = Budget(query=0.1, total=2.0)
    less = Elements(ROUNDS_LESS_OFTEN, budget).agreement(Assumptions(), often, seldom)
    more = Elements(ROUNDS_LESS_OFTEN, budget).agreement(Assumptions(), seldom, often)
    assert less.level is not None
    assert less.level.numerics == ROUNDS_LESS_OFTEN
    assert more.level is None


def test_a_proof_by_dtype_is_about_those_named() -> None:
    pytest.importorskip("z3")
    found = prove(Twice, seconds=20)
    assert found.status in ("proved", "bounded"), str(found)
    assert set(found.dtypes) == {"float32", "int64", "bfloat16"}
    assert found.declared == numerics_text(BY_DTYPE)
