"""What code generation may compute in one loop, and whether a loop reads where it writes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, GetAttrOp, OutputOp, SchemaOp, TensorType, TorchOp
from xductor.ir.dialect.types import Dim
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.in_place.realized import is_kernel
from xductor.transforms.in_place.storage_uses import StorageUses
from xductor.transforms.in_place.views import viewed
from xductor.transforms.pieces.regions import strided

_OWN_LIBRARIES = ("aten", "prims")
_NEVER_FUSED = ("aten._scaled_dot_product", "aten._flash_attention", "aten.convolution")
_LISTS = "aten._foreach_"
_PICKS = ("aten.index.Tensor", "aten._unsafe_index.Tensor")


def reads_elsewhere(
    op: SchemaOp, tensors: Sequence[SSAValue], uses: StorageUses, facts: Facts
) -> str | None:
    """Why a call on lists may not write to its first list; None if it may.

    Code generation computes each written tensor in one loop, together with the other operands as
    far as they are not in memory. Such a loop may read the element that it writes, and no other
    element of any written tensor.
    """
    count = len(tensors)
    operands = [
        (value, index % count) for index, value in enumerate(op._operands) if index >= count
    ]
    return _Reads(tensors, uses, facts).problem(operands)


def indexed_by_itself(
    op: SchemaOp, tensor: SSAValue, uses: StorageUses, facts: Facts
) -> str | None:
    """Why a call that puts values by indices may not write to a tensor; None if it may.

    Code generation computes indices that are not in memory in the loop that writes. Values it
    realizes if they read the tensor, unless they are the tensor, or all indices are drawn by
    `randperm`. Other views of it are copied behind this pass.
    """
    indices, values = op._operands[1:-1], op._operands[-1]
    reads = _Reads([tensor], uses, facts)
    if reads.is_written(values, 0):
        return "its values are the tensor that it writes"
    loop: list[tuple[SSAValue, int | None]] = [(one, None) for one in indices]
    if all(map(_may_be_drawn, indices)):
        loop += [(one, None) for one in _not_read_by(indices, values, facts)]
    return reads.problem(loop)


def _not_read_by(indices: Sequence[SSAValue], values: SSAValue, facts: Facts) -> Iterator[SSAValue]:
    """What values are computed of, elementwise, but elements that the same indices pick."""
    pending, seen = [values], {values}
    while pending:
        value = pending.pop()
        op: Any = value.owner
        if isinstance(op, SchemaOp) and gives_shape(op, values._type, facts):
            if op.name in _PICKS and tuple(op._operands[1:]) == tuple(indices):
                continue
            if is_pointwise(op):
                above = [one for one in op._operands if one not in seen]
                seen.update(above)
                pending += above
                continue
        yield value


def _may_be_drawn(value: SSAValue) -> bool:
    """Whether a value is a view of a random permutation, as far as its op says."""
    while (above := viewed(value)) is not None:
        value = above
    op = value.owner
    if not isinstance(op, SchemaOp):  # `control_deps` calls what its body says
        return isinstance(op, TorchOp) and not isinstance(op, GetAttrOp)
    return op.name.startswith("aten.randperm")


class _Reads:
    """What the loops of one call read of the tensors that they write."""

    def __init__(self, tensors: Sequence[SSAValue], uses: StorageUses, facts: Facts) -> None:
        self._tensors = tensors
        self._memory = uses.memory
        self._facts = facts
        self._written = {id(uses.memory.storage(one)) for one in tensors}

    def problem(self, operands: Iterable[tuple[SSAValue, int | None]]) -> str | None:
        """Follow operands up, each with the place in the list as long as it is read in step.

        The place is None once other elements than the written one may be read.
        """
        pending = list(operands)
        seen = set(pending)
        while pending:
            value, place = pending.pop()
            if type(value._type) is not TensorType:
                continue
            if id(self._memory.storage(value)) in self._written:
                if place is None or not self.is_written(value, place):
                    return f"its loop may read {value.name_hint or 'a tensor'} after it is written"
                continue
            above = [one for one in self._above(value, place) if one not in seen]
            seen.update(above)
            pending += above
        return None

    def is_written(self, value: SSAValue, place: int) -> bool:
        """Whether a value shows the elements of one written tensor, in the same order."""
        tensor = self._tensors[place]
        return (
            self._memory.storage(value) is self._memory.storage(tensor)
            and type(tensor._type) is TensorType
            and same_layout(value, tensor._type, self._facts)
            and same_offset(value, tensor, self._facts)
        )

    def _above(self, value: SSAValue, place: int | None) -> list[tuple[SSAValue, int | None]]:
        """The operands that the loop reads for a value, unless the value is in memory."""
        if not isinstance(value, OpResult):
            return []
        op: Any = value.op
        if is_kernel(op) or not may_be_fused(op) or _is_in_memory(op):
            return []
        in_step = place is not None and self._has_shape(value, place)
        if op.name.startswith(_LISTS):
            return [(one, place if in_step else None) for one in _of_one_result(op, value.index)]
        in_step = in_step and is_pointwise(op)
        return [(one, place if in_step else None) for one in op._operands]

    def _has_shape(self, value: SSAValue, place: int) -> bool:
        own, tensor = value._type, self._tensors[place]._type
        return (
            type(own) is TensorType
            and type(tensor) is TensorType
            and known_equal(own.shape, tensor.shape, self._facts)
        )


def _of_one_result(op: SchemaOp, index: int) -> list[SSAValue]:
    """The operands of a call on lists of which one of its results is computed."""
    count = len(op.results)
    lists = len(op._operands) // count * count
    return [one for at, one in enumerate(op._operands) if at >= lists or at % count == index]


#: Code generation may write out sums of fewer terms, which then belong to the loop of their reader.
_WRITTEN_OUT = 64


def _is_in_memory(op: SchemaOp) -> bool:
    """Whether a call reduces so many elements to each result that it has a loop of its own."""
    if torch.Tag.reduction not in op.target.tags or not op._operands:
        return False
    before, after = op._operands[0]._type, op.results[0]._type
    if type(before) is not TensorType or type(after) is not TensorType:
        return False
    return is_long(before.shape, after.shape)


def is_long(before: tuple[Dim, ...], after: tuple[Dim, ...]) -> bool:
    """Whether a reduction from a shape to another has a loop of its own; False if not known."""
    if not all(type(size) is int for size in (*before, *after)):
        return False
    return math.prod(before) >= _WRITTEN_OUT * math.prod(after)  # type: ignore[arg-type]


def may_be_fused(op: TorchOp) -> bool:
    """Whether code generation may compute a call in one loop with others."""
    if isinstance(op, OutputOp):
        return False
    if not isinstance(op, SchemaOp):
        return False
    library = op.name.partition(".")[0]
    return library in _OWN_LIBRARIES and not op.name.startswith(_NEVER_FUSED)


def is_pointwise(op: TorchOp) -> bool:
    """Whether each element of a result is computed of one element of each operand."""
    return isinstance(op, SchemaOp) and (
        torch.Tag.pointwise in op.target.tags or op.name in ("aten.copy.default",)
    )


def gives_shape(op: TorchOp, type_: Any, facts: Facts) -> bool:
    """Whether all results of a call have the shape of a type."""
    return all(
        type(result._type) is TensorType and known_equal(result._type.shape, type_.shape, facts)
        for result in op.results
    )


def same_layout(value: SSAValue, type_: TensorType, facts: Facts) -> bool:
    """Whether a value has the dtype, device, shape and strides of a type."""
    own = strided(value)
    return (
        own is not None
        and own.dtype is type_.dtype
        and own.device == type_.device
        and known_equal(own.shape, type_.shape, facts)
        and known_equal(own.stride, type_.stride, facts)
    )


def same_offset(value: SSAValue, other: SSAValue, facts: Facts) -> bool:
    """Whether two tensors start at the same place of their storages."""
    a: Any = value._type
    b: Any = other._type
    return facts.known_equal(a.offset, b.offset) is True


__all__ = [
    "gives_shape",
    "indexed_by_itself",
    "is_long",
    "is_pointwise",
    "may_be_fused",
    "reads_elsewhere",
    "same_layout",
    "same_offset",
]
