"""The graphs that freezing works on, as a compile hands them over, and what it makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
import torch._inductor.freezing as freezing
from torch._inductor import config

from tests.corpus.capture import graph_copy, passes_only
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.seam import dispatch

Freeze = Callable[[Any, Any], object]


def on_frozen_graph(
    model: Callable[..., Any], *inputs: Any, call: Callable[[Freeze, Any, Any], None], **flags: Any
) -> None:
    """Compile a model with Inductor and freezing on, and call back inside the compile.

    `call` gets Inductor's own function, the graph and its inputs.
    """
    dispatch.attach()
    dispatching: Any = freezing.freezing_passes
    stock = dispatching.__wrapped__

    def freeze(gm: Any, example_inputs: Any) -> None:
        call(stock, gm, example_inputs)
        stock(gm, example_inputs)

    torch._dynamo.reset()
    freezing.freezing_passes = freeze
    try:
        with torch.no_grad(), config.patch(freezing=True, **flags), passes_only():
            torch.compile(model)(*inputs)
    finally:
        freezing.freezing_passes = dispatching


def both(model: Callable[..., Any], *inputs: Any, **flags: Any) -> tuple[Any, Any]:
    """What Inductor's freezing makes of a model's graph, and what ours does."""
    found: list[Any] = []

    def call(stock: Freeze, gm: Any, example_inputs: Any) -> None:
        theirs, ours = graph_copy(gm), graph_copy(gm)
        stock(theirs, example_inputs)
        with settings.use(settings.current().replace(on_error="raise", verify="types")):
            stages.freezing_passes(ours, example_inputs)
        found.extend((theirs, ours))

    on_frozen_graph(model, *inputs, call=call, **flags)
    return found[0], found[1]


def calls(gm: Any) -> Counter[str]:
    """How often a graph calls what."""
    return Counter(
        str(node.target) if node.op == "call_function" else node.op for node in gm.graph.nodes
    )


__all__ = ["both", "calls", "on_frozen_graph"]
