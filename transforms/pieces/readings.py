"""What a value reads of the storage of another: arithmetic on sizes and strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from xdsl.ir import SSAValue

from xductor.ir import Facts, TensorType
from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic.expressions import add, floordiv, mul, sub


class Step(NamedTuple):
    """A number of elements at equal distances."""

    size: Dim
    step: Dim


#: One dim of a value, outermost first; none for a dim of size one.
#:
#: A dim of several steps is no strided view: it is what a reshape makes of several dims by a copy.
Steps = tuple[Step, ...]


@dataclass(frozen=True)
class Reading:
    """The elements of a value in the storage of a root, in order.

    - `offset`: of the first element from the beginning of the storage, in elements.
    - `dims`: the steps of each dim of the value.
    """

    root: SSAValue
    offset: Dim
    dims: tuple[Steps, ...]

    @property
    def is_view(self) -> bool:
        """Whether a strided view of the root has these elements."""
        return all(len(steps) < 2 for steps in self.dims)

    @property
    def steps(self) -> Steps:
        """The steps of all dims in order."""
        return tuple([step for steps in self.dims for step in steps])


def reading_by_type(root: SSAValue, type_: TensorType) -> Reading:
    """What a strided view of `root` with this type reads."""
    dims = zip(type_.shape, type_.stride, strict=True)
    return Reading(
        root,
        type_.offset,
        tuple([() if size == 1 else (Step(size, step),) for size, step in dims]),
    )


def same_steps(left: Steps, right: Steps, facts: Facts) -> bool:
    """Whether two dims read alike for all values of the symbols."""
    if left == right:
        return True
    return len(left) == len(right) and all(
        facts.known_equal(a, b) is True
        for x, y in zip(left, right, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def same_elements(left: Reading, right: Reading, facts: Facts) -> bool:
    """Whether two readings have the same element at each index."""
    return (
        left.root is right.root
        and len(left.dims) == len(right.dims)
        and facts.known_equal(left.offset, right.offset) is True
        and all(same_steps(a, b, facts) for a, b in zip(left.dims, right.dims, strict=True))
    )


def put_together(left: Reading, right: Reading, dim: int, facts: Facts) -> Reading | None:
    """What a cat of two readings along a dim reads; None if it does not read one root."""
    if left.root is not right.root or len(left.dims) != len(right.dims):
        return None
    pairs = zip(left.dims, right.dims, strict=True)
    if not all(same_steps(a, b, facts) for place, (a, b) in enumerate(pairs) if place != dim):
        return None
    steps = _continued(left.dims[dim], right.dims[dim], sub(right.offset, left.offset), facts)
    if steps is None:
        return None
    dims = (*left.dims[:dim], merged(steps, facts), *left.dims[dim + 1 :])
    return replace(left, dims=dims)


def _continued(left: Steps, right: Steps, distance: Dim, facts: Facts) -> Steps | None:
    """The steps of a dim that is continued by another, whose first element is at a distance."""

    def goes_on(outer: Step) -> bool:
        return facts.known_equal(distance, mul(outer.size, outer.step)) is True

    if left and len(left) == len(right) and same_steps(left[1:], right[1:], facts):
        first, other = left[0], right[0]
        if facts.known_equal(first.step, other.step) is True and goes_on(first):
            return (Step(add(first.size, other.size), first.step), *left[1:])
    if left and same_steps(left[1:], right, facts) and goes_on(left[0]):
        return (Step(add(left[0].size, 1), left[0].step), *right)
    if right and same_steps(left, right[1:], facts):
        size, step = right[0]
        if facts.known_equal(distance, step) is True:
            return (Step(add(size, 1), step), *left)
    if same_steps(left, right, facts) and facts.known_lt(0, distance) is True:
        return (Step(2, distance), *left)
    return None


def merged(steps: Sequence[Step], facts: Facts) -> Steps:
    """The steps of one dim merged into the fewest."""
    found: list[Step] = []
    for size, step in steps:
        if size == 1:
            continue
        if found and facts.known_equal(found[-1].step, mul(size, step)) is True:
            found[-1] = Step(mul(found[-1].size, size), step)
        else:
            found.append(Step(size, step))
    return tuple(found)


def covered(reading: Reading) -> tuple[Step, ...] | None:
    """The places that a reading reaches in any order: its offset, then the steps from the largest
    on; None if they are not known.
    """
    steps: list[Any] = [(step, size) for size, step in reading.steps if size != 1]
    numbers = [reading.offset, *[one for each in steps for one in each]]
    if not all(type(one) is int for one in numbers):
        return None
    found: list[Any] = []
    for step, size in sorted(steps, reverse=True):
        if found and found[-1].step == size * step:
            found[-1] = Step(found[-1].size * size, step)
        else:
            found.append(Step(size, step))
    return (Step(1, reading.offset), *found)


def reshaped(reading: Reading, sizes: Sequence[Dim], facts: Facts) -> Reading | None:
    """The same elements in the same order under other sizes; None if a step cannot be split."""
    found = _parted(reading, reading.steps, sizes, facts)
    if found is not None:
        return found
    # A size may also take a part of one dim and a part of the next.
    return _parted(reading, merged(reading.steps, facts), sizes, facts)


def _parted(
    reading: Reading, steps: Sequence[Step], sizes: Sequence[Dim], facts: Facts
) -> Reading | None:
    pending = list(reversed(steps))
    dims: list[Steps] = []
    for size in sizes:
        taken = _taken(pending, size, facts)
        if taken is None:
            return None
        dims.append(merged(taken, facts))
    return replace(reading, dims=tuple(dims)) if not pending else None


def _taken(pending: list[Step], size: Dim, facts: Facts) -> list[Step] | None:
    """The steps that a dim of a given size takes from the end of `pending`, its outermost steps."""
    taken: list[Step] = []
    while facts.known_equal(size, 1) is not True:
        if not pending:
            return None
        step = pending.pop()
        if facts.known_equal(step.size, size) is True:
            return [*taken, step]
        rest = _quotient(size, step.size, facts)
        if rest is not None:
            taken.append(step)
            size = rest
            continue
        inner = _quotient(step.size, size, facts)
        if inner is None:
            return None
        pending.append(Step(inner, step.step))
        return [*taken, Step(size, mul(inner, step.step))]
    return taken


def _quotient(size: Dim, part: Dim, facts: Facts) -> Dim | None:
    """How often a part goes into a size without remainder; None if that is not known."""
    if part == 0 or facts.divides(part, size) is not True:
        return None
    found = floordiv(size, part)
    return found if facts.known_equal(mul(found, part), size) is True else None


__all__ = [
    "Reading",
    "Step",
    "Steps",
    "covered",
    "merged",
    "put_together",
    "reading_by_type",
    "reshaped",
    "same_elements",
    "same_steps",
]
