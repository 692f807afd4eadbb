"""`pointless_convert`: a cast of a cast, without the one in the middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir.arguments import ArgsAttr, Ref
from xductor.ir.graph import GraphOp
from xductor.ir.operations import SchemaOp
from xductor.ir.types import TensorType
from xductor.transforms.debug_counters import should_apply
from xductor.transforms.graphs import graphs_of
from xductor.transforms.op_effects import Bodies
from xductor.transforms.replacement import Replacement
from xductor.transforms.typed_pass import EXACT, Numerics, Stage, TypedPass

_CONVERT = "prims.convert_element_type.default"
_FLOATS = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.float64))


@dataclass(frozen=True)
class PointlessConvert(TypedPass):
    """A cast whose only use is another cast goes away, if all three dtypes are floating.

    Under the policies ``strict`` and ``default`` only if the cast in the middle loses nothing, so
    that the result has the same bits. Under ``fast`` also if it rounds or overflows, as Inductor
    does, unless ``emulate_precision_casts`` is on. A cast in the middle that is narrower than the
    last one stays: its result is cheaper to keep.
    """

    name: ClassVar[str] = "pointless_convert"
    stage: ClassVar[Stage | tuple[Stage, ...]] = "joint"
    inductor: ClassVar[str] = "joint_graph.py:pointless_convert"
    numerics: ClassVar[Numerics] = EXACT
    roots: ClassVar[frozenset[object]] = frozenset((_CONVERT,))
    matched_nodes: ClassVar[int] = 2

    policy: Literal["strict", "default", "fast"] = "default"
    emulate_precision_casts: bool = False

    def rewrite(self, module: ModuleOp) -> int:
        bodies = Bodies(module)
        return sum(self._rewrite(graph, bodies) for graph in graphs_of(module))

    def _rewrite(self, graph: GraphOp, bodies: Bodies) -> int:
        merged = 0
        replacement = Replacement(graph, bodies)
        for op in graph.block.ops:
            if op.name != _CONVERT or not isinstance(op, SchemaOp):
                continue
            inner = _converting(op.argument("a"))
            if inner is None or not inner.results[0].has_one_use():
                continue
            source = inner.argument("a")
            if not self._admits(source, inner, op):
                continue
            memory = replacement.memory
            if memory.is_written(source, inner, op):
                continue  # the first cast read what was there before
            if not should_apply(self.name):
                continue
            made = _convert(graph, op, source)
            memory.positions[made] = memory.positions[op]
            graph.block.erase_op(op)
            graph.block.erase_op(inner)
            merged += 1
        return merged

    def _admits(self, source: SSAValue, inner: SchemaOp, outer: SchemaOp) -> bool:
        type_ = source._type
        middle, last = inner.argument("dtype"), outer.argument("dtype")
        if type(type_) is not TensorType or not {type_.dtype, middle, last} <= _FLOATS:
            return False
        if middle.itemsize < last.itemsize:
            return False
        exact = self.policy != "fast" or self.emulate_precision_casts
        return not exact or is_lossless(type_.dtype, middle)


def is_lossless(source: torch.dtype, target: torch.dtype) -> bool:
    """Whether every value of one floating dtype is a value of the other."""
    if source is target:
        return True
    a, b = torch.finfo(source), torch.finfo(target)
    return b.eps <= a.eps and b.max >= a.max and b.smallest_normal <= a.smallest_normal


def _converting(value: Any) -> SchemaOp | None:
    """The cast that makes a value, if one does."""
    op = value.op if isinstance(value, OpResult) else None
    return op if isinstance(op, SchemaOp) and op.name == _CONVERT else None


def _convert(graph: GraphOp, outer: SchemaOp, source: SSAValue) -> SchemaOp:
    """A cast of `source` in the place of `outer`, whose users it takes over."""
    made = type(outer).make(
        ArgsAttr((Ref(0), outer.argument("dtype"))),
        [source],
        outer.result_types,
        outer.node.inherited(outer.node.names, outer.node.node),
    )
    graph.block.insert_op_before(made, outer)
    outer.results[0].replace_all_uses_with(made.results[0])
    return made
