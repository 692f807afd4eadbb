"""`pointless_permute_pair`: two permutes that undo each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from xductor.ir.graph import GraphOp
from xductor.ir.operations import SchemaOp
from xductor.transforms.debug_counters import should_apply
from xductor.transforms.graphs import graphs_of
from xductor.transforms.op_effects import Bodies
from xductor.transforms.replacement import Replacement, same_meta
from xductor.transforms.typed_pass import EXACT, Numerics, Stage, TypedPass

_PERMUTE = "aten.permute.default"


@dataclass(frozen=True)
class PointlessPermutePair(TypedPass):
    """A permute of a permute that puts every dim back is what was permuted.

    Dims may count from the end. The inner permute stays if something else uses it. An output does
    not become the very tensor that is an input or another output.
    """

    name: ClassVar[str] = "pointless_permute_pair"
    stage: ClassVar[Stage | tuple[Stage, ...]] = "joint"
    inductor: ClassVar[str] = "joint_graph.py:pointless_permute_pair"
    numerics: ClassVar[Numerics] = EXACT
    roots: ClassVar[frozenset[object]] = frozenset((_PERMUTE,))
    matched_nodes: ClassVar[int] = 2

    def rewrite(self, module: ModuleOp) -> int:
        bodies = Bodies(module)
        return sum(_remove_pairs(graph, bodies) for graph in graphs_of(module))


def _remove_pairs(graph: GraphOp, bodies: Bodies) -> int:
    removed = 0
    replacement = Replacement(graph, bodies)
    for op in graph.block.ops:
        if op.name != _PERMUTE or not isinstance(op, SchemaOp):
            continue
        inner = _permuting(op.argument("self"))
        if inner is None or not _undo(inner, op):
            continue
        source, result = inner.argument("self"), op.results[0]
        if (
            same_meta(result._type, source._type, replacement.facts)
            and replacement.may_be(result, source)
            and should_apply(PointlessPermutePair.name)
        ):
            replacement.replace(op, source)
            if inner.results[0].first_use is None:
                graph.block.erase_op(inner)
            removed += 1
    return removed


def _permuting(value: Any) -> SchemaOp | None:
    """The permute that makes a value, if one does."""
    op = value.op if isinstance(value, OpResult) else None
    return op if isinstance(op, SchemaOp) and op.name == _PERMUTE else None


def _undo(inner: SchemaOp, outer: SchemaOp) -> bool:
    first, second = _dims(inner), _dims(outer)
    if first is None or second is None or len(first) != len(second):
        return False
    return [first[dim] for dim in second] == list(range(len(first)))


def _dims(op: SchemaOp) -> list[int] | None:
    """The dims of a permute, counted from the front; None if they are no permutation."""
    dims = op.argument("dims")
    if not isinstance(dims, tuple) or not all(type(dim) is int for dim in dims):
        return None
    rank = len(dims)
    found = [dim + rank if dim < 0 else dim for dim in dims]
    return found if sorted(found) == list(range(rank)) else None
