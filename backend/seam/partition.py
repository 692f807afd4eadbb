"""The partitioner: what is put right in the halves of a graph, the forward and the backward.

AOTAutograd saves for the backward what something in it reads, and finds that out in a copy of the
graph from which dead code was eliminated. With `fallback_random` a call with the tag of random
operators stays in there, though it draws nothing and the backward has no use for it: attention
whose result only the forward needs. What it reads would be saved for nothing, and the backward
would raise if that was written since.

Under a memory budget below one it recomputes in the backward what it likes, random draws too, and
these then give other numbers than in the forward.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xductor.backend.config import compile_state, versions
from xductor.backend.seam.written_inputs import keep_what_inputs_held
from xductor.backend.steps.draws import (
    draws,
    eliminate_dead_draws_of_nothing,
    has_dead_draws_of_nothing,
)

if TYPE_CHECKING:
    from torch.fx import Graph, GraphModule, Node

#: Called in our compiles with what a function of the partitioner returned, and its keywords.
Then = Callable[..., None]


def attach() -> None:
    """Remove dead calls that draw nothing from the halves of a graph, let forwards copy the inputs
    that they save for the backward and write to, and save what was drawn.
    """
    module = versions.partitioners_module()
    if module is not None:
        _attach(module)


def _attach(module: ModuleType) -> None:
    _wrap(module, "_extract_graph_with_inputs_outputs", _drop_dead_draws)
    _wrap(module, "_extract_fwd_bwd_modules", _keep_inputs)
    _save_draws(module)


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


def _save_draws(module: ModuleType) -> None:
    """Let a forward save what it draws, whatever its memory budget: mostly one seed for each draw.

    What the backward does not read is not saved in the end. A draw in an activation checkpoint is
    recomputed from the state of its generator.
    """
    stock = module.choose_saved_values_set

    @functools.wraps(stock)
    def choose(joint_graph: Graph, node_info: Any, memory_budget: float = 1) -> list[Node]:
        saved: list[Node] = stock(joint_graph, node_info, memory_budget)
        if memory_budget == 1 or compile_state.current().settings is None:
            return saved
        drawn = [
            value
            for node in joint_graph.nodes
            if node in node_info.required_fw_nodes
            and draws(node)
            and not module.must_recompute(node)
            for value in _tensors_of(node)
        ]
        return list(dict.fromkeys((*saved, *drawn)))

    setattr(module, "choose_saved_values_set", choose)  # noqa: B010


def _tensors_of(node: Node) -> Iterator[Node]:
    """The node itself, or the items that are taken of its several results."""
    if isinstance(node.meta.get("val"), tuple | list):
        yield from (user for user in node.users if user.target is operator.getitem)
    else:
        yield node


__all__ = ["attach"]
