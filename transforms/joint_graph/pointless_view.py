"""`pointless_view` and `pointless_view_pair`: views that end at the shape they started from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir.graph import GraphOp
from xductor.ir.operations import SchemaOp
from xductor.ir.types import TensorType
from xductor.transforms.debug_counters import should_apply
from xductor.transforms.graphs import graphs_of
from xductor.transforms.noop_registry import sizes_agree
from xductor.transforms.op_effects import Bodies
from xductor.transforms.replacement import Replacement, same_meta
from xductor.transforms.typed_pass import EXACT, Numerics, Stage, TypedPass

_VIEW = "aten.view.default"


@dataclass(frozen=True)
class PointlessView(TypedPass):
    """A view to the shape of its input is its input.

    One size may be -1. Strides must agree too: a view may choose those of size-one dims anew. An
    output does not become the very tensor that is an input or another output.
    """

    name: ClassVar[str] = "pointless_view"
    stage: ClassVar[Stage | tuple[Stage, ...]] = "joint"
    inductor: ClassVar[str] = "joint_graph.py:pointless_view"
    numerics: ClassVar[Numerics] = EXACT
    roots: ClassVar[frozenset[object]] = frozenset((_VIEW,))
    matched_nodes: ClassVar[int] = 1

    def rewrite(self, module: ModuleOp) -> int:
        bodies = Bodies(module)
        return sum(_remove_views(graph, bodies) for graph in graphs_of(module))


@dataclass(frozen=True)
class PointlessViewPair(TypedPass):
    """A view of a view, back to the shape before both, is what was viewed.

    The inner view stays if something else uses it. Conditions as for `pointless_view`.
    """

    name: ClassVar[str] = "pointless_view_pair"
    stage: ClassVar[Stage | tuple[Stage, ...]] = "joint"
    inductor: ClassVar[str] = "joint_graph.py:pointless_view_pair"
    numerics: ClassVar[Numerics] = EXACT
    roots: ClassVar[frozenset[object]] = frozenset((_VIEW,))
    matched_nodes: ClassVar[int] = 2
    counter: ClassVar[str | None] = "removed_pointless_view_pair"

    def rewrite(self, module: ModuleOp) -> int:
        bodies = Bodies(module)
        return sum(_remove_pairs(graph, bodies) for graph in graphs_of(module))


def _remove_views(graph: GraphOp, bodies: Bodies) -> int:
    removed = 0
    replacement = Replacement(graph, bodies)
    for op in graph.block.ops:
        if op.name == _VIEW and isinstance(op, SchemaOp):
            source = op.argument("self")
            if (
                _gives_back(op, source, replacement)
                and replacement.may_replace(op, source)
                and should_apply(PointlessView.name)
            ):
                replacement.replace(op, source)
                removed += 1
    return removed


def _remove_pairs(graph: GraphOp, bodies: Bodies) -> int:
    removed = 0
    replacement = Replacement(graph, bodies)
    for op in graph.block.ops:
        if op.name != _VIEW or not isinstance(op, SchemaOp):
            continue
        inner = _viewing(op.argument("self"))
        if inner is None:
            continue
        source = inner.argument("self")
        if (
            _gives_back(op, source, replacement)
            and replacement.may_be(op.results[0], source)
            and should_apply(PointlessViewPair.name)
        ):
            replacement.replace(op, source)
            if inner.results[0].first_use is None:
                graph.block.erase_op(inner)
            removed += 1
    return removed


def _viewing(value: Any) -> SchemaOp | None:
    """The view that makes a value, if one does."""
    op = value.op if isinstance(value, OpResult) else None
    return op if isinstance(op, SchemaOp) and op.name == _VIEW else None


def _gives_back(op: SchemaOp, source: SSAValue, replacement: Replacement) -> bool:
    """Whether a view's sizes are those of `source`, and its strides too."""
    type_ = source._type
    return (
        type(type_) is TensorType
        and sizes_agree(op.argument("size"), type_, replacement.facts)
        and same_meta(op.results[0]._type, type_, replacement.facts)
    )
