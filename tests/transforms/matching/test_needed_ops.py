"""The ops that a graph must hold for a pattern to match."""

from __future__ import annotations

from typing import Any

import torch

from xductor import Rewrite
from xductor.ir import aten
from xductor.transforms import EXACT, Tensor, bind, one_of


def needed(rewrite: type[Rewrite]) -> set[frozenset[Any]]:
    """The op names of each clause, and the dtypes where one is asked for."""
    return {
        frozenset((op.name, *(dtype for _, dtype in op.dtypes)) for op in clause)
        for clause in rewrite().compiled.needed
    }


def _clause(*names: Any) -> frozenset[Any]:
    return frozenset(name if isinstance(name, tuple) else (name,) for name in names)


class Base(Rewrite, abstract=True):
    stage = "joint"
    numerics = EXACT

    def replacement(self, x: Tensor) -> Any:
        return x


class Nested(Base):
    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.cat([aten.abs(aten.neg(x)), x]))


class Alternatives(Base):
    """Both alternatives have a sine: that is needed, and one of the two around it."""

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(one_of(aten.cos(aten.sin(x)), aten.exp(aten.sin(x))))


class Optional(Base):
    def pattern(self, x: Tensor) -> Any:
        return aten.neg(one_of(aten.cos(x), x))


class WithDtype(Base):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return bind(y, aten.neg(aten.view(x, torch.int32)))

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return y


def test_all_ops_of_a_pattern_are_needed() -> None:
    assert needed(Nested) == {
        _clause("aten.neg.default"),
        _clause("aten.cat.default"),
        _clause("aten.abs.default"),
    }


def test_of_alternatives_what_they_share() -> None:
    assert needed(Alternatives) == {
        _clause("aten.neg.default"),
        _clause("aten.sin.default"),
        _clause("aten.cos.default", "aten.exp.default"),
    }


def test_nothing_of_what_may_be_missing() -> None:
    assert needed(Optional) == {_clause("aten.neg.default")}


def test_dtypes_are_asked_for() -> None:
    assert needed(WithDtype) == {
        _clause("aten.neg.default"),
        _clause(("aten.view.dtype", torch.int32)),
    }
