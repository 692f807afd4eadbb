"""`reinplace_inplaceable_ops`: functional updates become in-place updates where that is safe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import SchemaOp, TorchOp
from xductor.transforms.analysis.functionalized_calls import is_functionalized
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.in_place import triton_calls
from xductor.transforms.in_place.functionalized_arguments import (
    V1,
    V2,
    carried,
    clone_only,
    only_cloned,
    tensors_of,
    written_parts,
)
from xductor.transforms.in_place.in_place_forms import (
    COALESCED_FORM,
    IN_PLACE_FORM,
    LIST_FORM,
    MAYBE_IN_PLACE,
    MAYBE_THEMSELVES,
    WRITTEN_OPERAND,
)
from xductor.transforms.in_place.loops import indexed_by_itself, reads_elsewhere
from xductor.transforms.in_place.may_write import MayWrite, Write, overlapping
from xductor.transforms.in_place.realized import is_realized
from xductor.transforms.in_place.separate_reads import copy_reinterpreted, separate_reads
from xductor.transforms.in_place.storage_uses import StorageUses, is_given
from xductor.transforms.in_place.view_scatters import ViewScatter, view_scatters
from xductor.transforms.in_place.views import SCATTERED
from xductor.transforms.in_place.writes_back_pass import WritesBackPass
from xductor.transforms.onednn.operators import CONVOLUTION_BINARY
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_PUTS = frozenset(("aten.index_put.default", "aten._unsafe_index_put.default"))
_LISTS = LIST_FORM | COALESCED_FORM
_REINTERPRETING = frozenset(
    {"aten.view.dtype", "aten.view_as_real.default", "aten.view_as_complex.default"}
)
_ROOTS = frozenset(
    (*IN_PLACE_FORM, *_LISTS, *SCATTERED, V1, V2, triton_calls.FUNCTIONAL, *_REINTERPRETING)
)


@dataclass(frozen=True)
class ReinplaceInplaceableOps(WritesBackPass):
    """`index_put`, view scatters, foreach ops and functionalized calls write to their arguments.

    An op may write if nothing but the epilogue reads the old content later, and if the result does
    not come to share memory with another one. For a functionalized call, `only_clone` records which
    arguments to copy before it writes. A copy back into the written input is dropped. If an
    in-place op would read a part that it has already overwritten, that part is copied first; so is
    a tensor that is read through a view of another dtype and written later.

    Counts the ops that now write, the calls that got an `only_clone`, and the copies.

    - `regenerated`: the positions of results instead of which the caller gets views of its own
      inputs.
    """

    regenerated: tuple[int, ...] = ()

    name = "reinplace_inplaceable_ops"
    inductor = "reinplace.py:reinplace_inplaceable_ops"
    roots = _ROOTS

    def own_views(self) -> tuple[int, ...]:
        return self.regenerated

    def write(self, editor: Editor) -> int:
        triton_calls.merge_picks(editor)
        return _Reinplacing(editor, self.regenerated).run()


class _Reinplacing:
    """The pass on one graph."""

    def __init__(self, editor: Editor, regenerated: tuple[int, ...]) -> None:
        self.editor = editor
        self.analyses = editor.analyses
        self.facts = facts_of(editor.graph)
        self._regenerated = frozenset(regenerated)

    @cached_property
    def uses(self) -> StorageUses:
        return StorageUses(self.editor.graph, self.analyses)

    @cached_property
    def may_write(self) -> MayWrite:
        return MayWrite(self.uses, self.facts, self._regenerated)

    def run(self) -> int:
        scatters = {one.scatters[0]: one for one in view_scatters(self.analyses)}
        names = (*IN_PLACE_FORM, *_LISTS, V1, V2, triton_calls.FUNCTIONAL)
        found = [*scatters, *self.analyses.named(names)]
        key = self.analyses.order.key
        applied = 0
        # Backwards: if several ops update an input, the result of the last one is copied back.
        for op in sorted(found, key=key, reverse=True):
            if op in scatters:
                applied += self._scatter(scatters[op])
            elif op.name in IN_PLACE_FORM:
                applied += self._in_place(op)
            elif op.name in _LISTS:
                applied += self._list_in_place(op)
            elif op.name == triton_calls.FUNCTIONAL:
                applied += self._kernel(op)
            elif is_functionalized(op):
                applied += self._functionalized(op)
        applied += separate_reads(self.editor, self.uses, self.facts)
        return applied + copy_reinterpreted(self.editor, self.uses, _REINTERPRETING)

    def _may(self, write: Write) -> bool:
        return self.may_write.refusal(write) is None and should_apply(ReinplaceInplaceableOps.name)

    def _in_place(self, op: SchemaOp) -> int:
        write = Write(op, op._operands[WRITTEN_OPERAND.get(op.name, 0)], op.results[0])
        if op.name in MAYBE_IN_PLACE and not self._is_own_sum(op, write.value):
            return 0
        if op.name in _PUTS and indexed_by_itself(op, write.value, self.uses, self.facts):
            return 0
        if not self._may(write):
            return 0
        back = self._back(write)
        arguments = list(op.argument_tree(op.args.data))
        made = self.editor.call(IN_PLACE_FORM[op.name], arguments, above=op, named=True)
        self.uses.shares(made.results[0], write.value)
        self.uses.writes(made, write.value)
        self._replace(op, made.results[0])
        self._drop(back)
        return 1

    def _is_own_sum(self, op: SchemaOp, value: SSAValue) -> bool:
        """Whether oneDNN can add to a tensor: the graph made it, and it is no other operand."""
        if op.name == CONVOLUTION_BINARY and op.argument("binary") != "add":
            return False
        if self.uses.is_outside(value):
            return False
        maker = getattr(value.owner, "name", "")
        if maker in MAYBE_THEMSELVES:
            return False
        others = [one for one in op._operands if one is not value]
        count = sum(one is value for one in op._operands)
        return count == 1 and not any(overlapping([value, one], self.uses) for one in others)

    def _list_in_place(self, op: SchemaOp) -> int:
        """Apply Inductor's rule for foreach ops: each tensor is an input with a copy back."""
        tensors = op._operands[: len(op.results)]
        if not tensors or overlapping(tensors, self.uses):
            return 0
        writes = [
            Write(op, value, result) for value, result in zip(tensors, op.results, strict=True)
        ]
        backs = [self._back(write) for write in writes]
        if any(back is None for back in backs) and op.name in LIST_FORM:
            return 0
        if not all(self.may_write.refusal(write) is None for write in writes):
            return 0
        if reads_elsewhere(op, tensors, self.uses, self.facts) is not None:
            return 0
        if not should_apply(ReinplaceInplaceableOps.name):
            return 0
        arguments = list(op.argument_tree(op.args.data))
        made = self.editor.call(_LISTS[op.name], arguments, above=op)
        # Some in-place forms return the list, others nothing.
        gives = len(made.results) == len(tensors) and op.name in COALESCED_FORM
        values: list[SSAValue] = list(made.results) if gives else list(tensors)
        for write, result in zip(writes, values, strict=True):
            if result is not write.value:
                self.uses.shares(result, write.value)
            self.uses.writes(made, write.value)
        self._replace(op, *values)
        for back in backs:
            self._drop(back)
        return 1

    def _scatter(self, scatter: ViewScatter) -> int:
        first, last = scatter.scatters[0], scatter.scatters[-1]
        write = Write(
            first,
            scatter.base,
            last.results[0],
            (scatter.steps,),
            frozenset(scatter.scatters),
        )
        if scatter.counts_from_storage and self.uses.memory.storage(scatter.base).values > 1:
            return 0  # as_strided counts from the storage, which a copy of a view does not share
        if not self._pays(scatter, write) or self.may_write.refusal(write) is not None:
            return 0
        views = self._views(scatter)
        part = views[-1].results[0]
        given: Any = scatter.source.type
        # Only the scatter itself says so where the facts do not tell that the source fits.
        fits = known_equal(part.type.shape, given.shape, self.facts)
        if not fits or not should_apply(ReinplaceInplaceableOps.name):
            for view in reversed(views):
                self.editor.erase(view)
            return 0
        back = self._back(write)
        for view in views:
            self.uses.shares(view.results[0], scatter.base)
        copied = self.editor.call("aten.copy_.default", [part, scatter.source, False], above=first)
        self.uses.shares(copied.results[0], scatter.base)
        self.uses.writes(copied, scatter.base)
        self._replace(last, scatter.base)
        for op in reversed(scatter.scatters[:-1]):
            self.uses.forget(op.results[0])
            self.editor.erase(op)
        self._drop(back)
        return 1

    def _views(self, scatter: ViewScatter) -> list[Any]:
        """Insert the views that lead from the base to the place of the source."""
        part, views = scatter.base, list[Any]()
        for op in reversed(scatter.scatters):
            arguments = [part, *op.argument_tree(op.args.data)[2:]]
            views.append(self.editor.call(SCATTERED[op.name], arguments, above=scatter.scatters[0]))
            part = views[-1].results[0]
        return views

    def _pays(self, scatter: ViewScatter, write: Write) -> bool:
        """Whether base and result are in memory anyway, so that writing in place costs nothing."""
        if scatter.always_writes:
            return True
        result = scatter.scatters[-1].results[0]
        if is_realized(scatter.base) and is_realized(result):
            return True
        return is_given(scatter.base) and self._back(write) is not None

    def _functionalized(self, op: Any) -> int:
        call = carried(op)
        if call is None or only_cloned(op) is not None:
            return 0
        clones: list[Any] = []
        results = iter(op.results[call.returns :])
        written: list[SSAValue] = []
        for key, base in call.bases.items():
            width = len(base) if isinstance(base, tuple | list) else 1
            made = [next(results) for _ in range(width)]
            tensors = tensors_of(base)
            if not tensors:
                continue
            parts = written_parts(call, key, tensors[0])
            pairs = [
                Write(op, value, result, parts) for value, result in zip(tensors, made, strict=True)
            ]
            if overlapping([*written, *tensors], self.uses) or not all(map(self._may, pairs)):
                clones.append(key)
                continue
            written += tensors
            for pair in pairs:
                self._write_argument(pair)
        applied(op)
        clone_only(op, clones)
        return 1

    def _kernel(self, op: Any) -> int:
        """Let a kernel write to the arguments whose old content nothing reads later."""
        if only_cloned(op) is not None or not triton_calls.is_plain(op):
            return 0
        arguments = triton_calls.given(op)
        clones: list[Any] = []
        written: list[SSAValue] = []
        for name in triton_calls.written(op) or ():
            base = arguments[name]
            picks: list[Any] = [*triton_calls.picked(op, name)] or [None]
            pairs = [Write(op, base, pick) for pick in picks]
            if overlapping([*written, base], self.uses) or not all(map(self._may, pairs)):
                clones.append(name)
                continue
            written.append(base)
            for pair in pairs:
                if pair.result is not None:
                    self._write_argument(pair)
            if picks == [None]:
                self.uses.writes(op, base)
        applied(op)
        clone_only(op, clones)
        return 1

    def _write_argument(self, write: Write) -> None:
        back = self._back(write)
        assert write.result is not None
        self.uses.is_now(write.result, write.value)
        self.uses.writes(write.op, write.value)
        self._drop(back)

    def _back(self, write: Write) -> TorchOp | None:
        """The copy back that becomes redundant once the op writes."""
        back = self.may_write.copy_back(write)
        return back if self.may_write.restores(write, back) else None

    def _drop(self, back: TorchOp | None) -> None:
        if back is None:
            return
        position, target = self.uses.position(back), back._operands[0]
        self.uses.memory.storage(target).writes.remove(position)
        self._replace(back, target, counted=False)

    def _replace(self, op: TorchOp, *values: SSAValue, counted: bool = True) -> None:
        for old, new in zip(op.results, values, strict=True):
            self.uses.replace(old, new)
        self.editor.replace(op, *values, counted=counted)


__all__ = ["ReinplaceInplaceableOps"]
