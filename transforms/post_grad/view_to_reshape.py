"""`view_to_reshape`: views that may become copies, where layouts are still to be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp, SchemaOp, op_class_by_name, result_aliases
from xductor.ir.dialect.results import AliasAttr
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_VIEW = "aten.view.default"
_RESHAPE = "aten.reshape.default"


@dataclass(frozen=True)
class ViewToReshape(TypedPass):
    """`view` becomes `reshape`, in every graph of the module.

    Inductor may give an input another layout than it had, for which the view would be an error. As
    long as layouts stay, the reshape is that view: its result shares the storage.
    """

    name = "view_to_reshape"
    stage = "post_grad"
    inductor = "post_grad.py:view_to_reshape"
    numerics = EXACT
    roots = frozenset((_VIEW,))

    def rewrite(self, module: ModuleOp) -> int:
        changed = 0
        for graph in graphs_of(module):
            for op in graph.block.ops:
                if op.name == _VIEW and isinstance(op, SchemaOp) and should_apply(self.name):
                    _reshape(graph, op)
                    changed += 1
        return changed


def _reshape(graph: GraphOp, op: SchemaOp) -> None:
    """A reshape in the place of a view, with its arguments, type and alias."""
    cls: Any = op_class_by_name(_RESHAPE)
    made = cls.make(
        op.args,
        op._operands,
        op.result_types,
        op.node.inherited(op.node.names, op.node.node),
        aliases=AliasAttr(result_aliases(op)),
    )
    applied(op, made.results[0])
    graph.block.insert_op_before(made, op)
    op.results[0].replace_all_uses_with(made.results[0])
    graph.block.erase_op(op)
