"""`replace_random`, `replace_randint`: random tensors from seeds of the compiler's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from xdsl.ir import Attribute, SSAValue

from xductor.ir import ArgsAttr, GraphOp, Ref, SchemaOp, TensorType, op_class_by_name
from xductor.transforms import EXACT
from xductor.transforms.passes.applications import applied
from xductor.transforms.random.eager_offsets import eager_offset
from xductor.transforms.random.random_draws import (
    ATEN_DRAWS,
    OFFSET,
    RANDINT,
    RANDOM,
    SEED,
    RedrawingPass,
    ops_of,
)

_CONVERT = "prims.convert_element_type.default"
_FLOATS = frozenset(name for name, kind in ATEN_DRAWS.items() if kind != "randint")
_INTEGERS = frozenset(ATEN_DRAWS) - _FLOATS
# What Inductor generates code for.
_DTYPES = frozenset(
    (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool, torch.uint8,
     torch.int8, torch.int16, torch.int32, torch.int64)
)  # fmt: skip


@dataclass(frozen=True)
class ReplaceRandom(RedrawingPass):
    """`rand` and `randn` become a seed and the prim that makes numbers of it in a fused kernel.

    The prim gives float32; what was drawn in another dtype is converted. Draws from a generator
    that the user passed, of pinned memory, or of dtypes that code generation leaves to eager
    (complex ones) stay.

    `align_random_eager`: `rand` on CUDA takes seed and offset from PyTorch's generator, and moves
    it on, so that its numbers are those of eager.
    """

    name = "replace_random"
    stage = "joint"
    inductor = "replace_random.py:replace_random"
    numerics = EXACT
    roots = _FLOATS
    matched_nodes = 1

    align_random_eager: bool = False

    def redraw(self, graph: GraphOp) -> int:
        replaced = 0
        for op in ops_of(graph, _FLOATS.__contains__):
            type_ = _drawn_type(op)
            if type_ is None:
                continue
            kind = ATEN_DRAWS[op.name]
            size, operands = op.args.data[op.table.index["size"]], list(op._operands)
            aligned = self.align_random_eager and kind == "rand" and type_.device.type == "cuda"
            if aligned:
                align: Any = op.argument("dtype")
                seed = _seed(graph, op, OFFSET, [2], eager_offset(graph, op, type_))
            else:
                align = None
                seed = _seed(graph, op, SEED, [])
            args = ArgsAttr((size, Ref(len(operands)), kind, align)[: _prim_arguments()])
            _replace(graph, op, RANDOM, args, [*operands, seed], torch.float32)
            replaced += 1
        return replaced


@dataclass(frozen=True)
class ReplaceRandint(RedrawingPass):
    """`randint` becomes a seed and the prim that makes integers of it in a fused kernel.

    The prim gives int64; what was drawn in another dtype is converted.
    """

    name = "replace_randint"
    stage = "joint"
    inductor = "replace_random.py:replace_randint"
    numerics = EXACT
    roots = _INTEGERS
    matched_nodes = 1

    def redraw(self, graph: GraphOp) -> int:
        replaced = 0
        for op in ops_of(graph, _INTEGERS.__contains__):
            if _drawn_type(op) is None:
                continue
            seed, operands = _seed(graph, op, SEED, []), list(op._operands)
            bounds_and_size = op.args.data[: op.table.index["size"] + 1]
            args = ArgsAttr((*bounds_and_size, Ref(len(operands))))
            _replace(graph, op, RANDINT, args, [*operands, seed], torch.int64)
            replaced += 1
        return replaced


@cache
def _prim_arguments() -> int:
    """How many arguments the prim takes: before torch 2.13 it draws nothing as eager does."""
    return len(op_class_by_name(RANDOM).table.index)


def _drawn_type(op: SchemaOp) -> TensorType | None:
    """The type of what is drawn; None if it stays with PyTorch's generator."""
    arguments = op.table.index
    if "generator" in arguments and op.argument("generator") is not None:
        return None
    if op.argument("pin_memory"):
        return None
    type_ = op.results[0]._type
    if type(type_) is not TensorType or type_.data.layout != "strided" or type_.data.subclass:
        return None
    return type_ if type_.dtype in _DTYPES and type_.device.type != "meta" else None


def _seed(
    graph: GraphOp, op: SchemaOp, name: str, shape: Sequence[int], offset: Any = None
) -> SSAValue:
    """A fresh seed for a draw, above it. Inductor tells devices apart as the call spells them."""
    type_ = op.results[0]._type
    assert type(type_) is TensorType
    device = op.argument("device") or type_.device
    operands: list[SSAValue] = [offset] if isinstance(offset, SSAValue) else []
    given: Any = Ref(0) if operands else offset
    args = ArgsAttr((device,) if name == SEED else (given, device))
    made_type = TensorType.get(torch.int64, tuple(shape), device=type_.device)
    return _insert(graph, op, name, args, operands, made_type).results[0]


def _replace(
    graph: GraphOp,
    op: SchemaOp,
    name: str,
    args: ArgsAttr,
    operands: list[SSAValue],
    dtype: torch.dtype,
) -> None:
    """Put a prim that draws in `dtype` in the place of a draw, and a cast to what that gave."""
    old = op.results[0]
    type_ = old._type
    assert type(type_) is TensorType
    drawn_type = TensorType(type_.data._replace(dtype=dtype))
    whole = type_.dtype is dtype
    value = _insert(graph, op, name, args, operands, drawn_type, named=whole).results[0]
    if not whole:
        cast = ArgsAttr((Ref(0), type_.dtype))
        value = _insert(graph, op, _CONVERT, cast, [value], type_, named=True).results[0]
    applied(op, value)
    old.replace_all_uses_with(value)
    graph.block.erase_op(op)


def _insert(
    graph: GraphOp,
    op: SchemaOp,
    name: str,
    args: ArgsAttr,
    operands: Sequence[SSAValue],
    type_: Attribute,
    *,
    named: bool = False,
) -> SchemaOp:
    """A new op above `op`, of its place in the program; `named` takes its name too."""
    cls: Any = op_class_by_name(name)
    node = op.node.inherited(op.node.names, op.node.node) if named else op.node.inherited(("",))
    made = cls.make(args, operands, [type_], node)
    graph.block.insert_op_before(made, op)
    return made


__all__ = ["ReplaceRandint", "ReplaceRandom"]
