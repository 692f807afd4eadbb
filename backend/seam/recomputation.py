"""What may be computed again in the regions of activation checkpoints.

AOTAutograd tells random calls by a tag of the operator, which all operators of fused attention
have, dropout or not. In a graph that it does not partition it refuses to compute those again. A
call that draws nothing gives the same when it is computed again, so it is none of them.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from xductor.backend.config import compile_state, versions
from xductor.ir.effects.target_effects import call_effects

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node


def attach() -> None:
    """Let rematerialisation in a graph that is not partitioned ask whether a call really draws."""
    module = versions.rematerialisation_module()
    if module is not None:
        _attach(module)


def _attach(module: ModuleType) -> None:
    stock = module.has_recomputable_rng_ops

    @functools.wraps(stock)
    def has_recomputable_rng_ops(gm: GraphModule) -> bool:
        if not stock(gm) or compile_state.current().settings is None:
            return stock(gm)
        return any(module.must_recompute(node) and draws(node) for node in gm.graph.nodes)

    setattr(module, "has_recomputable_rng_ops", has_recomputable_rng_ops)  # noqa: B010


def draws(node: Node) -> bool:
    """Whether a call of an operator that is tagged as random does draw, as far as is known."""
    return _is_tagged(node) and not only_seems_to_draw(node)


def only_seems_to_draw(node: Node) -> bool:
    """Whether a call of an operator that is tagged as random is known to draw nothing."""
    target = node.target
    if not _is_tagged(node) or not isinstance(target, torch._ops.OpOverload):
        return False
    return not call_effects(target, _arguments(target, node)).rng


def _is_tagged(node: Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _arguments(target: torch._ops.OpOverload, node: Node) -> dict[str, Any]:
    """The arguments of a call by name, with defaults filled in."""
    parameters = target._schema.arguments
    found = {one.name: one.default_value for one in parameters if one.has_default_value()}
    found.update({one.name: arg for one, arg in zip(parameters, node.args, strict=False)})
    found.update(node.kwargs)
    return found


__all__ = ["attach", "draws", "only_seems_to_draw"]
