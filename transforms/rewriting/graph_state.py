"""What the driver knows of a graph while it rewrites it: order, outputs, effects, regions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Iterator, KeysView
from functools import cached_property
from itertools import pairwise
from typing import Any

from xdsl.ir import Operation, OpResult, SSAValue

from xductor.ir import Facts, GraphOp, InferenceEnv, Ref, SymIntType, TorchOp
from xductor.ir.dialect.arguments import leaves
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.inference.infer import aliases_above, storage_root
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.analysis.effect_order import (
    Footprints,
    Silence,
    events,
    exchanges_storage,
    is_event,
    resizes,
)
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.analysis.op_effects import (
    Bodies,
    effects_of,
    subgraphs_of,
    written_operands,
)
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.before_autograd.enclosing_graphs import WrittenAround, written_around
from xductor.transforms.editing.aliasing import Storages, is_outside, tensor_of
from xductor.transforms.rewriting.usual_facts import Knowledge, UsualFacts

#: What gives views that autograd lets nobody write to. The pieces of `tensor_split` are slices.
_RESULTS_AMONG_OTHERS = frozenset(
    ("aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default",
     "aten.unbind.int")
)  # fmt: skip


def _is_among_others(value: SSAValue) -> bool:
    """Whether a value is a view of a result among others."""
    return any(
        isinstance(one, OpResult) and aten_name(one.op) in _RESULTS_AMONG_OTHERS
        for one in aliases_above(value)
    )


class GraphState(Storages):
    """One graph during a walk. What few graphs need is computed when it is first asked for.

    - `draws_anew`: whether random numbers need not be those that they were: several draws may
      become one, and draws may change places among themselves.
    """

    def __init__(
        self,
        graph: GraphOp,
        bodies: Bodies,
        env: InferenceEnv,
        analyses: Analyses | None = None,
        *,
        draws_anew: bool = False,
    ) -> None:
        self.graph = graph
        self.draws_anew = draws_anew
        self.bodies = bodies
        self.env = env
        self.facts: Facts = facts_of(graph)
        self.analyses = Analyses(graph) if analyses is None else analyses
        self.order = self.analyses.order
        self._silence = Silence()
        self.entered: int | None = None
        """The number of the mode region whose modes are entered (`modes_at`)."""

    @cached_property
    def usual_facts(self) -> Knowledge:
        """What is known of sizes, and where it is not, what was so while the graph was traced."""
        if not self.graph.symbols.data:
            return self.facts
        return UsualFacts(self.facts, UsualSizes(self.graph))

    @cached_property
    def inputs(self) -> set[SSAValue]:
        return set(self.graph.block.args)

    @cached_property
    def returned(self) -> set[SSAValue]:
        """The values that the graph returns."""
        return set(self.graph.output.operands)

    @cached_property
    def writes(self) -> list[TorchOp]:
        """Ops that may write to an operand; before autograd the events have them."""
        if self.graph.stage.data != "pre_grad":
            return self.analyses.find_writes()
        return [op for op in self.events if written_operands(op, self.bodies)]

    @cached_property
    def first_writes(self) -> dict[SSAValue, TorchOp]:
        """The first op that may write to each storage, by the root of the storage."""
        found: dict[SSAValue, TorchOp] = {}
        for op in self.writes:
            for index in written_operands(op, self.bodies):
                found.setdefault(storage_root(op.operands[index]), op)
        return found

    @property
    def written_roots(self) -> KeysView[SSAValue]:
        """The roots of the storages that an op may write to."""
        return self.first_writes.keys()

    def is_written(self, root: SSAValue) -> bool:
        """Whether an op may write to a storage that has this root."""
        return root in self.written_roots

    @cached_property
    def resized(self) -> dict[SSAValue, TorchOp]:
        """What gives a tensor other sizes or strides in place, by the root of its storage.

        Before autograd the graph records for such a tensor, all through it, what it is in the end.
        """
        if self.graph.stage.data != "pre_grad":
            return {}
        return {
            storage_root(op.operands[index]): op
            for op in self.writes
            if resizes(type(op))
            for index in written_operands(op, self.bodies)
        }

    @cached_property
    def exchange(self) -> TorchOp | None:
        """What gives a tensor another storage, if something does; before autograd alone.

        The graph records the storage of such a tensor from afterwards. It does not tell what shared
        memory with it before, nor what does since.
        """
        if self.graph.stage.data != "pre_grad":
            return None
        return next((op for op in self.writes if exchanges_storage(type(op))), None)

    def meets_write(self, old: SSAValue, new: SSAValue, gone: Collection[TorchOp]) -> bool:
        """Whether one of two storages is written, and not all writes to it pass on to the other.

        When is not asked: what is made for a match reads, and before autograd is saved, at places
        that are not known yet.
        """
        before, after = storage_root(old), storage_root(new)
        if self.written_roots.isdisjoint((before, after)):
            return False
        return not (
            isinstance(old, OpResult)
            and isinstance(new, OpResult)
            and not is_outside(after)
            and new.first_use is None
            and self._is_all_of(new)
            and before.owner in gone
            and self._is_all_of(old)
            and (self.graph.stage.data != "pre_grad" or self._may_be_written(old, new))
        )

    def _is_all_of(self, value: OpResult) -> bool:
        """Whether what has the storage of a value is made from it, or only used to make it."""
        return all(
            use.operation is below.owner
            for below, one in pairwise(aliases_above(value))
            for use in one.uses
        )

    def _may_be_written(self, old: OpResult, new: SSAValue) -> bool:
        """Whether before autograd what writes to `old` may write to `new`: that is no result among
        others, which autograd lets nobody write to, nor a view made under other modes.
        """
        way: list[Any] = list(aliases_above(new))
        if any(len(one.owner.results) > 1 for one in way):
            return False
        place = self.region(old.op)
        root = storage_root(old)
        return len(way) == 1 or all(
            self.region(op) == place
            for op in self.writes
            for index in written_operands(op, self.bodies)
            if storage_root(op.operands[index]) is root
        )

    def is_of_other_modes(self, old: SSAValue, new: SSAValue) -> bool:
        """Whether `new` was made under other modes than `old`.

        A tensor made in inference mode, or a view made under `no_grad`, may not be written to in
        the ways in which another view of its storage may.
        """
        tensors = [tensor_of(one) for one in (new, old)]
        if isinstance(tensors[0], OpResult) and tensors[0].op.parent is None:
            return False
        made_in, wanted = [
            self.region(one.op) if isinstance(one, OpResult) else 0 for one in tensors
        ]
        return made_in != wanted

    def autograd_problem(self, old: SSAValue, new: SSAValue, root: SSAValue) -> str:
        """Why autograd would tell two views of one storage apart; "" if it would not.

        It refuses a view that was made under `no_grad`, or is a result among others, once its
        storage was written since: `new` may neither bring such a view in nor take it away.
        """
        if not self.is_written(root):
            return ""
        if self.is_of_other_modes(old, new):
            return "it is written to, and would be a tensor made under other modes"
        if self.env.with_grad and _is_among_others(new) and not _is_among_others(old):
            return "it is written to, which autograd refuses for a result among others"
        write = self._write_since_a_view(old, new, root) if self.env.with_grad else None
        if write is not None:
            return f"{write.name} writes to it between two views that would become one"
        return ""

    def _write_since_a_view(self, old: SSAValue, new: SSAValue, root: SSAValue) -> TorchOp | None:
        """A write to a storage above `old`, and below `new` or a view through which only one of
        the two comes; None if there is none.
        """
        key = self.order.key
        before, after = [
            {tensor_of(value) for value in aliases_above(one)} - {root} for one in (old, new)
        ]
        views = (before ^ after) - {tensor_of(old)} | after & {tensor_of(new)}
        makers: list[Any] = [view.owner for view in views]
        oldest = min((op for op in makers if op.parent is not None), key=key, default=None)
        if oldest is None:
            return None
        place = key(old.owner)  # type: ignore[arg-type]
        for write in self.writes_below(oldest):
            if key(write) >= place:
                return None
            written = [write.operands[index] for index in written_operands(write, self.bodies)]
            if root in map(storage_root, written):
                return write
        return None

    @cached_property
    def _around(self) -> WrittenAround:
        return written_around()

    @property
    def written_around(self) -> frozenset[SSAValue]:
        """The inputs and outputs of a body that the graphs around it write to after it ran."""
        around = self._around
        if not any(around):
            return frozenset()
        inputs, returned = self.graph.block.args, list(leaves((self.graph.output.tree,)))
        found: set[SSAValue] = {inputs[number] for number in around.inputs if number < len(inputs)}
        for number in around.outputs:
            leaf = returned[number] if number < len(returned) else None
            if isinstance(leaf, Ref):
                found.add(self.graph.output.operands[leaf.index])
        return frozenset(found)

    @cached_property
    def _mode_ops(self) -> list[TorchOp]:
        """The ops that change autocast, grad mode and the like."""
        raw = ops_of(self.graph.block) if self.graph.stage.data != "pre_grad" else self.events
        return [op for op in raw if op.raw_arguments and effects_of(op).mode]

    def mode_ops_above(self, op: TorchOp) -> list[TorchOp]:
        """The ops above `op` that change autocast, grad mode and the like."""
        return self._mode_ops[: self.region(op)]

    def region(self, op: Operation) -> int:
        """The number of the mode region that an op is in."""
        ops = self._mode_ops
        return bisect_left(ops, self.order.key(op), key=self.order.key) if ops else 0

    def symints(self) -> list[SSAValue]:
        """The values of the graph that are integers."""
        found: list[SSAValue] = [
            argument for argument in self.graph.block.args if type(argument.type) is SymIntType
        ]
        for op in self.graph.block.ops:
            found += [result for result in op.results if type(result.type) is SymIntType]
        return found

    @cached_property
    def events(self) -> list[TorchOp]:
        """The ops whose relative order can be observed, in order."""
        known = self.bodies is self.analyses.bodies
        return self.analyses.events.copy() if known else events(self.analyses.ops, self.bodies)

    @cached_property
    def footprints(self) -> Footprints:
        """What each op touches that other ops may touch too."""
        return Footprints(self.graph, self.bodies, self.draws_anew)

    def writes_below(self, start: TorchOp) -> list[TorchOp]:
        """The ops at `start` and below that may write to an operand."""
        key = self.order.key
        return self.writes[bisect_left(self.writes, key(start), key=key) :]

    def events_within(self, first: int, last: int) -> list[TorchOp]:
        """The events from one key of the order to another, both included."""
        key = self.order.key
        start = bisect_left(self.events, first, key=key)
        return self.events[start : bisect_right(self.events, last, key=key)]

    def events_between(self, start: TorchOp, end: TorchOp) -> list[TorchOp]:
        """The events below `start` and above `end`."""
        key = self.order.key
        first = bisect_right(self.events, key(start), key=key)
        return self.events[first : bisect_left(self.events, key(end), key=key)]

    def crossed(self, op: TorchOp, start: TorchOp, end: TorchOp, but: Container[TorchOp]) -> str:
        """Why `op` may not cross the ops below `start` and above `end`; "" if it may.

        - `but`: ops that move along with it.
        """
        mark = self.footprints.of(op)
        between: Iterable[Any] = (
            self._ops_between(start, end) if mark.writes else self.events_between(start, end)
        )
        for other in between:
            if other in but:
                continue
            if reason := self.conflict(op, other):
                return reason
        return ""

    def conflict(self, op: TorchOp, other: TorchOp) -> str:
        """Why two ops may not change places; "" if they may."""
        reason = self.footprints.of(op).conflict(self.footprints.of(other))
        return "" if reason is None else f"{other.name}: {reason}"

    def _ops_between(self, start: TorchOp, end: TorchOp) -> Iterator[TorchOp]:
        op: Any = start.next_op
        while op is not None and op is not end:
            yield op
            op = op.next_op

    def is_above(self, value: SSAValue, op: TorchOp) -> bool:
        """Whether a value is defined at an op; one that is just being made counts as defined."""
        if not isinstance(value, OpResult):
            return True
        return value.op not in self.order or self.order.before(value.op, op)

    # How the graph is changed.

    def put(self, made: TorchOp, above: TorchOp) -> None:
        """Put a new op above another."""
        self.analyses.insert(made, above)
        self._adds(made)

    def take_over(self, old: SSAValue, new: SSAValue) -> None:
        """Let `new` take over the uses of `old`."""
        self._replaces(old, new)
        old.replace_all_uses_with(new)

    def erase(self, op: TorchOp) -> None:
        """Erase an op that nothing uses."""
        self._erases(op)
        self.analyses.erase(op)

    def erase_dead(self, ops: Iterable[TorchOp], may_go: Callable[[TorchOp], bool]) -> None:
        """Erase those of `ops` that nothing uses, and ops that only they used and that may go."""
        wanted = set(ops)
        pending: list[Any] = sorted(wanted, key=self.order.key, reverse=True)
        while pending:
            op = pending.pop(0)
            if op.parent is None or any(result.first_use is not None for result in op.results):
                continue
            if op not in wanted and not may_go(op):
                continue
            above = [operand.op for operand in op._operands if type(operand) is OpResult]
            self.erase(op)
            pending += [one for one in above if isinstance(one, TorchOp)]

    def _replaces(self, old: SSAValue, new: SSAValue) -> None:
        known = vars(self)
        if "footprints" in known:
            self.footprints.forget()
        if old in known.get("returned", ()):
            self.returned.discard(old)
            self.returned.add(new)
        if old in known.get("returned_tensors", ()):
            self.returned_tensors.discard(old)
            self.returned_tensors.add(tensor_of(new))
        before, after = storage_root(old), storage_root(new)
        if before is after:
            return
        roots = known.get("returned_roots", ())
        if before in roots:
            if before is old:
                roots.discard(old)
                roots.add(after)
            else:  # other outputs may have that storage by other ways
                known.pop("returned_roots")
        first = known.get("first_writes", {})
        if before in first:
            if before is old:
                writes = [one for one in (first.pop(before), first.get(after)) if one is not None]
                first[after] = min(writes, key=self.order.key)
            else:  # so may other writes
                known.pop("first_writes")

    def changed(self) -> None:
        """Forget which values the graph returns and writes, and their storage roots."""
        for name in ("returned", "returned_tensors", "returned_roots", "first_writes"):
            vars(self).pop(name, None)

    def _is_silent(self, op: TorchOp) -> bool:
        """Whether a call is certain to be no event, nor a write: most are."""
        return self._silence.of(type(op)) and not subgraphs_of(op)

    def _adds(self, op: TorchOp) -> None:
        if self._is_silent(op):
            return
        known = vars(self)
        if "writes" in known and written_operands(op, self.bodies):
            known.pop("writes")
            known.pop("first_writes", None)
        if "events" in known and is_event(op, self.bodies):
            known.pop("events")

    def _erases(self, op: TorchOp) -> None:
        if self._is_silent(op):
            return
        known = vars(self)
        for name in ("writes", "events"):
            if name in known and is_event(op, self.bodies) and op in known[name]:
                known[name].remove(op)
                known.pop("first_writes", None)


__all__ = ["GraphState"]
