"""By how much one `rand` on CUDA advances PyTorch's generator: the offset of eager's kernel."""

from __future__ import annotations

import operator
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import SchemaOp, TensorType, op_class
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.rewriting.building import ReplacementBuilder

_BLOCK = 256
_UNROLL = 4
_CALLS = 4  # numbers per call of the random engine


def eager_offset(editor: Editor, op: SchemaOp, type_: TensorType) -> int | SSAValue:
    """The offset of a draw: a number, or arithmetic over its sizes that is inserted above `op`.

    Raises Unbuildable if the arithmetic cannot be typed.
    """
    sizes = op.argument("size")
    facts = facts_of(editor.graph)
    if any(facts.known_equal(size, 0) is True for size in type_.shape):
        return 0
    widest = _widest_grid(type_.device)
    if all(type(size) is int for size in sizes):
        count = 1
        for size in sizes:
            count *= size
        grid = min((count + _BLOCK - 1) // _BLOCK, widest)
        return ((count - 1) // (_BLOCK * grid * _UNROLL) + 1) * _CALLS
    builder = ReplacementBuilder(editor.env, facts, op.node, [], lambda: [], lambda _: True)

    def call(function: Any, *arguments: Any) -> Any:
        cls = op_class(function)
        assert cls is not None
        made = builder.raw_call(cls, arguments, {})
        return getattr(made, "value", made)

    offset = _symbolic_offset(call, sizes, widest)
    for made in builder.made:
        editor.insert(made, op)
    return offset


def _symbolic_offset(call: Any, sizes: Any, widest: int) -> SSAValue:
    count: Any = 1
    for size in sizes:
        count = size if count == 1 else call(operator.mul, count, size)
    blocks = call(operator.floordiv, call(operator.add, count, _BLOCK - 1), _BLOCK)
    grid = call(torch.sym_min, call(torch.sym_max, blocks, 1), widest)
    threads = call(operator.mul, grid, _BLOCK * _UNROLL)
    rounds = call(operator.floordiv, call(operator.sub, count, 1), threads)
    return call(operator.mul, call(operator.add, rounds, 1), _CALLS)


def _widest_grid(device: torch.device) -> int:
    """How many blocks the device can run at once."""
    known: Any = torch.cuda.get_device_properties(device)
    return known.multi_processor_count * (known.max_threads_per_multi_processor // _BLOCK)


__all__ = ["eager_offset"]
