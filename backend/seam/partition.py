"""Eliminates what is dead in one half of a partitioned graph, the forward or the backward.

AOTAutograd saves for the backward what something in it reads, and finds that out in a copy of the
graph from which dead code was eliminated. With `fallback_random` a call with the tag of random
operators stays in there, though it draws nothing and the backward has no use for it: attention
whose result only the forward needs. What it reads would be saved for nothing, and the backward
would raise if that was written since.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xductor.backend.config import compile_state, versions
from xductor.backend.steps.draws import (
    eliminate_dead_draws_of_nothing,
    has_dead_draws_of_nothing,
)

if TYPE_CHECKING:
    from torch.fx import Graph


def attach() -> None:
    """Remove dead calls that draw nothing from the halves of a graph."""
    module = versions.partitioners_module()
    if module is not None:
        _attach(module)


def _attach(module: ModuleType) -> None:
    name = "_extract_graph_with_inputs_outputs"
    stock = getattr(module, name)

    @functools.wraps(stock)
    def extract(*args: Any, **kwargs: Any) -> Graph:
        graph: Graph = stock(*args, **kwargs)
        if compile_state.current().settings is not None and has_dead_draws_of_nothing(graph):
            eliminate_dead_draws_of_nothing(graph)
        return graph

    setattr(module, name, extract)


__all__ = ["attach"]
