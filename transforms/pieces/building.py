"""Ops that read a part of a tensor: slices, a permutation, a reshape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, cast

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, TensorType, aten
from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic.expressions import add, floordiv, mul, sub
from xductor.transforms.pieces.readings import (
    Reading,
    Step,
    merged,
    reading_by_type,
    same_elements,
)
from xductor.transforms.pieces.regions import strided
from xductor.transforms.rewriting.building import Unbuildable
from xductor.transforms.rewriting.handles import Dim as DimHandle
from xductor.transforms.rewriting.handles import value_handle


class Factor(NamedTuple):
    """A part of a dim of the base: `size` elements, `step` indices apart."""

    dim: int
    size: Dim
    step: Dim


@dataclass(frozen=True)
class Range:
    """The range that is read of one dim of the base: start, number of elements and step."""

    start: Dim
    size: Dim
    step: Dim


@dataclass
class Way:
    """How to read elements of a base tensor.

    - `ranges`: one for each dim of the base; None where a single index, given in `starts`, is read.
    - `cut`: the sizes into which the remaining dims are split; `order`: their order in the result.
    - `sizes`: the sizes of the result.
    """

    base: SSAValue
    sizes: tuple[Dim, ...]
    starts: list[Dim]
    ranges: list[Range | None] = field(default_factory=list[Range | None])
    cut: list[Dim] = field(default_factory=list["Dim"])
    order: list[int] = field(default_factory=list[int])

    @property
    def cost(self) -> int:
        """How many ops it takes."""
        type_ = strided(self.base)
        assert type_ is not None
        pairs = zip(type_.shape, self.ranges, strict=True)
        taken = sum(one is None or not _is_all(one, size) for size, one in pairs)
        moves = self.order != sorted(self.order)
        left = [one.size for one in self.ranges if one is not None]
        cuts = moves and self.cut != left
        ends = [self.cut[place] for place in self.order] if moves else left
        return taken + moves + cuts + (ends != list(self.sizes))


def _is_all(one: Range, size: Dim) -> bool:
    return one.start == 0 and one.step == 1 and one.size == size


def way_to(
    reading: Reading, sizes: tuple[Dim, ...], candidates: Sequence[SSAValue], facts: Facts
) -> Way | None:
    """The shortest way to a reading, under the given sizes, from one of the candidates."""
    ways = [_way_from(base, reading, sizes, facts) for base in candidates]
    return min((one for one in ways if one is not None), key=lambda one: one.cost, default=None)


def _way_from(base: SSAValue, reading: Reading, sizes: tuple[Dim, ...], facts: Facts) -> Way | None:
    type_ = strided(base)
    if type_ is None:
        return None
    if _same_in_order(reading_by_type(reading.root, type_), reading, facts):
        whole: list[Range | None] = [Range(0, size, 1) for size in type_.shape]
        first: list[Dim] = [0] * type_.rank
        return Way(base, sizes, first, whole, list(type_.shape), list(range(type_.rank)))
    factors: list[Factor] = []
    for step in reading.steps:
        found = _factors(step, type_, facts)
        if found is None:
            return None
        factors += found
    starts = _starts(sub(reading.offset, type_.offset), type_, facts)
    if starts is None:
        return None
    by_dim: list[list[Factor]] = [[] for _ in type_.shape]
    for one in factors:
        by_dim[one.dim].append(one)
    units = sum(not steps for steps in reading.dims)
    way = Way(base, sizes, starts)
    places: list[Factor] = []
    for dim, (size, own) in enumerate(zip(type_.shape, by_dim, strict=True)):
        if not own and units > 0:
            units -= 1
            own.append(Factor(dim, 1, 1))
        if len(own) > 1 and not all(type(one.step) is int for one in own):
            return None
        own.sort(key=lambda one: cast("int", one.step), reverse=True)
        taken = _range(own, starts[dim], size, facts) if own else None
        if taken is None and (own or facts.known_lt(starts[dim], size) is not True):
            return None
        way.ranges.append(taken)
        places += own
    way.cut = [one.size for one in places]
    order = _order(reading, factors, places)
    if order is None:
        return None
    way.order = order
    return way


def _same_in_order(left: Reading, right: Reading, facts: Facts) -> bool:
    """Whether two readings have the same elements in the same order, under any sizes."""
    one, other = (replace(each, dims=(merged(each.steps, facts),)) for each in (left, right))
    return same_elements(one, other, facts)


def _order(reading: Reading, factors: list[Factor], places: list[Factor]) -> list[int] | None:
    """The position of each part of the reading among the places; None if a part is read twice."""
    units = [number for number, one in enumerate(places) if one not in factors]
    pending = list(factors)
    order: list[int] = []
    for steps in reading.dims:
        if not steps and units:
            order.append(units.pop(0))
        for step in steps:
            size: Dim = 1
            while size != step.size:
                if not pending:
                    return None
                one = pending.pop(0)
                size = mul(size, one.size)
                order.append(places.index(one))
    order += units
    return order if not pending and sorted(order) == list(range(len(places))) else None


def _factors(step: Step, base: TensorType, facts: Facts) -> list[Factor] | None:
    """Steps as parts of the dims of a base, outermost first; None if a step crosses dims."""
    size, distance = step
    found: list[Factor] = []
    while True:
        best = _dim_of(distance, base, facts)
        if best is None:
            return None
        dim, every = best
        extent = base.shape[dim]
        if facts.known_le(add(mul(sub(size, 1), every), 1), extent) is True:
            return [Factor(dim, size, every), *found]
        inner = _divided(extent, every, facts)
        outer = None if inner is None else _divided(size, inner, facts)
        if inner is None or outer is None or inner == 1:
            return None
        found.insert(0, Factor(dim, inner, every))
        size, distance = outer, mul(inner, distance)


def _dim_of(distance: Dim, base: TensorType, facts: Facts) -> tuple[int, int] | None:
    """The dim of a base along which a distance runs, and how many of its indices that is."""
    found: tuple[int, int] | None = None
    for dim, (size, step) in enumerate(zip(base.shape, base.stride, strict=True)):
        if size == 1:
            continue
        every = 1 if facts.known_equal(step, distance) is True else _divided(distance, step, facts)
        if type(every) is not int or every < 1:
            continue
        if facts.known_lt(every, size) is True and (found is None or every < found[1]):
            found = dim, every
    return found


def _divided(dividend: Dim, divisor: Dim, facts: Facts) -> Dim | None:
    if type(dividend) is int and type(divisor) is int:
        return dividend // divisor if divisor > 0 and dividend % divisor == 0 else None
    if facts.known_lt(0, divisor) is not True:
        return None
    found = floordiv(dividend, divisor)
    return found if facts.known_equal(mul(found, divisor), dividend) is True else None


def _starts(distance: Dim, base: TensorType, facts: Facts) -> list[Dim] | None:
    """The index in each dim of the element at a distance from the first one."""
    starts: list[Dim] = [0] * base.rank
    if facts.known_equal(distance, 0) is True:
        return starts
    dims = [dim for dim in range(base.rank) if base.shape[dim] != 1]
    for dim in dims:  # along one dim alone
        index = _divided(distance, base.stride[dim], facts)
        if index is None or facts.known_le(0, index) is not True:
            continue
        if facts.known_lt(index, base.shape[dim]) is True:
            starts[dim] = index
            return starts
    steps = [base.stride[dim] for dim in dims]
    if type(distance) is not int or distance < 0 or not all(type(one) is int for one in steps):
        return None
    for dim in sorted(dims, key=lambda one: base.stride[one], reverse=True):  # type: ignore[arg-type, return-value]
        step: Any = base.stride[dim]
        if step > 0:
            starts[dim], distance = divmod(distance, step)
    return starts if distance == 0 else None


def _range(own: list[Factor], start: Dim, size: Dim, facts: Facts) -> Range | None:
    """Parts of one dim as one range of it; None if there are gaps between them."""
    if len(own) == 1:
        count, every = own[0].size, own[0].step
    else:
        if not all(type(one.size) is int and type(one.step) is int for one in own):
            return None
        numbers: Any = own[::-1]
        every = numbers[0].step
        for inner, outer in pairwise(numbers):
            if outer.step != inner.step * inner.size:
                return None
        count = prod(one.size for one in numbers)
    last = add(start, mul(sub(count, 1), every))
    return Range(start, count, every) if facts.known_lt(last, size) is True else None


class Reader:
    """Builds the ops of a way, within `building(...)`."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def build(self, way: Way, reading: Reading) -> Any:
        """Build a value that has the elements of the reading.

        Raises Unbuildable: the ops would read other elements.
        """
        made = self._sliced(way)
        left = [one.size for one in way.ranges if one is not None]
        if way.order != sorted(way.order):
            if not self._are(way.cut, left):
                made = aten.reshape(made, self._sizes(way.cut))
                left = way.cut
            made = aten.permute(made, way.order)
            left = [way.cut[place] for place in way.order]
        self._check(made, reading)
        if not reading.is_view:
            # So that nobody takes the reshape for a view of the base.
            made = aten.clone(made, memory_format=torch.contiguous_format)
        if not self._are(left, way.sizes):
            made = aten.reshape(made, self._sizes(way.sizes))
        return made

    def _sliced(self, way: Way) -> Any:
        made: Any = value_handle(way.base, self.facts)
        type_ = strided(way.base)
        assert type_ is not None
        dim = 0
        for size, start, one in zip(type_.shape, way.starts, way.ranges, strict=True):
            if one is None:
                made = aten.select(made, dim, self._dim(start))
                continue
            if not _is_all(one, size):
                end = add(add(one.start, mul(sub(one.size, 1), one.step)), 1)
                step = self._dim(one.step)
                made = aten.slice(made, dim, self._dim(one.start), self._dim(end), step)
            dim += 1
        return made

    def _check(self, made: Any, reading: Reading) -> None:
        """Check that what was built is a view with the elements of the reading, under any sizes."""
        if not _same_in_order(reading_by_type(reading.root, made.type), reading, self.facts):
            raise Unbuildable(f"a view as {made.type} would not read what was put together")

    def _are(self, left: Sequence[Dim], right: Sequence[Dim]) -> bool:
        return len(left) == len(right) and all(
            self.facts.known_equal(a, b) is True for a, b in zip(left, right, strict=True)
        )

    def _dim(self, dim: Dim) -> Any:
        return dim if type(dim) is int else DimHandle(dim, self.facts)

    def _sizes(self, sizes: Sequence[Dim]) -> list[Any]:
        return [self._dim(size) for size in sizes]


__all__ = ["Reader", "Way", "way_to"]
