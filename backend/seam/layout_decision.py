"""Makes Inductor choose a layout for convolutions by as many nodes as its own stages would leave.

`GraphLowering.decide_layout_opt` leaves the layout alone in graphs that have 300 nodes or more for
each convolution. Attention that we fused has fewer nodes than what it replaced, so a graph could
fall below that: what such a call notes (`stock_node_counts`) is added to the count.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import torch
from torch.fx import GraphModule, Node

from xductor.backend.config import compile_state
from xductor.backend.steps.stock_node_counts import NOTE

_FUSED = "aten::_scaled_dot_product"


def attach(compile_fx: Any) -> None:
    """Let the decision see the notes, in compiles of ours."""
    lowering = compile_fx.GraphLowering
    stock = lowering.decide_layout_opt

    @functools.wraps(stock)
    def decide_layout_opt(gm: GraphModule, *args: Any, **kwargs: Any) -> bool:
        if compile_state.current().settings is None:
            return stock(gm, *args, **kwargs)
        return stock(_as_counted(gm, missing_nodes(gm)), *args, **kwargs)

    lowering.decide_layout_opt = staticmethod(decide_layout_opt)


def missing_nodes(gm: GraphModule) -> int:
    """How many more nodes the graph would have with Inductor's own stages; negative for fewer."""
    return sum(_missing(node) for node in gm.graph.nodes)


def notes(gm: Any) -> tuple[tuple[int, int], ...]:
    """The notes on the calls of a graph and its bodies, in order: a part of the caches' keys."""
    if not isinstance(gm, torch.nn.Module):
        return ()
    graphs = [module.graph for module in gm.modules() if isinstance(module, GraphModule)]
    found = [_note(node) for graph in graphs for node in graph.nodes]
    return tuple(note for note in found if note is not None)


def _note(node: Node) -> tuple[int, int] | None:
    custom = node.meta.get("custom")
    return custom.get(NOTE) if isinstance(custom, dict) else None


def _missing(node: Node) -> int:
    note = _note(node)
    if note is None:
        return 0
    forward, backward = note
    # Calls that are recomputed, or that keep the state of a generator, carry the operator.
    for target in (node.target, *node.args):
        name = target._schema.name if isinstance(target, torch._ops.OpOverload) else ""
        if name.startswith(_FUSED):
            return backward if name.endswith("_backward") else forward
    return 0


def _as_counted(gm: GraphModule, missing: int) -> Any:
    """A graph for the decision to look at: the same convolutions among more or fewer nodes."""
    if not missing:
        return gm
    nodes = list(gm.graph.nodes)
    if missing > 0:
        counted = [*nodes, *[nodes[-1]] * missing]  # the output, which is no convolution
    else:
        others = [node for node in nodes if node.op != "call_function" or _note(node) is not None]
        left_out = set(others[:-missing])
        counted = [node for node in nodes if node not in left_out]
    return SimpleNamespace(graph=SimpleNamespace(nodes=counted))


__all__ = ["attach", "missing_nodes", "notes"]
