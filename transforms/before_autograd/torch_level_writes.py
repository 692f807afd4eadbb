"""What calls of a torch-level FX graph write to, according to the tables of effects."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from xductor.ir.effects.target_effects import call_effects, target_effects
from xductor.ir.python.binding import bind, bind_method

#: A backward within the graph reads what was saved, in an order that must not change, so its
#: effects are unknown; but it writes to no tensor of the graph.
WRITES_NOTHING: frozenset[Any] = frozenset((torch.autograd.grad,))


def written_arguments(node: Node, gm: GraphModule) -> list[Node]:
    """The nodes whose tensors a call writes to, or may; `gm` holds the bodies that it may call.

    For a call with unknown effects, or whose body writes to something, these are all arguments.
    """
    if node.op == "call_module":
        return node.all_input_nodes
    if node.op not in ("call_function", "call_method") or node.target in WRITES_NOTHING:
        return []
    effects = target_effects(node.target)
    bodies = [getattr(gm, str(one.target), None) for one in node.all_input_nodes]
    if effects.unknown or any(isinstance(one, GraphModule) and may_write(one) for one in bodies):
        return node.all_input_nodes
    if not effects.writes:
        return []
    bound = _bound(node)
    if bound is None:
        return node.all_input_nodes
    writes = call_effects(node.target, bound).writes
    found: list[Node] = []
    for name, item in bound.items():
        if name in writes or "*" in writes:
            map_arg(item, found.append)
    return found


def may_write(gm: GraphModule) -> bool:
    """Whether a torch-level graph, or a body in it, has a call that may write to a tensor."""
    return any(written_arguments(node, gm) for node in gm.graph.nodes) or any(
        isinstance(child, GraphModule) and may_write(child) for child in gm.children()
    )


def _bound(node: Node) -> dict[str, Any] | None:
    """The arguments of a call by name; None if no known signature fits."""
    target: Any = node.target
    if node.op == "call_method":
        return bind_method(target, node.args, node.kwargs, _is_node)
    return bind(target, node.args, node.kwargs, _is_node)


def _is_node(item: object) -> bool:
    return isinstance(item, Node)


__all__ = ["WRITES_NOTHING", "may_write", "written_arguments"]
