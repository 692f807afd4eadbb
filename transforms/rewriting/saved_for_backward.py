"""Before autograd: what is saved for the backward must not be written after it was saved.

Autograd refuses a backward that needs a tensor which was written since ("modified by an inplace
operation"). A replacement saves other values than what it replaces: if it saves a value that the
graph writes later, a correct program would fail; if it saves less, a program that eager refuses
would pass. If a write hits anything that either side saves, the graph stays as it is, and behaves
as in eager.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import OpResult, SSAValue

from xductor.ir import TorchOp
from xductor.ir.inference.ambient_modes import UnknownMode
from xductor.ir.inference.infer import storage_root
from xductor.ir.inference.saved_for_backward import Saved, requires_grad, saved_for_backward
from xductor.transforms.analysis.op_effects import effects_of, subgraphs_of, written_operands
from xductor.transforms.before_autograd.outside_storage import is_body_without_writes, may_overlap
from xductor.transforms.before_autograd.torch_level_writes import WRITES_NOTHING
from xductor.transforms.matching.matcher import Match
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.modes import modes_at

Pairs = Sequence[tuple[SSAValue, SSAValue]]


def check_saved(
    match: Match, made: Sequence[TorchOp], pairs: Pairs, place: TorchOp, state: GraphState
) -> None:
    """Check that no value that matched or new ops save for the backward is written later.

    `pairs`: the outputs and what stands for them. `place`: the op above which `made` will stand.

    Raises Declined if one is.
    """
    if state.graph.stage.data != "pre_grad" or not (state.writes or state.written_around):
        return
    removed = match.removable()
    if not any(map(_has_backward, (*removed, *made))):
        return
    first = min((*removed, place), key=state.order.key)
    writes = [op for op in state.writes_below(first) if not _writes_nothing(op, state)]
    if writes or state.written_around:
        _Check(removed, made, pairs, place, state, writes).run()


class _Check:
    """The check of one application, in a graph that writes to something below it."""

    def __init__(
        self,
        removed: set[TorchOp],
        made: Sequence[TorchOp],
        pairs: Pairs,
        place: TorchOp,
        state: GraphState,
        writes: list[TorchOp],
    ) -> None:
        self.removed = removed
        self.made = made
        self.place = place
        self.state = state
        self.writes = writes
        self.saved: dict[TorchOp, Saved] = {}
        self.written: dict[TorchOp, set[SSAValue]] = {}
        self.stands_for: dict[SSAValue, SSAValue] = {}
        for old, new in pairs:
            root = self._root(new)
            if root.owner in made:
                self.stands_for[root] = storage_root(old)
                self.written.clear()

    def run(self) -> None:
        key = self.state.order.key
        for op in sorted(filter(_has_backward, self.removed), key=key):
            later = [one for one in self.writes if key(one) > key(op)]
            self._check(op, later, storage_root, "eager raises for that, as must what stands here")
        if not any(map(_has_backward, self.made)):
            return
        below = [
            one for one in self.writes if one not in self.removed and key(one) >= key(self.place)
        ]
        for number, op in enumerate(self.made):
            if _has_backward(op):
                later = [one for one in self.made[number + 1 :] if self._written(one)]
                why = "what stands here keeps another"
                self._check(op, [*later, *below], self._root_in_graph, why)

    def _check(
        self,
        op: TorchOp,
        writes: Sequence[TorchOp],
        root_of: Callable[[SSAValue], SSAValue],
        why: str,
    ) -> None:
        """Raise Declined if a write hits what an op saves."""
        touched = {root_of(value) for value in (*op.operands, *op.results)}
        hits = {root: write.name for root in touched for write in writes if self._hits(write, root)}
        around = {storage_root(value) for value in self.state.written_around}
        hits.update(dict.fromkeys(touched & around, "the graph around it"))
        if not hits:
            return
        saved = self._saved(op)
        kept = [op.operands[number] for number in saved.operands]
        kept += [op.results[number] for number in saved.results]
        for value in kept:
            write = hits.get(root_of(value))
            if write is not None:
                raise Declined(
                    f"{op.name} keeps a value for its backward that {write} writes to: {why}"
                )

    def _hits(self, write: TorchOp, root: SSAValue) -> bool:
        return any(
            other is root or may_overlap(other, root, self.state.graph)
            for other in self._written(write)
        )

    def _written(self, op: TorchOp) -> set[SSAValue]:
        found = self.written.get(op)
        if found is None:
            found = self.written[op] = {
                self._root_in_graph(op.operands[index])
                for index in written_operands(op, self.state.bodies)
            }
        return found

    def _root_in_graph(self, value: SSAValue) -> SSAValue:
        """The root of a value's storage, in terms of the graph as it is before the application."""
        root = self._root(value)
        return self.stands_for.get(root, root)

    def _root(self, value: SSAValue) -> SSAValue:
        """The root of a value's storage, through new ops whose schemas do not declare aliases."""
        root = storage_root(value)
        while isinstance(root, OpResult) and isinstance(op := root.op, TorchOp) and op in self.made:
            operand = self._saved(op).shares[root.index]
            if operand is None:
                return root
            root = storage_root(op.operands[operand])
        return root

    def _saved(self, op: TorchOp) -> Saved:
        found = self.saved.get(op)
        if found is None:
            found = self.saved[op] = self._observed(op)
        return found

    def _observed(self, op: TorchOp) -> Saved:
        place = self.place if op in self.made else op
        try:
            with modes_at(place, self.state):
                return saved_for_backward(op, self.state.env, self._gained(op))
        except UnknownMode:
            return Saved.everything(op)

    def _gained(self, op: TorchOp) -> frozenset[SSAValue]:
        """Operands that may have gained a gradient by a write above, which types do not show."""
        roots = {one: self._root_in_graph(one) for one in op.operands}
        place = self.place if op in self.made else op
        first, before = self.state.first_writes, self.state.order.before
        return frozenset(
            [one for one, root in roots.items() if root in first and before(first[root], place)]
        )


def _has_backward(op: TorchOp) -> bool:
    return any(requires_grad(result.type) for result in op.results)


def _writes_nothing(op: TorchOp, state: GraphState) -> bool:
    """Whether a call counts as a write only because the graph says too little about it: a call of
    a backward, or of bodies that are elsewhere and write to nothing.
    """
    if op.target in WRITES_NOTHING:
        return True
    names = subgraphs_of(op)
    if not names or not state.bodies.declared(op):
        return False
    effects = effects_of(op)
    return (
        not effects.unknown
        and not effects.writes
        and all(is_body_without_writes(name, state.graph) for name in names)
    )


__all__ = ["check_saved"]
