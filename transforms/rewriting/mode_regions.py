"""The modes at an op before autograd: the graph's ambient ones, and those that ops above it set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xductor.ir.ambient_modes import UnknownMode, graph_modes
from xductor.ir.operations import TorchOp
from xductor.ir.python_calls import CallArguments
from xductor.transforms.rewriting.graph_state import GraphState


@contextmanager
def modes_at(op: TorchOp, state: GraphState, *, ambient: bool = False) -> Iterator[None]:
    """Infer types as they are at an op: under the modes that the ops above it have set.

    Where there are none, the modes of the process stay, which in a compile are those of the graph;
    with `ambient` those of the graph are entered all the same, and `env.modes` names them.

    Raises UnknownMode: one of those cannot be followed.
    """
    changes = state.mode_ops_above(op) if state.env.with_grad else []
    if not changes and not ambient:
        yield
        return
    before = state.env.modes
    with graph_modes(state.graph.ambient.data) as modes:
        for change in changes:
            args, kwargs = _constants(change)
            modes.apply(change, args, kwargs)
        if modes.functorch:
            raise UnknownMode("within a functorch transform")
        state.env.modes = modes.key()
        try:
            yield
        finally:
            state.env.modes = before


def _constants(op: TorchOp) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call that changes modes; None for those that are values."""
    calls = CallArguments(lambda _: None, lambda _: None)
    return calls.of(type(op), op.args.data, [None] * len(op.operands))


__all__ = ["modes_at"]
