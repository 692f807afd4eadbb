"""The modes under which an op of a graph before autograd runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.ir import TorchOp
from xductor.ir.inference.ambient_modes import UnknownMode
from xductor.ir.inference.body_modes import modes_of_graph, replay
from xductor.transforms.rewriting.graph_state import GraphState


@contextmanager
def modes_at(op: TorchOp, state: GraphState) -> Iterator[None]:
    """Infer types as at `op`: under the modes of its graph and those set above it.

    After autograd there are none, and within a block under the modes of `op` they are there.
    Raises UnknownMode if one of them cannot be followed.
    """
    if not state.env.with_grad or state.entered == (region := state.region(op)):
        yield
        return
    before = state.env.modes, state.entered
    with modes_of_graph(state.graph, _callers(state)) as modes:
        for change in state.mode_ops_above(op):
            replay(modes, change)
        if modes.functorch:
            raise UnknownMode("within a functorch transform")
        state.env.modes, state.entered = modes.key(), region
        try:
            yield
        finally:
            state.env.modes, state.entered = before


def _callers(state: GraphState) -> ModuleOp | None:
    """The module, if its other graphs may call this one; else None."""
    module: Any = state.graph.parent_op()
    graphs = state.bodies.graphs
    if not isinstance(module, ModuleOp) or next(iter(graphs.values()), None) is state.graph:
        return None
    return module


__all__ = ["modes_at"]
