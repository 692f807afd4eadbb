"""`remove_redundant_views`: each tensor is viewed as a dtype only once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GraphOp, SchemaOp, TensorType
from xductor.transforms import EXACT, Analyses, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.editing.replacement import Replacement
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_VIEW = "aten.view.dtype"
_SAME_BYTES = frozenset(("aten.alias.default", "aten.detach.default"))


@dataclass(frozen=True)
class RemoveRedundantViews(TypedPass):
    """`view(x, dtype)` becomes an earlier view of `x` as `dtype`, or `x` if that has this dtype.

    A view of a view counts as a view of the first tensor. Sizes, strides and storage offset must be
    equal, and no output may become an input or another output. Views that end up unused are erased.
    """

    name = "remove_redundant_views"
    stage = "joint"
    inductor = "joint_graph.py:remove_redundant_views"
    numerics = EXACT
    roots = frozenset((_VIEW,))
    preserves = frozenset((MEMORY, ORDER))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(_remove_views(graph) for graph in graphs_of(module))


def _remove_views(graph: GraphOp) -> int:
    removed = 0
    replacement = Replacement(graph)
    views: dict[SSAValue, dict[torch.dtype, SSAValue]] = {}
    for op in replacement.analyses.named(_SAME_BYTES | {_VIEW}):
        if op.name in _SAME_BYTES and op._operands[0] in views:
            views[op.results[0]] = views[op._operands[0]]
        if op.name != _VIEW or not isinstance(op, SchemaOp):
            continue
        source, dtype, result = op.argument("self"), op.argument("dtype"), op.results[0]
        if type(source._type) is not TensorType:
            continue
        known = views.setdefault(source, {source._type.dtype: source})
        found = known.get(dtype)
        if (
            found is not None
            and replacement.may_replace(op, found)
            and should_apply(RemoveRedundantViews.name)
        ):
            replacement.replace(op, found)
            removed += 1
            continue
        known.setdefault(dtype, result)
        views[result] = known
    return removed + _erase_unused(replacement.analyses, views)


def _erase_unused(analyses: Analyses, views: dict[SSAValue, dict[torch.dtype, SSAValue]]) -> int:
    erased = 0
    for value in reversed(views):
        if isinstance(value, OpResult) and value.first_use is None:
            op = value.op
            if op.name == _VIEW or op.name in _SAME_BYTES:
                applied(op)
                analyses.erase(op)
                erased += 1
    return erased
