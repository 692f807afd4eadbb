"""Answers about sizes in `pays`: where facts do not decide, the sizes that were seen do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from xductor.ir import SymExpr
from xductor.ir.symbolic.symbol_values import Number
from xductor.transforms.analysis.usual_sizes import UsualSizes

Expr = int | SymExpr


class Knowledge(Protocol):
    """Answers about symbols: `xductor.ir.symbolic.facts.Facts`, or a prover's."""

    def known_equal(self, a: Expr, b: Expr) -> bool | None: ...
    def known_le(self, a: Expr, b: Expr) -> bool | None: ...
    def known_lt(self, a: Expr, b: Expr) -> bool | None: ...
    def divides(self, k: Expr, e: Expr) -> bool | None: ...


class UsualFacts:
    """Facts, and where they do not know, what was so while the graph was traced.

    What was not seen then stays unknown. Nothing is learned: neither guards nor ranges change.
    """

    def __init__(self, facts: Knowledge, sizes: UsualSizes) -> None:
        self._facts = facts
        self._sizes = sizes

    def known_equal(self, a: Expr, b: Expr) -> bool | None:
        answer = self._facts.known_equal(a, b)
        return self._usually(a, b, lambda x, y: x == y) if answer is None else answer

    def known_le(self, a: Expr, b: Expr) -> bool | None:
        answer = self._facts.known_le(a, b)
        return self._usually(a, b, lambda x, y: x <= y) if answer is None else answer

    def known_lt(self, a: Expr, b: Expr) -> bool | None:
        answer = self._facts.known_lt(a, b)
        return self._usually(a, b, lambda x, y: x < y) if answer is None else answer

    def divides(self, k: Expr, e: Expr) -> bool | None:
        answer = self._facts.divides(k, e)
        return self._usually(k, e, _divides) if answer is None else answer

    def number(self, e: Expr) -> Number | None:
        """What an expression was while the graph was traced; None if that is not known."""
        return self._sizes.seen(e)

    def note(self, *sides: Expr) -> str:
        """What the symbols of an answer were, to be told with it."""
        seen = self._sizes.seen_symbols(*sides)
        told = ", ".join(f"{name} = {one}" for name, one in seen.items())
        return f" where {told}" if told else ""

    def _usually(self, a: Expr, b: Expr, relation: Callable[[Number, Number], bool]) -> bool | None:
        left, right = self.number(a), self.number(b)
        return None if left is None or right is None else relation(left, right)


def _divides(k: Number, e: Number) -> bool:
    return e == 0 if k == 0 else e % k == 0


__all__ = ["Knowledge", "UsualFacts"]
