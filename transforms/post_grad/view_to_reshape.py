"""`view_to_reshape`: replaces views by reshapes while layouts are still open."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import SchemaOp, op_class_by_name, result_aliases
from xductor.ir.dialect.results import AliasAttr
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.passes.debug_counters import should_apply

_VIEW = "aten.view.default"
_RESHAPE = "aten.reshape.default"


@dataclass(frozen=True)
class ViewToReshape(TypedPass):
    """`view` becomes `reshape`, in every graph of the module.

    Inductor may choose another layout for the input, for which a view would be an error. As long as
    the layout stays, the reshape is a view, and its result shares the storage of the input.
    """

    name = "view_to_reshape"
    stage = "post_grad"
    inductor = "post_grad.py:view_to_reshape"
    numerics = EXACT
    roots = frozenset((_VIEW,))

    def rewrite(self, module: ModuleOp) -> int:
        changed = 0
        for graph in graphs_of(module):
            editor = Editor(graph)
            for op in editor.analyses.named((_VIEW,)):
                if should_apply(self.name):
                    _reshape(editor, op)
                    changed += 1
        return changed


def _reshape(editor: Editor, op: SchemaOp) -> None:
    """Replace a view by a reshape with the same arguments, type and alias."""
    made = editor.put(
        op_class_by_name(_RESHAPE),
        op.args,
        op._operands,
        op.result_types,
        op,
        named=True,
        aliases=AliasAttr(result_aliases(op)),
    )
    editor.replace(op, *made.results)
