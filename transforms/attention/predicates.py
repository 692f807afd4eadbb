"""Conditions on positions, such as `row - column >= 0`, and their combinations by and, or, not.

A condition refers to the dims of one tensor by number. It is in negation normal form: `negated`
negates the comparisons, so there is no class for "not".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xductor.ir import Facts
from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic import expressions

#: Pairs of a dim and the nonzero factor of its index, sorted by dim.
Coefficients = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Affine:
    """`constant` plus the sum of factor times index over some dims, in integers."""

    constant: Dim
    terms: Coefficients = ()

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """`self + factor * other`."""
        sums = dict(self.terms)
        for dim, coefficient in other.terms:
            sums[dim] = sums.get(dim, 0) + factor * coefficient
        constant = expressions.add(self.constant, expressions.mul(other.constant, factor))
        return affine(constant, sums)

    def times(self, factor: int) -> Affine:
        return Affine(0).plus(self, factor)

    def at(self, dims: Mapping[int, Affine]) -> Affine:
        """The form with expressions substituted for the indices of some dims."""
        constant = self.constant
        sums: dict[int, int] = {}
        for dim, coefficient in self.terms:
            form = dims.get(dim)
            if form is None:
                sums[dim] = sums.get(dim, 0) + coefficient
                continue
            for other, factor in form.terms:
                sums[other] = sums.get(other, 0) + coefficient * factor
            if form.constant != 0:
                scaled = expressions.mul(form.constant, coefficient)
                constant = expressions.add(constant, scaled)
        return affine(constant, sums)

    def least(self, sizes: Sequence[Dim]) -> Dim:
        """The smallest value over all indices, if no size is zero."""
        found = self.constant
        for dim, coefficient in self.terms:
            if coefficient < 0:
                last = expressions.sub(sizes[dim], 1)
                found = expressions.add(found, expressions.mul(last, coefficient))
        return found


def affine(constant: Dim, terms: Mapping[int, int]) -> Affine:
    return Affine(constant, tuple(sorted((dim, c) for dim, c in terms.items() if c)))


class Condition(ABC):
    """A condition on the position of an element."""

    @abstractmethod
    def negated(self) -> Condition:
        """The condition that holds where this one does not."""

    @abstractmethod
    def at(self, dims: Mapping[int, Affine]) -> Condition:
        """The condition with expressions substituted for the indices of some dims."""

    @abstractmethod
    def holds(self, sizes: Sequence[Dim], facts: Facts) -> bool:
        """Whether it is known to hold at all positions of a tensor with these sizes."""


@dataclass(frozen=True)
class AtLeastZero(Condition):
    """`form >= 0`."""

    form: Affine

    def negated(self) -> Condition:
        return AtLeastZero(Affine(-1).plus(self.form, -1))

    def at(self, dims: Mapping[int, Affine]) -> Condition:
        return AtLeastZero(self.form.at(dims))

    def holds(self, sizes: Sequence[Dim], facts: Facts) -> bool:
        return facts.known_le(0, self.form.least(sizes)) is True


@dataclass(frozen=True)
class AllOf(Condition):
    """The conjunction of the parts; true without any."""

    parts: tuple[Condition, ...] = ()

    def negated(self) -> Condition:
        return any_of([part.negated() for part in self.parts])

    def at(self, dims: Mapping[int, Affine]) -> Condition:
        return all_of([part.at(dims) for part in self.parts])

    def holds(self, sizes: Sequence[Dim], facts: Facts) -> bool:
        return all(part.holds(sizes, facts) for part in self.parts)


@dataclass(frozen=True)
class AnyOf(Condition):
    """The disjunction of the parts; false without any."""

    parts: tuple[Condition, ...] = ()

    def negated(self) -> Condition:
        return all_of([part.negated() for part in self.parts])

    def at(self, dims: Mapping[int, Affine]) -> Condition:
        return any_of([part.at(dims) for part in self.parts])

    def holds(self, sizes: Sequence[Dim], facts: Facts) -> bool:
        return any(part.holds(sizes, facts) for part in self.parts)


@dataclass(frozen=True)
class Unknown(Condition):
    """A condition that depends on data; `source` identifies it."""

    source: object = field(default_factory=object)

    def negated(self) -> Condition:
        return Unknown()

    def at(self, dims: Mapping[int, Affine]) -> Condition:
        return self

    def holds(self, sizes: Sequence[Dim], facts: Facts) -> bool:
        return False


ALWAYS: Condition = AllOf()
NEVER: Condition = AnyOf()


def all_of(parts: Sequence[Condition]) -> Condition:
    flat = _flat(parts, AllOf)
    if NEVER in flat:
        return NEVER
    return flat[0] if len(flat) == 1 else AllOf(tuple(flat))


def any_of(parts: Sequence[Condition]) -> Condition:
    flat = _flat(parts, AnyOf)
    if ALWAYS in flat:
        return ALWAYS
    return flat[0] if len(flat) == 1 else AnyOf(tuple(flat))


def _flat(parts: Sequence[Condition], kind: type[AllOf | AnyOf]) -> list[Condition]:
    found: list[Condition] = []
    for part in parts:
        found += part.parts if isinstance(part, kind) else (part,)
    return list(dict.fromkeys(found))


def shortened(condition: Condition, sizes: Sequence[Dim], facts: Facts) -> Condition:
    """The condition without parts that are always true or false in a tensor with these sizes."""
    if condition.holds(sizes, facts):
        return ALWAYS
    if condition.negated().holds(sizes, facts):
        return NEVER
    if isinstance(condition, AllOf):
        return all_of([shortened(part, sizes, facts) for part in condition.parts])
    if isinstance(condition, AnyOf):
        return any_of([shortened(part, sizes, facts) for part in condition.parts])
    return condition


def is_causal(condition: Condition, row: int, column: int) -> bool:
    """Whether the condition is exactly that the column is at most the row."""
    wanted = AtLeastZero(affine(0, {row: 1, column: -1}))
    return condition == wanted


def keeps_each_row(
    condition: Condition, row: int, column: int, sizes: Sequence[Dim], facts: Facts
) -> bool:
    """Whether each row is known to have a column for which the condition holds."""
    rows, columns = sizes[row], sizes[column]
    index = Affine(0, ((row, 1),))
    last = Affine(expressions.sub(columns, 1))
    candidates: list[Affine] = []
    if facts.known_le(1, columns) is True:
        candidates += [Affine(0), last]
    if facts.known_le(rows, columns) is True:
        shift = Affine(expressions.sub(columns, rows))
        candidates += [index, index.plus(shift)]
    return any(condition.at({column: candidate}).holds(sizes, facts) for candidate in candidates)


def relabelled(condition: Condition, dims: Mapping[int, int]) -> Condition:
    """The condition with its dims renumbered."""
    return condition.at({old: Affine(0, ((new, 1),)) for old, new in dims.items()})


__all__ = [
    "ALWAYS",
    "NEVER",
    "Affine",
    "AllOf",
    "AnyOf",
    "AtLeastZero",
    "Condition",
    "Unknown",
    "affine",
    "all_of",
    "any_of",
    "is_causal",
    "keeps_each_row",
    "relabelled",
    "shortened",
]
