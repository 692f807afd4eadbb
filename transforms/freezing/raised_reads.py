"""Reads of constants that stand above where they are needed, and can be moved back."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from xductor.ir import GetAttrOp, TorchOp
from xductor.transforms.editing.moved_ops import MovedOps
from xductor.transforms.rewriting.graph_state import GraphState


def raise_reads(values: Iterable[SSAValue], first: TorchOp, state: GraphState) -> MovedOps:
    """Move reads of constants that stand below an op above it; returns what can put them back.

    Ops of different places are replaced by one at the first of them, which reads the constants of
    all. Values that are no reads of constants stay where they are.
    """
    reads = dict.fromkeys(value.owner for value in values)
    below = [one for one in reads if type(one) is GetAttrOp and state.order.before(first, one)]
    return MovedOps(state.analyses, below, first)


__all__ = ["raise_reads"]
