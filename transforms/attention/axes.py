"""Values with an order of their axes, which lets the matcher look through permutations.

`None` in the order is a dim of size one that the value does not have.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from xdsl.ir import SSAValue

from xductor.ir.dialect.types import Dim
from xductor.transforms.attention.reading import Reader, tensor_type

Axes = tuple[int | None, ...]


@dataclass(frozen=True)
class View:
    """`value`, with its axes in the order of `axes`.

    - `found`: a value of the graph that is this very view, if one is known.
    """

    value: SSAValue
    axes: Axes
    found: SSAValue | None = None

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The sizes in the order of `axes`; 1 for a dim that the value does not have."""
        type_ = tensor_type(self.value)
        assert type_ is not None
        return tuple(1 if axis is None else type_.shape[axis] for axis in self.axes)

    def reordered(self, order: tuple[int, ...]) -> View:
        """The view whose axis `i` is axis `order[i]` of this one."""
        return View(self.value, tuple(self.axes[place] for place in order))


def seen_through(view: View, reader: Reader, dtype: torch.dtype | None = None) -> View:
    """The view of an earlier value that has the same elements.

    This looks through permutations and copies, and through casts from `dtype` to a dtype that holds
    all of its numbers. What only permutations made of the earlier value is remembered, if its axes
    are in order: it need not be made again.
    """
    while True:
        found = view.value if view.axes == identity(len(view.axes)) else view.found
        term = reader.term(view.value)
        if term is None:
            return view
        if term.kind == "copy" or (term.kind == "expand" and _has_shape_of(term.x, view.value)):
            view = View(term.x, view.axes)
        elif term.kind == "permute":
            axes = tuple([None if axis is None else term.dims[axis] for axis in view.axes])
            view = View(term.x, axes, found)
        elif term.kind == "cast" and dtype is not None and _widens(term.x, view.value, dtype):
            view = View(term.x, view.axes)
        else:
            return view


def _has_shape_of(one: SSAValue, other: SSAValue) -> bool:
    a, b = tensor_type(one), tensor_type(other)
    return a is not None and b is not None and a.shape == b.shape


def _widens(source: SSAValue, cast: SSAValue, dtype: torch.dtype) -> bool:
    before, after = tensor_type(source), tensor_type(cast)
    if before is None or after is None or before.dtype is not dtype:
        return False
    return torch.promote_types(before.dtype, after.dtype) is after.dtype


def identity(rank: int) -> tuple[int, ...]:
    return tuple(range(rank))


__all__ = ["Axes", "View", "identity", "seen_through"]
