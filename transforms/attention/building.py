"""Makes the operands of a fused call out of views: permuted, expanded, in four dims.

`Torch` speaks for the stage: before autograd torch's own functions, after it ATen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir.facts import Facts
from xductor.ir.op_functions import RawFunction
from xductor.ir.types import Dim, TensorType
from xductor.transforms.attention.axes import View, identity, seen_through
from xductor.transforms.attention.reading import Reader, tensor_type
from xductor.transforms.replacement import known_equal
from xductor.transforms.rewriting.building import ReplacementBuilder
from xductor.transforms.rewriting.handles import Dim as DimHandle

_SDPA = RawFunction("pyfn.torch.nn.functional.scaled_dot_product_attention")


class Torch:
    """Calls of torch's functions and methods, made by a builder."""

    def __init__(self, builder: ReplacementBuilder, facts: Facts) -> None:
        self.builder = builder
        self.facts = facts

    def call(self, name: str, *args: Any, **kwargs: Any) -> SSAValue:
        """A call of a function or method by its name in the IR: `method.permute`."""
        made = self.builder.raw_call(RawFunction(name).op_class, args, kwargs)
        value = made.value
        assert isinstance(value, SSAValue)
        return value

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

    def add(self, x: SSAValue, other: SSAValue) -> SSAValue:
        return self.call("pyfn.torch.add", x, other)

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
        """The fused call; what is the default is left out."""
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
    """The value with its axes in the order of a view; dims it lacks have size one."""
    there = [axis for axis in view.axes if axis is not None]
    type_ = tensor_type(view.value)
    assert type_ is not None and sorted(there) == list(range(type_.rank))
    made = make.permute(view.value, there)
    for place, axis in enumerate(view.axes):
        if axis is None:
            made = make.unsqueeze(made, place)
    return made


def with_batch(view: View, batch: Sequence[Dim], reader: Reader, make: Torch) -> SSAValue:
    """A view `[batch..., length, size]` as a value with the batch dims `batch`.

    Where a reshape made it from a value that has those dims already, that one is taken.
    """
    view = seen_through(view, reader)
    tail = view.shape[-2:]
    wanted = (*batch, *tail)
    term = reader.term(view.value)
    if term is not None and term.kind == "reshape" and len(view.shape) != len(wanted):
        source = _before_reshape(view, wanted, reader, make.facts)
        if source is not None:
            return in_order(seen_through(source, reader), make)
    made = in_order(view, make)
    if len(view.shape) == len(wanted):
        return make.expand(made, wanted)
    return make.reshape(made, wanted)


def _before_reshape(
    view: View, wanted: tuple[Dim, ...], reader: Reader, facts: Facts
) -> View | None:
    """What a reshape was made from, if it has the wanted batch dims, and the same last two dims
    in the order that the view has them in.
    """
    if None in view.axes or view.axes[:-2] != identity(len(view.axes) - 2):
        return None
    source = reader.term(view.value)
    assert source is not None
    below = tensor_type(source.x)
    if below is None or below.rank != len(wanted):
        return None
    rank = len(view.axes)
    swapped = view.axes[-2:] == (rank - 1, rank - 2)
    tail = (wanted[-1], wanted[-2]) if swapped else wanted[-2:]
    if not known_equal(below.shape, (*wanted[:-2], *tail), facts):
        return None
    last = (below.rank - 1, below.rank - 2) if swapped else (below.rank - 2, below.rank - 1)
    return View(source.x, (*range(below.rank - 2), *last))


def four_dims(batch: Sequence[Dim]) -> tuple[int, tuple[Dim, ...]]:
    """How many dims to add in front of batch dims to have two of them, and those dims."""
    missing = max(0, 2 - len(batch))
    return missing, ((1,) * missing + tuple(batch))


def shape_of(value: SSAValue) -> tuple[Dim, ...]:
    type_: Any = value.type
    assert type(type_) is TensorType
    return type_.shape


__all__ = ["Torch", "four_dims", "in_order", "shape_of", "with_batch"]
