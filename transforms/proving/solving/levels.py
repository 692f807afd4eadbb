"""The kinds of equality that numerics allow, tried from the strictest on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch

from xductor.transforms.passes.numerics import (
    APPROXIMATE,
    DROPS_ROUNDING,
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    UP_TO_ZERO_SIGN,
    Numerics,
)
from xductor.transforms.proving.solving.equality import Budget, Comparison, Relation, Verdict
from xductor.transforms.proving.solving.roundings import without_roundings
from xductor.transforms.proving.solving.solver import Assumptions
from xductor.transforms.proving.solving.summation import AXIOMS, SumComparison
from xductor.transforms.proving.solving.summed_products import begin_names
from xductor.transforms.semantics.kernels import with_sums_apart
from xductor.transforms.semantics.terms import BOOL, Term, parts, rebuilt, scalar


@dataclass(frozen=True)
class Level:
    """One kind of equality: the numerics it amounts to, and how both sides are compared.

    - `form`: applied to both sides before comparing; `of_source`: applied to the source alone.
    - `drops_rounding`: used only if the source loses a rounding by `of_source` and the target has
      none to lose: the error of a sum in another order is then smaller than that rounding.
    - `hasty`: formulas get little time, since another level follows.
    """

    numerics: Numerics
    relation: Relation = "bits"
    form: Callable[[Term], Term] | None = None
    of_source: Callable[[Term], Term] | None = None
    axioms: tuple[str, ...] = ()
    comparison: type[Comparison] = Comparison
    drops_rounding: bool = False
    hasty: bool = False

    def applies_to(self, source: Term, target: Term) -> bool:
        """Whether the level may tell anything of two elements."""
        return not self.drops_rounding or _loses_roundings(source, target)


_BITS = Level(EXACT)
_ZERO_SIGN = Level(UP_TO_ZERO_SIGN, "zero sign")
_ROUNDINGS = Level(
    DROPS_ROUNDING,
    form=without_roundings,
    axioms=("a cast of a cast between floats may be the last cast alone",),
)
_FEWER = Level(
    ROUNDS_LESS_OFTEN,
    of_source=without_roundings,
    axioms=("a rounding between two ops need not take place",),
)
_FEWER_SUMS = Level(
    ROUNDS_LESS_OFTEN,
    of_source=lambda item: without_roundings(with_sums_apart(item)),
    axioms=(
        "a sum that is no longer rounded to a narrower dtype may be taken in any order",
        *AXIOMS,
    ),
    comparison=SumComparison,
    drops_rounding=True,
)
_SUMS = Level(REASSOCIATES, axioms=AXIOMS, comparison=SumComparison)

#: What is tried for the numerics that a rewrite declares, the strictest first.
LEVELS: Mapping[Numerics, tuple[Level, ...]] = {
    EXACT: (_BITS,),
    UP_TO_ZERO_SIGN: (_BITS, _ZERO_SIGN),
    # z3 cannot decide the bits of reordered sums, and need not; the last level uses it too.
    REASSOCIATES: (replace(_BITS, hasty=True), _SUMS),
    ROUNDS_LESS_OFTEN: (replace(_BITS, hasty=True), replace(_FEWER, hasty=True), _FEWER_SUMS),
    DROPS_ROUNDING: (_BITS, _ROUNDINGS),
    APPROXIMATE: (*[replace(one, hasty=True) for one in (_BITS, _ZERO_SIGN, _ROUNDINGS)], _SUMS),
}


@dataclass
class Agreement:
    """The outcome of comparing two elements.

    - `level`: at which they are equal, None if at none; `engines`: what was used for it.
    - `verdict`: that of the first level, or of the first that decided.
    """

    level: Level | None = None
    verdict: Verdict = field(default_factory=Verdict)
    engines: set[str] = field(default_factory=set[str])


@dataclass
class Elements:
    """Compares the elements of a rewrite's results; decisions are kept across its paths."""

    numerics: Numerics
    budget: Budget
    known: dict[Any, Any] = field(default_factory=dict[Any, Any])
    _agreed: dict[Any, Agreement] = field(default_factory=dict[Any, Agreement])

    def agreement(self, assumptions: Assumptions, a: Term, b: Term) -> Agreement:
        """Whether two elements are equal where the assumptions hold, and at which level."""
        levels = LEVELS[self.numerics]
        if levels[0].hasty:
            found = self._whatever_numbers(assumptions, a, b, levels)
            if found is not None:
                return found
        *before, last = [one for one in levels if one.applies_to(a, b)]
        return self._tried(assumptions, a, b, (*before, replace(last, hasty=False)))

    def _tried(
        self, assumptions: Assumptions, a: Term, b: Term, levels: tuple[Level, ...]
    ) -> Agreement:
        found = Agreement()
        for place, level in enumerate(levels):
            begin_names()
            budget = self.budget.hasty() if level.hasty else self.budget
            comparison = level.comparison(
                assumptions, level.relation, budget, self.known, level.form
            )
            source = a if level.of_source is None else level.of_source(a)
            if not level.applies_to(a, b):
                continue
            answer = comparison.related(source, b)
            if not place or found.verdict.answer == "unknown":
                found.verdict = comparison.verdict
            found.engines |= comparison.verdict.engines
            if answer == "equal":
                found.level = level
                break
        return found

    def _whatever_numbers(
        self, assumptions: Assumptions, a: Term, b: Term, levels: tuple[Level, ...]
    ) -> Agreement | None:
        """An agreement that holds whatever elements the Python numbers in both are; else None.

        Then the kinds of the numbers, and what they are cast from, do not matter.
        """
        names: dict[Term, Term] = {}
        pair = _with_opaque_numbers(a, names), _with_opaque_numbers(b, names)
        if not names:
            return None
        question = (tuple(assumptions.items), *pair)
        found = self._agreed.get(question)
        if found is None:
            every = tuple([replace(level, hasty=True) for level in levels])
            found = self._tried(assumptions, *pair, every)
            self._agreed[question] = found
        return found if found.level is not None else None


def _loses_roundings(source: Term, target: Term) -> bool:
    apart = with_sums_apart(source)
    return without_roundings(apart) is not apart and without_roundings(target) is target


def _with_opaque_numbers(item: Term, names: dict[Term, Term]) -> Term:
    """A term in which each cast of a Python number is replaced by a number of its own."""
    done: dict[Term, Term] = {}

    def visit(one: Term) -> Term:
        found = done.get(one)
        if found is None:
            found = done[one] = replaced(one)
        return found

    def replaced(one: Term) -> Term:
        if one.op in ("scalar", "cast") and one.sort != BOOL and _is_of_numbers(one):
            if one not in names:
                assert isinstance(one.sort, torch.dtype)
                names[one] = scalar(f"number {len(names)}", one.sort)
            return names[one]
        return rebuilt(one, visit) if _has_numbers(one) else one

    return visit(item)


def _is_of_numbers(item: Term) -> bool:
    return item.op == "scalar" or (item.op == "cast" and _is_of_numbers(item.args[0]))


@cache
def _has_numbers(item: Term) -> bool:
    """Whether there is a Python number somewhere in a term."""
    return item.op == "scalar" or any(map(_has_numbers, parts(item)))


__all__ = ["LEVELS", "Agreement", "Elements", "Level"]
