"""Whether the values that some ops give may be replaced by others: all contracts, in one place.

Declared rewrites, procedures, attention and the chunker ask here. A pass that lets one value stand
for another of the same content asks `editing.replacement`, which has the same rules for types and
storages and needs no inference.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Self

from xdsl.ir import SSAValue

from xductor.ir import TorchOp
from xductor.ir.inference.infer import storage_root
from xductor.transforms.editing.editor import Editor
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.permits import Permit
from xductor.transforms.rewriting.contracts import (
    Declined,
    check_aliases,
    check_effects,
    check_gradients,
    check_inner_order,
    check_order,
    check_output,
    check_region,
)
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.saved_for_backward import check_saved


class Legality:
    """The contracts in one graph, for all that is replaced in it.

    - `unchecked`: none is checked. For tests that show what a contract prevents.
    """

    def __init__(self, state: GraphState, *, unchecked: bool = False) -> None:
        self.state = state
        self.unchecked = unchecked

    @classmethod
    def of(cls, editor: Editor) -> Self:
        """The contracts in the graph of an editor, for a pass that has inserted new ops with it."""
        graph, analyses = editor.graph, editor.analyses
        return cls(GraphState(graph, analyses.bodies, editor.env, analyses))

    def allows(
        self, op: TorchOp, made: list[TorchOp], values: Sequence[Any], permits: Collection[Permit]
    ) -> bool:
        """Whether `values`, of which `made` is new and stands above `op`, may replace its results.

        Raises Violation if the pass is at fault.
        """
        try:
            self.check(Match.of(op, [op], op.results), op, made, values, permits)
        except Declined:
            return False
        return True

    def insertion_point(self, match: Match) -> TorchOp:
        """The op above which a replacement goes: after all operands, before all uses.

        Raises Declined if there is no such place.
        """
        outputs = match.outputs
        if len(outputs) == 1 or self.unchecked:
            return match.anchor
        order, inside = self.state.order, match.removable()
        users: list[Any] = [use.operation for value in outputs for use in value.uses]
        outside = [user for user in users if user not in inside]
        first: Any = min(outside, key=order.key, default=None)
        if first is not None and order.before(first, match.anchor):
            # The replacement needs all that the match reads, but something uses an output before
            # the last matched op: it may move up to that use if its operands allow.
            for _, op in match.matched_ops():
                for operand in op.operands:
                    if operand.owner not in inside and not self.state.is_above(operand, first):
                        raise Declined("an output is used before all operands are there")
            return first
        return match.anchor

    def check_recorded(self, match: Match) -> None:
        """Check that the types of a match are those that its values have there, and that the graph
        tells which values share memory.

        Raises Declined if some types are those of later: what is built from them, and what is wrong
        with it, says nothing of the rewrite. So does what is wrong with memory.
        """
        if self.unchecked:
            return
        by = self.state.exchange
        if by is not None:
            raise Declined(
                f"{by.name} gives a tensor another storage, and the graph does not tell what "
                "shares memory with it before and after"
            )
        if not self.state.resized:
            return
        for _, op in match.matched_ops():
            for value in (*op.operands, *op.results):
                by = self.state.resized.get(storage_root(value))
                if by is not None:
                    raise Declined(
                        f"{by.name} changes sizes or strides in the storage of what {op.name} "
                        "reads or makes, and the graph records those from afterwards"
                    )

    def check(
        self,
        match: Match,
        insertion: TorchOp,
        made: list[TorchOp],
        outputs: Sequence[Any],
        permits: Collection[Permit] = (),
        *,
        strides: bool = True,
    ) -> None:
        """Check that `outputs` may replace those of a match, all at once; nothing is connected yet.

        - `insertion`: the op above which `made`, the new ops, will stand.
        - `permits`: what the pass may do although others may not.
        - `strides`: whether they must stay as they are wherever they are seen; else the caller
          knows that they are not.

        Raises:
            Violation: If the replacement is wrong wherever it is made.
            Declined: If it is not allowed at this place.
        """
        state = self.state
        if not self.unchecked:
            check_region(match, made, state, permits)
            check_gradients(made, state)
        pairs: list[tuple[SSAValue, Any]] = []
        for number, (old, new) in enumerate(zip(match.outputs, outputs, strict=True)):
            if new is None and old.first_use is None:
                continue
            if not self.unchecked:
                check_output(old, new, number, state, permits, strides=strides)
            pairs.append((old, new))
        if all(old is new for old, new in pairs):
            raise Declined("the replacement is what is there already")
        if self.unchecked:
            return
        check_effects(match, made, outputs, state, permits)
        check_order(match, insertion, state)
        check_inner_order(match, made, state)
        check_saved(match, made, pairs, insertion, state)
        check_aliases(pairs, match, state)
        self.check_recorded(match)


__all__ = ["Legality"]
