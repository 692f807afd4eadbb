"""Makes the operands of a fused call from views: permuted, expanded, in four dims.

`Torch` makes calls of torch's own functions and methods, as they are recorded before autograd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, TensorType, TorchOp
from xductor.ir.dialect.types import Dim
from xductor.ir.functions.op_functions import RawFunction
from xductor.ir.symbolic import expressions
from xductor.transforms.attention.axes import View, identity, seen_through
from xductor.transforms.attention.parts import Place
from xductor.transforms.attention.reading import Reader, tensor_type
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.rewriting.building import ReplacementBuilder
from xductor.transforms.rewriting.handles import Dim as DimHandle

_SDPA = RawFunction("pyfn.torch.nn.functional.scaled_dot_product_attention")


class Torch:
    """Calls of torch's functions and methods, made by a builder."""

    def __init__(self, builder: ReplacementBuilder, facts: Facts) -> None:
        self.builder = builder
        self.facts = facts

    def call(self, name: str, *args: Any, **kwargs: Any) -> SSAValue:
        """A call of a function or method, by its name in the IR: `method.permute`."""
        made = self.builder.raw_call(RawFunction(name).op_class, args, kwargs)
        value = made.value
        assert isinstance(value, SSAValue)
        return value

    def forget(self, *values: SSAValue) -> None:
        """Erase values that were made but are not used, and what was made only for them."""
        pending = list(values)
        while pending:
            owner = pending.pop().owner
            if owner not in self.builder.made or not isinstance(owner, TorchOp):
                continue
            if any(result.first_use is not None for result in owner.results):
                continue
            pending += owner.operands
            self.builder.erase(owner)

    def permute(self, x: SSAValue, order: Sequence[int]) -> SSAValue:
        if tuple(order) == identity(len(order)):
            return x
        moved = [i for i, axis in enumerate(order) if axis != i]
        if len(moved) == 2:
            return self.call("method.transpose", x, *moved)
        return self.call("method.permute", x, tuple(order))

    def unsqueeze(self, x: SSAValue, dim: int) -> SSAValue:
        return self.call("method.unsqueeze", x, dim)

    def expand(self, x: SSAValue, shape: Sequence[Dim]) -> SSAValue:
        type_ = tensor_type(x)
        assert type_ is not None
        if known_equal(type_.shape, tuple(shape), self.facts):
            return x
        return self.call("method.expand", x, self._sizes(shape))

    def reshape(self, x: SSAValue, shape: Sequence[Dim]) -> SSAValue:
        type_ = tensor_type(x)
        assert type_ is not None
        if known_equal(type_.shape, tuple(shape), self.facts):
            return x
        return self.call("method.reshape", x, self._sizes(shape))

    def cast(self, x: SSAValue, dtype: torch.dtype) -> SSAValue:
        type_ = tensor_type(x)
        assert type_ is not None
        return x if type_.dtype is dtype else self.call("method.to", x, dtype)

    def mul(self, x: SSAValue, other: Any) -> SSAValue:
        return self.call("pyfn.torch.mul", x, other)

    def div(self, x: SSAValue, other: Any) -> SSAValue:
        return self.call("pyfn.torch.div", x, other)

    def add(self, x: SSAValue, other: SSAValue) -> SSAValue:
        return self.call("pyfn.torch.add", x, other)

    def sub(self, x: SSAValue, other: SSAValue) -> SSAValue:
        return self.call("pyfn.torch.sub", x, other)

    def detach(self, x: SSAValue) -> SSAValue:
        return self.call("method.detach", x)

    def logical_not(self, x: SSAValue) -> SSAValue:
        return self.call("pyfn.torch.logical_not", x)

    def logical_and(self, x: SSAValue, other: SSAValue) -> SSAValue:
        return self.call("pyfn.torch.logical_and", x, other)

    def logical_or(self, x: SSAValue, other: SSAValue) -> SSAValue:
        return self.call("pyfn.torch.logical_or", x, other)

    def where(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.call("pyfn.torch.where", condition, yes, no)

    def above(self, x: SSAValue, bound: float) -> SSAValue:
        return self.call("pyfn.torch.gt", x, bound)

    def any(self, x: SSAValue) -> SSAValue:
        """`any` over the last dim, which is kept."""
        return self.call("pyfn.torch.any", x, -1, keepdim=True)

    def amax(self, x: SSAValue) -> SSAValue:
        """The maximum over the last dim, which is kept."""
        return self.call("pyfn.torch.amax", x, -1, keepdim=True)

    def sum_of_rows(self, x: SSAValue) -> SSAValue:
        """The sum over the second-to-last dim, which is kept."""
        return self.call("pyfn.torch.sum", x, -2, keepdim=True)

    def clamp_below(self, x: SSAValue, bound: float) -> SSAValue:
        return self.call("pyfn.torch.clamp", x, min=bound)

    def full(self, value: float, dtype: torch.dtype, like: SSAValue) -> SSAValue:
        """A 0-dim tensor that holds a number, on the device of `like`."""
        type_ = tensor_type(like)
        assert type_ is not None
        return self.call("pyfn.torch.full", (), value, dtype=dtype, device=type_.device)

    def contiguous(self, x: SSAValue) -> SSAValue:
        return self.call("method.contiguous", x)

    def attention(
        self,
        query: SSAValue,
        key: SSAValue,
        value: SSAValue,
        *,
        mask: SSAValue | None,
        dropout: float,
        causal: bool,
        scale: float,
        grouped: bool,
    ) -> SSAValue:
        """The fused call, without arguments that have their default values."""
        named: dict[str, Any] = {}
        if mask is not None:
            named["attn_mask"] = mask
        if dropout:
            named["dropout_p"] = dropout
        if causal:
            named["is_causal"] = True
        named["scale"] = scale
        if grouped:
            named["enable_gqa"] = True
        return self.call(_SDPA.name, query, key, value, **named)

    def _sizes(self, shape: Sequence[Dim]) -> tuple[Any, ...]:
        return tuple(size if type(size) is int else DimHandle(size, self.facts) for size in shape)


def in_order(view: View, make: Torch) -> SSAValue:
    """The value with its axes in the order of a view; missing dims have size one."""
    if view.found is not None:
        return view.found
    there = [axis for axis in view.axes if axis is not None]
    type_ = tensor_type(view.value)
    assert type_ is not None
    assert sorted(there) == list(range(type_.rank))
    made = make.permute(view.value, there)
    for place, axis in enumerate(view.axes):
        if axis is None:
            made = make.unsqueeze(made, place)
    return made


def with_batch(
    view: View,
    own: Sequence[Dim],
    batch: Sequence[Dim],
    dtype: torch.dtype,
    reader: Reader,
    make: Torch,
) -> SSAValue:
    """A view `[own..., length, size]` as a value with the batch dims `batch`, of a dtype.

    If a reshape made it from a value that already has those dims, or a cast from a value that
    already has that dtype, the earlier value is used.
    """
    view = seen_through(view, reader, dtype)
    wanted = (*batch, *view.shape[-2:])
    if not known_equal(tuple(own), tuple(batch), make.facts):
        source = _before_reshape(view, wanted, reader, make.facts)
        if source is not None:
            view = seen_through(source, reader, dtype)
            return side_by_side(make.cast(in_order(view, make), dtype), make)
    made = make.expand(in_order(view, make), (*own, *view.shape[-2:]))
    return side_by_side(make.cast(make.reshape(made, wanted), dtype), make)


def side_by_side(value: SSAValue, make: Torch) -> SSAValue:
    """The value with a stride of one in its last dim, which kernels require."""
    type_ = tensor_type(value)
    assert type_ is not None
    return value if type_.stride[-1] == 1 else make.contiguous(value)


def _before_reshape(
    view: View, wanted: tuple[Dim, ...], reader: Reader, facts: Facts
) -> View | None:
    """The operand of the reshape that made a view, if it fits.

    It fits if it has the wanted batch dims, and the last two dims of the view in the same order.
    """
    term = reader.term(view.value)
    rank = len(view.axes)
    if term is None or term.kind != "reshape" or view.axes[:-2] != identity(rank - 2):
        return None
    below = tensor_type(term.x)
    if below is None or below.rank != len(wanted) or None in view.axes:
        return None
    swapped = view.axes[-2:] == (rank - 1, rank - 2)
    tail = (wanted[-1], wanted[-2]) if swapped else wanted[-2:]
    if not known_equal(below.shape, (*wanted[:-2], *tail), facts):
        return None
    last = (below.rank - 1, below.rank - 2) if swapped else (below.rank - 2, below.rank - 1)
    return View(term.x, (*range(below.rank - 2), *last))


def regrouped(value: SSAValue, place: Place, batch: Sequence[Dim], make: Torch) -> SSAValue:
    """A tensor that broadcasts to the scores at a place, made to broadcast to other batch dims.

    The result broadcasts to `[batch..., rows, columns]`. Dims of size one are kept if the batch
    dims allow it.
    """
    type_ = tensor_type(value)
    assert type_ is not None
    missing = len(place.axes) - type_.rank
    view = View(value, tuple(None if axis < missing else axis - missing for axis in place.axes))
    sizes = view.shape
    if all(size == 1 for size in sizes[:-2]):
        shared = (None,) * len(batch)
        there = [axis for axis in view.axes[:-2] if axis is not None]
        if not there:
            return in_order(View(value, (*shared, *view.axes[-2:])), make)
        return make.reshape(in_order(view, make), (*(1 for _ in batch), *sizes[-2:]))
    made = in_order(view, make)
    if known_equal(place.batch, tuple(batch), make.facts):
        return made
    made = make.expand(made, (*place.batch, *sizes[-2:]))
    return make.reshape(made, (*batch, *sizes[-2:]))


def two_dims(batch: Sequence[Dim]) -> tuple[Dim, ...]:
    """The batch dims as exactly two: missing ones have size one, extra ones are merged."""
    if len(batch) <= 2:
        return (*((1,) * (2 - len(batch))), *batch)
    first: Dim = batch[0]
    for size in batch[1:-1]:
        first = expressions.mul(first, size)
    return (first, batch[-1])


def shape_of(value: SSAValue) -> tuple[Dim, ...]:
    type_: Any = value.type
    assert type(type_) is TensorType
    return type_.shape


__all__ = ["Torch", "in_order", "regrouped", "shape_of", "side_by_side", "two_dims", "with_batch"]
