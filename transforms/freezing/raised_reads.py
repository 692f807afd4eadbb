"""Reads of constants that stand above where they are needed, and can be moved back."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from xductor.ir import GetAttrOp, TorchOp
from xductor.transforms.rewriting.graph_state import GraphState


class RaisedReads:
    """Moves reads of constants that stand below an op above it.

    Ops of different places are replaced by one at the first of them, which reads the constants of
    all. Values that are no reads of constants stay where they are.
    """

    def __init__(self, values: Iterable[SSAValue], first: TorchOp, state: GraphState) -> None:
        self._analyses, order = state.analyses, state.order
        reads = dict.fromkeys(value.owner for value in values)
        below = [one for one in reads if type(one) is GetAttrOp and order.before(first, one)]
        self._back = [(one, one.next_op) for one in below]
        for one in below:
            self._analyses.move(one, first)

    def undo(self) -> None:
        for one, place in reversed(self._back):
            self._analyses.move(one, place)


__all__ = ["RaisedReads"]
