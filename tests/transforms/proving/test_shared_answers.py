"""What is decided once for many paths: about sizes, and about whatever numbers there are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.transforms import REASSOCIATES
from xductor.transforms.proving.solving import solver
from xductor.transforms.proving.solving.equality import Budget
from xductor.transforms.proving.solving.levels import Elements
from xductor.transforms.proving.solving.solver import Assumptions
from xductor.transforms.semantics.terms import call, cast, element, eq, fold, le, lt, scalar, var

F32, F64, I64 = torch.float32, torch.float64, torch.int64
M, N, K = var("m"), var("n"), var("k")


@pytest.fixture(autouse=True)
def nothing_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_decided", {})


def test_what_holds_inside_a_scope_does_not_hold_behind_it() -> None:
    one = Assumptions()
    one.add(le(1, M))
    with one.under(lt(M, N)):
        with one.under(lt(N, K)):
            assert one.implies(lt(M, K))  # the first question, which opens both scopes
        assert not one.implies(lt(M, K))
        assert one.implies(le(2, N))
    assert not one.implies(le(2, N))
    one.add(le(3, M))
    assert one.implies(le(2, M))


def test_a_question_is_asked_once_under_the_same_assumptions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    check = solver._Solvers.check

    def counted(self: Any, conditions: Any) -> Any:
        asked.append(conditions)
        return check(self, conditions)

    monkeypatch.setattr(solver._Solvers, "check", counted)
    for _ in range(2):
        one = Assumptions()
        one.add(le(1, M))
        one.add(lt(M, N))
        assert one.implies(le(2, N))
    assert len(asked) == 1
    other = Assumptions()
    other.add(le(1, M))
    assert not other.implies(le(2, N))
    assert len(asked) == 2


def _elements() -> Elements:
    return Elements(REASSOCIATES, Budget())


def test_numbers_are_compared_whatever_their_kind() -> None:
    elements = _elements()
    x = fold("sum", [M], lambda at: element("x", at, F32), F32)
    for kind in (I64, F64):
        number = cast(scalar("a", kind), F32)
        left, right = call("mul", (number, x), F32), call("mul", (x, number), F32)
        found = elements.agreement(Assumptions(), left, right)
        assert found.level is not None
    assert len(elements._agreed) == 1


@pytest.mark.parametrize("kind", [I64, F64])
def test_two_numbers_are_not_one(kind: torch.dtype) -> None:
    x = element("x", (), F32)
    left = call("mul", (cast(scalar("a", kind), F32), x), F32)
    right = call("mul", (cast(scalar("b", kind), F32), x), F32)
    assert _elements().agreement(Assumptions(), left, right).level is None


def test_two_functions_of_one_number_are_not_one() -> None:
    number = scalar("a", I64)
    twice = cast(call("add", (number, number), I64), F64)
    other = cast(call("mul", (number, cast(scalar("a", I64), I64)), I64), F64)
    assert _elements().agreement(Assumptions(), twice, twice).level is not None
    assert _elements().agreement(Assumptions(), twice, other).level is None


def test_equal_sizes_are_used() -> None:
    one = Assumptions()
    one.add(eq(M, N))
    left = fold("sum", [M], lambda at: element("x", at, F32), F32)
    right = fold("sum", [N], lambda at: element("x", at, F32), F32)
    assert _elements().agreement(one, left, right).level is not None
