"""Whether two views of one storage may have common elements, according to their types."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from xductor.ir.dialect.types import Dim, TensorType
from xductor.ir.symbolic.expressions import Expr, add, mul, sub
from xductor.ir.symbolic.facts import Facts

__all__ = ["may_overlap", "same_elements"]


class _Region(NamedTuple):
    """The place of a view in bytes: sizes, steps of the dims, first byte, size of an element."""

    sizes: tuple[Dim, ...]
    steps: tuple[Dim, ...]
    first: Dim
    element: int


def may_overlap(a: TensorType, b: TensorType, facts: Facts) -> bool:
    """Whether two views of one storage may share bytes; True if that is not known.

    They share none if one ends before the other begins, or if both are rows of the same pitch in
    disjoint columns.
    """
    if a.data.layout != "strided" or b.data.layout != "strided":
        return True
    if 0 in a.shape or 0 in b.shape:
        return False
    left, right = _region(a), _region(b)
    if _ends_before(left, right, facts) or _ends_before(right, left, facts):
        return False
    pitches = {step for step in chain(left.steps, right.steps) if step not in (0, 1)}
    return not any(_apart_in_rows(left, right, pitch, facts) for pitch in pitches)


def same_elements(a: TensorType, b: TensorType, facts: Facts) -> bool:
    """Whether two views of one storage certainly have the same element at each index."""
    if a.dtype is not b.dtype or a.rank != b.rank:
        return False
    pairs = zip((*a.shape, *a.stride, a.offset), (*b.shape, *b.stride, b.offset), strict=True)
    return all(facts.known_equal(one, other) is True for one, other in pairs)


def _region(type_: TensorType) -> _Region:
    element = type_.dtype.itemsize
    steps = tuple([mul(step, element) for step in type_.stride])
    return _Region(type_.shape, steps, mul(type_.offset, element), element)


def _ends_before(a: _Region, b: _Region, facts: Facts) -> bool:
    # If a symbolic size is zero the end is too low, but then nothing is shared.
    end = add(a.first, _width(a, zip(a.sizes, a.steps, strict=True)))
    return facts.known_le(end, b.first) is True


def _width(region: _Region, dims: Iterator[tuple[Dim, Dim]]) -> Expr:
    """The number of bytes from the first to the end of the last element, along some dims."""
    width: Expr = region.element
    for size, step in dims:
        width = add(width, mul(sub(size, 1), step))
    return width


def _apart_in_rows(a: _Region, b: _Region, pitch: Dim, facts: Facts) -> bool:
    columns, others = _columns(a, pitch, facts), _columns(b, pitch, facts)
    if columns is None or others is None:
        return False
    (first, end), (other_first, other_end) = columns, others
    return facts.known_le(end, other_first) is True or facts.known_le(other_end, first) is True


def _columns(region: _Region, pitch: Dim, facts: Facts) -> tuple[Expr, Expr] | None:
    """The start and the end of a view's columns in rows of a pitch; None if it has no such rows."""
    inner = (
        (size, step)
        for size, step in zip(region.sizes, region.steps, strict=True)
        if facts.divides(pitch, step) is not True
    )
    first = region.first
    if type(first) is int and type(pitch) is int:
        first %= pitch
    end = add(first, _width(region, inner))
    return (first, end) if facts.known_le(end, pitch) is True else None
