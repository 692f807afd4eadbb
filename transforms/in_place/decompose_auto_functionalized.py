"""`decompose_auto_functionalized`: functionalised calls as copies and calls that write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import ListArg, RawOp, TensorType
from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic.expressions import add, mul, sub
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.editing.symint_scope import SymintScope
from xductor.transforms.in_place.functionalized_arguments import (
    V1,
    V2,
    Carried,
    View,
    carried,
    only_cloned,
    schema_order,
)
from xductor.transforms.in_place.writes_back_pass import WritesBackPass
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_CALLS = frozenset((V1, V2))


@dataclass(frozen=True)
class DecomposeAutoFunctionalized(WritesBackPass):
    """Both forms of functionalised calls become the operator that they carry.

    It writes to copies of what `only_clone` names, to copies of all if nothing is said, and to the
    rest itself. A copy has the strides of what it is a copy of; of one with gaps, or that begins
    somewhere in its storage, the storage is copied.

    Counts the calls. Calls that carry a graph, or an operator with `out=`, are left.
    """

    name = "decompose_auto_functionalized"
    inductor = "post_grad.py:decompose_auto_functionalized"
    roots = _CALLS

    def write(self, editor: Editor) -> int:
        decomposing = _Decomposing(editor)
        return sum(decomposing.decompose(op) for op in editor.analyses.named(_CALLS))


class _Decomposing:
    """One graph."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.facts = facts_of(editor.graph)
        self.scope = SymintScope(editor.graph, editor.analyses.order.key)

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
        """Copies of a tensor, or of each of a list; None where one cannot be made."""
        if isinstance(base, tuple | list):
            made = [self._copied(one, op) for one in base]
            return None if None in made else ListArg(made)
        return self._clone(base, op) if isinstance(base, SSAValue) else None

    def _clone(self, value: SSAValue, op: RawOp) -> SSAValue | None:
        """A copy with the strides of a value."""
        type_ = value.type
        if type(type_) is not TensorType:
            return None
        made = self.editor.call("aten.clone.default", [value, None], above=op)
        if self._is_laid_out(made.results[0].type, type_):
            return made.results[0]
        self.editor.erase(made)
        sizes = [self._sizes(one, op) for one in (type_.shape, type_.stride, (type_.offset,))]
        length = self._sizes((_length(type_),), op)
        if length is None or any(one is None for one in sizes):
            return None
        shape, stride, offset = sizes
        assert offset is not None
        whole = self._strided(value, length, ListArg((1,)), 0, op)
        copy = self.editor.call("aten.clone.default", [whole, None], above=op).results[0]
        return self._strided(copy, shape, stride, offset[0], op)

    def _strided(
        self, value: SSAValue, shape: Any, stride: Any, offset: Any, op: RawOp
    ) -> SSAValue:
        arguments = [value, shape, stride, offset]
        return self.editor.call("aten.as_strided.default", arguments, above=op).results[0]

    def _is_laid_out(self, found: Any, wanted: TensorType) -> bool:
        return (
            known_equal(found.shape, wanted.shape, self.facts)
            and known_equal(found.stride, wanted.stride, self.facts)
            and self.facts.known_equal(found.offset, wanted.offset) is True
        )

    def _sizes(self, dims: tuple[Dim, ...], op: RawOp) -> ListArg | None:
        """Sizes as an argument; None if the graph does not have one of them there."""
        found: list[Any] = []
        for dim in dims:
            value = dim if type(dim) is int else self.scope.before(dim, op)  # type: ignore[arg-type]
            if value is None:
                return None
            found.append(value)
        return ListArg(found)

    def _regenerated(self, views: Any, copies: dict[Any, Any], op: RawOp) -> Any:
        """An argument that is written: a view of what stands for its base, or a list of views."""
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
        """Let what stands for the bases be the call's last results."""
        applied(op)
        values: list[Any] = [*made]
        for copy in copies.values():
            values += copy if isinstance(copy, tuple | list) else [copy]
        for result, value in zip(op.results, values, strict=True):
            if value is not None:
                result.replace_all_uses_with(value)
        self.editor.erase(op)


def _length(type_: TensorType) -> Dim:
    """How much of its storage a tensor reaches to, from the beginning."""
    length: Any = add(type_.offset, 1)
    for size, step in zip(type_.shape, type_.stride, strict=True):
        length = add(length, mul(sub(size, 1), step))
    return length


__all__ = ["DecomposeAutoFunctionalized"]
