"""The partitioner: what is put right in the halves of a graph, the forward and the backward.

AOTAutograd saves for the backward what something in it reads, and finds that out in a copy of the
graph from which dead code was eliminated. With `fallback_random` a call with the tag of random
operators stays in there, though it draws nothing and the backward has no use for it: attention
whose result only the forward needs. What it reads would be saved for nothing, and the backward
would raise if that was written since.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xductor.backend.config import compile_state, versions
from xductor.backend.seam.written_inputs import keep_what_inputs_held
from xductor.backend.steps.draws import (
    eliminate_dead_draws_of_nothing,
    has_dead_draws_of_nothing,
)

if TYPE_CHECKING:
    from torch.fx import Graph, GraphModule

#: Called in our compiles with what a function of the partitioner returned, and its keywords.
Then = Callable[..., None]


def attach() -> None:
    """Remove dead calls that draw nothing from the halves of a graph, and let forwards copy the
    inputs that they save for the backward and write to.
    """
    module = versions.partitioners_module()
    if module is not None:
        _attach(module)


def _attach(module: ModuleType) -> None:
    _wrap(module, "_extract_graph_with_inputs_outputs", _drop_dead_draws)
    _wrap(module, "_extract_fwd_bwd_modules", _keep_inputs)


def _wrap(module: ModuleType, name: str, then: Then) -> None:
    """Let `then` work on what a function of a module returns."""
    stock = getattr(module, name)

    @functools.wraps(stock)
    def extract(*args: Any, **kwargs: Any) -> Any:
        found = stock(*args, **kwargs)
        if compile_state.current().settings is not None:
            then(found, **kwargs)
        return found

    setattr(module, name, extract)


def _drop_dead_draws(graph: Graph, **_: Any) -> None:
    if has_dead_draws_of_nothing(graph):
        eliminate_dead_draws_of_nothing(graph)


def _keep_inputs(
    halves: tuple[GraphModule, GraphModule], *, num_fwd_outputs: int, **_: Any
) -> None:
    keep_what_inputs_held(*halves, num_fwd_outputs)


__all__ = ["attach"]
