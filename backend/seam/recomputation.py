"""Which calls may be recomputed in the regions of activation checkpoints.

AOTAutograd recognises random calls by a tag of the operator, which all operators of fused attention
have, with or without dropout. In a graph that it does not partition it refuses to recompute those.
A call that draws nothing gives the same when it is recomputed, so it does not count as random.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING

from xductor.backend.config import compile_state, versions
from xductor.backend.steps.draws import draws

if TYPE_CHECKING:
    from torch.fx import GraphModule


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


__all__ = ["attach"]
