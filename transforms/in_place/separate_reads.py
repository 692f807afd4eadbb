"""Copies tensors that an op would otherwise read after they were overwritten.

An in-place op may read other parts of the tensor that it writes: `slice_scatter(x, x[:-2], 0, 2)`
becomes a copy between two overlapping parts of `x`. And to code generation a view of another dtype
is a separate buffer, which it may read after a later write to the tensor.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, OutputOp, SchemaOp, TensorType, TorchOp
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.storage.overlap import may_overlap, same_elements
from xductor.transforms.analysis.op_effects import never_writes, written_operands
from xductor.transforms.editing.editor import Editor
from xductor.transforms.in_place.storage_uses import StorageUses
from xductor.transforms.passes.applications import applied

_OWN_LIBRARIES = ("aten.", "prims.")


def separate_reads(editor: Editor, uses: StorageUses, facts: Facts) -> int:
    """Copy what in-place ops read although they may already have overwritten it.

    Nothing is copied if each element is read where it is written. Returns the number of copies.
    """
    writers = [
        op
        for op in list(editor.graph.block.ops)
        if isinstance(op, SchemaOp)
        and op.name.startswith(_OWN_LIBRARIES)
        and not never_writes(type(op))
    ]
    return sum(_separate(editor, op, uses, facts) for op in writers)


def _separate(editor: Editor, op: SchemaOp, uses: StorageUses, facts: Facts) -> int:
    written = list(written_operands(op, editor.analyses.bodies))
    in_step = torch.Tag.pointwise in op.target.tags or op.name == "aten.copy_.default"
    by_pairs = op.name.startswith("aten._foreach_")
    copies: dict[SSAValue, SSAValue] = {}
    for index, value in enumerate(op._operands):
        if index in written or type(value._type) is not TensorType:
            continue
        for place, number in enumerate(written):
            into = op._operands[number]
            if uses.memory.storage(into) is not uses.memory.storage(value):
                continue
            along = in_step or (by_pairs and index % len(written) == place)
            if _clashes(value._type, into._type, along, facts):
                if value not in copies:
                    applied(op)
                    copies[value] = _copy(editor, value, op)
                op.operands[index] = copies[value]
                break
    return len(copies)


def _clashes(read: Any, written: Any, in_step: bool, facts: Facts) -> bool:
    if in_step and same_elements(read, written, facts):
        return False
    return may_overlap(read, written, facts)


def _copy(editor: Editor, value: SSAValue, op: TorchOp) -> SSAValue:
    return editor.call("aten.clone.default", [value, None], above=op).results[0]


def copy_reinterpreted(editor: Editor, uses: StorageUses, names: Collection[str]) -> int:
    """Copy tensors that are read as another dtype and written later; return how many."""
    copied = 0
    for op in editor.analyses.named(names):
        value = op._operands[0]
        position = uses.position(op)
        writes = [one for one in uses.memory.storage(value).writes if one > position]
        if not writes or not _changes_width(op) or not _is_whole(value):
            continue
        readers = list(uses.readers_through(op.results[0]))
        if any(_may_wait(reader) and place <= writes[-1] for _, reader, place in readers):
            applied(op)
            op.operands[0] = _copy(editor, value, op)
            copied += 1
    return copied


def _changes_width(op: SchemaOp) -> bool:
    """Whether code generation makes the view a separate buffer, instead of converting elements."""
    before, after = op._operands[0]._type, op.results[0]._type
    if type(before) is not TensorType or type(after) is not TensorType:
        return False
    if before.dtype.is_complex or after.dtype.is_complex:
        return True
    return before.dtype.itemsize != after.dtype.itemsize


def _is_whole(value: SSAValue) -> bool:
    """Whether a clone of a value has its layout."""
    type_: Any = value._type
    return type_.offset == 0 and type_.stride == contiguous_strides(type_.shape)


def _may_wait(op: TorchOp) -> bool:
    """Whether code generation may read later than the graph does."""
    return not isinstance(op, OutputOp)


__all__ = ["copy_reinterpreted", "separate_reads"]
