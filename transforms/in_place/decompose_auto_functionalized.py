"""`decompose_auto_functionalized`: functionalized calls become copies and mutating calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import ListArg, RawOp
from xductor.transforms.editing.editor import Editor
from xductor.transforms.in_place.functionalized_arguments import (
    V1,
    V2,
    Carried,
    View,
    carried,
    only_cloned,
    schema_order,
)
from xductor.transforms.in_place.strided_copies import StridedCopies
from xductor.transforms.in_place.writes_back_pass import WritesBackPass
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_CALLS = frozenset((V1, V2))


@dataclass(frozen=True)
class DecomposeAutoFunctionalized(WritesBackPass):
    """`auto_functionalized` and `auto_functionalized_v2` become calls of the carried operator.

    The operator writes to copies of the arguments that `only_clone` names, or of all if there is no
    `only_clone`, and to the other arguments directly. A copy has the strides of its original; if
    the original has gaps or a storage offset, its whole storage is copied.

    Counts the calls. Calls that carry a graph, or an operator with `out=`, stay.
    """

    name = "decompose_auto_functionalized"
    inductor = "post_grad.py:decompose_auto_functionalized"
    roots = _CALLS

    def write(self, editor: Editor) -> int:
        decomposing = _Decomposing(editor)
        return sum(decomposing.decompose(op) for op in editor.analyses.named(_CALLS))


class _Decomposing:
    """The pass on one graph."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.copies = StridedCopies(editor)

    def decompose(self, op: RawOp) -> bool:
        call = carried(op)
        if call is None or not should_apply(DecomposeAutoFunctionalized.name):
            return False
        clones = only_cloned(op)
        copies: dict[Any, Any] = {}
        for key, base in call.bases.items():
            if clones is not None and key not in clones:
                copies[key] = base
                continue
            made = self._copied(base, op)
            if made is None and base is not None:
                return False
            copies[key] = made
        given = dict(call.arguments)
        for name, views in call.views.items():
            given[name] = self._regenerated(views, copies, op)
        arguments = [given[name] for name in schema_order(call.target)]
        returned = op.results[: call.returns]
        made = self.editor.call(
            call.target, arguments, above=op, types=[one.type for one in returned]
        )
        self._replace(op, call, list(made.results), copies)
        return True

    def _copied(self, base: Any, op: RawOp) -> Any:
        """Copies of a tensor, or of each tensor of a list; None if one cannot be made."""
        if isinstance(base, tuple | list):
            made = [self._copied(one, op) for one in base]
            return None if None in made else ListArg(made)
        return self.copies.copy(base, op) if isinstance(base, SSAValue) else None

    def _regenerated(self, views: Any, copies: dict[Any, Any], op: RawOp) -> Any:
        """A written argument: a view of what replaces its base, or a list of such views."""
        if isinstance(views, list):
            return ListArg([self._regenerated(one, copies, op) for one in views])
        if views is None:
            return None
        assert isinstance(views, View)
        base = copies[views.base]
        if views.name is None or not isinstance(base, SSAValue):
            return base
        arguments = [base, *views.arguments]
        return self.editor.call(views.name, arguments, above=op).results[0]

    def _replace(
        self, op: RawOp, call: Carried, made: list[SSAValue], copies: dict[Any, Any]
    ) -> None:
        """Replace the results of the call: the last ones by the copies or bases."""
        applied(op)
        values: list[Any] = [*made]
        for copy in copies.values():
            values += copy if isinstance(copy, tuple | list) else [copy]
        for result, value in zip(op.results, values, strict=True):
            if value is not None:
                result.replace_all_uses_with(value)
        self.editor.erase(op)


__all__ = ["DecomposeAutoFunctionalized"]
