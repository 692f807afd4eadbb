"""Whether a node draws random numbers; the tag of its operator says only that it may.

All operators of fused attention have the tag, with or without dropout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xductor.ir.effects.target_effects import call_effects
from xductor.transforms.analysis.fx_targets import called_functions

if TYPE_CHECKING:
    from torch.fx import Graph, Node


def draws(node: Node) -> bool:
    """Whether a call of an operator that is tagged as random does draw, as far as is known."""
    return _is_tagged(node.target) and not only_seems_to_draw(node)


def only_seems_to_draw(node: Node) -> bool:
    """Whether a call of an operator that is tagged as random is known to draw nothing."""
    target = node.target
    if not _is_tagged(target) or not isinstance(target, torch._ops.OpOverload):
        return False
    return not call_effects(target, _arguments(target, node)).rng


def has_dead_draws_of_nothing(graph: Graph) -> bool:
    """Whether a graph has dead calls that FX may keep only because their operators are tagged."""
    tagged = [target for target in called_functions(graph) if _is_tagged(target)]
    return any(
        not node.users and only_seems_to_draw(node)
        for target in tagged
        for node in graph.find_nodes(op="call_function", target=target, sort=False)
    )


def eliminate_dead_draws_of_nothing(graph: Graph) -> None:
    """Erase dead calls that are known to draw nothing, and what is dead without them."""
    graph.eliminate_dead_code(lambda node: node.is_impure() and not only_seems_to_draw(node))


def _is_tagged(target: object) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())


def _arguments(target: torch._ops.OpOverload, node: Node) -> dict[str, Any]:
    """The arguments of a call by name, with defaults filled in."""
    parameters = target._schema.arguments
    found = {one.name: one.default_value for one in parameters if one.has_default_value()}
    found.update({one.name: arg for one, arg in zip(parameters, node.args, strict=False)})
    found.update(node.kwargs)
    return found


__all__ = [
    "draws",
    "eliminate_dead_draws_of_nothing",
    "has_dead_draws_of_nothing",
    "only_seems_to_draw",
]
