"""The graphs that freezing works on, as a compile hands them over, and what it makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._inductor.freezing as freezing
from torch._dynamo.exc import BackendCompilerFailed
from torch._inductor import config
from torch._inductor.fx_passes import freezing_patterns, mkldnn_fusion

from tests.corpus.capture import graph_copy, passes_only
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.seam import dispatch
from xductor.backend.steps import late_constants, user_patterns

Freeze = Callable[[Any, Any], object]
_PACKING = "torch._inductor.fx_passes.mkldnn_fusion"


class _Seen(Exception):
    """The graph was seen, and no more is wanted of the compile."""


@contextmanager
def packing(wanted: bool) -> Iterator[None]:
    """Run a block with oneDNN's and MKL's packing of weights, or without.

    Inductor registers it once in a process, or never, by the flags at the first compile. What is
    fused with packed ops afterwards runs in generated code alone.
    """
    freezing_patterns.lazy_init()
    if wanted:
        mkldnn_fusion._mkldnn_weight_pack_init()
        yield
        return
    tables = list(freezing_patterns.pass_patterns)
    saved = {key: list(entries) for key, entries in tables[0].patterns.items()}
    for key, entries in saved.items():
        tables[0].patterns[key] = [one for one in entries if not _packs(one)]
    freezing_patterns.pass_patterns[:] = tables[:1]
    try:
        yield
    finally:
        freezing_patterns.pass_patterns[:] = tables
        tables[0].patterns.clear()
        tables[0].patterns.update(saved)


def _packs(entry: Any) -> bool:
    home = user_patterns.entry_home(entry)
    return home is not None and home[0] == _PACKING


def on_frozen_graph(
    model: Callable[..., Any], *inputs: Any, call: Callable[[Freeze, Any, Any], None], **flags: Any
) -> None:
    """Compile a model with Inductor and freezing on, and call back inside the compile, which ends.

    `call` gets Inductor's own function, the graph and its inputs.
    """
    dispatch.attach()
    dispatching: Any = freezing.freezing_passes
    stock = dispatching.__wrapped__

    def freeze(gm: Any, example_inputs: Any) -> None:
        call(stock, gm, example_inputs)
        raise _Seen

    torch._dynamo.reset()
    freezing.freezing_passes = freeze
    try:
        with torch.no_grad(), config.patch(freezing=True, **flags), passes_only():
            torch.compile(model)(*inputs)
    except BackendCompilerFailed as error:
        if not isinstance(error.inner_exception, _Seen):
            raise
    finally:
        freezing.freezing_passes = dispatching


def both(model: Callable[..., Any], *inputs: Any, **flags: Any) -> tuple[Any, Any]:
    """What Inductor's freezing makes of a model's graph, and what ours does.

    What it folds behind them is folded in both: Inductor packs weights then.
    """
    found: list[Any] = []

    def call(stock: Freeze, gm: Any, example_inputs: Any) -> None:
        theirs, ours = graph_copy(gm), graph_copy(gm)
        stock(theirs, example_inputs)
        with settings.use(settings.current().replace(on_error="raise", verify="types")):
            stages.freezing_passes(ours, example_inputs)
        freezing.constant_fold(theirs)
        late_constants.fold(ours, freezing.constant_fold)
        found.extend((theirs, ours))

    on_frozen_graph(model, *inputs, call=call, **flags)
    return found[0], found[1]


def calls(gm: Any) -> Counter[str]:
    """How often a graph calls what; operators are not told apart from their default overloads."""
    return Counter(
        _called(node.target) if node.op == "call_function" else node.op for node in gm.graph.nodes
    )


def _called(target: Any) -> str:
    return str(target.default) if isinstance(target, torch._ops.OpOverloadPacket) else str(target)


__all__ = ["both", "calls", "on_frozen_graph", "packing"]
