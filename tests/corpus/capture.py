"""The graphs of Inductor's three stages, as a compile hands them over; without code generation.

`passes_only()` lets Inductor run all its passes and then the FX graph itself in place of compiled
code. `stage_calls(on_call)` calls back with each stage call right before the stage runs, inside
the compile: fake mode, tracing context and metadata are those the stage sees.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch._inductor.compile_fx as compile_fx
import torch.fx as fx
from torch._inductor import config as inductor_config
from torch.fx._lazy_graph_module import _LazyGraphModule

from xductor.backend.run_as_fx.without_codegen import without_codegen

STAGE_OF = {
    "pre_grad_passes": "pre_grad",
    "joint_graph_passes": "joint",
    "post_grad_passes": "post_grad",
}


@dataclass(frozen=True)
class StageCall:
    """One call of a stage: the live graph module, and the other arguments."""

    stage: str
    gm: fx.GraphModule
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def copy(self) -> fx.GraphModule:
        """The graph module with a graph of its own; values in `meta` are the same objects."""
        return graph_copy(self.gm)

    def run_on_copy(self, function: Callable[..., Any]) -> fx.GraphModule:
        """A stage function on a copy; what it made of it."""
        gm = self.copy()
        return function(gm, *self.args, **self.kwargs) or gm


def graph_copy(gm: fx.GraphModule) -> fx.GraphModule:
    """A graph module with a copied graph. Attributes and fake values are shared, so that storages
    alias as they do in the original; a module that writes its code when asked for it still does.
    """
    kind = _LazyGraphModule if isinstance(gm, _LazyGraphModule) else fx.GraphModule
    copied = kind(gm, copy.deepcopy(gm.graph))
    copied.meta = dict(gm.meta)
    return copied


@contextmanager
def passes_only() -> Iterator[None]:
    """Inductor without code generation and without caches."""
    with inductor_config.patch(force_disable_caches=True), without_codegen():
        yield


@contextmanager
def stage_calls(
    on_call: Callable[[StageCall], None], on_result: Callable[[StageCall], None] | None = None
) -> Iterator[None]:
    """Call `on_call` before every stage call inside the block, whatever runs the stage, and
    `on_result` after it, with the graph that came out.
    """
    saved = {name: getattr(compile_fx, name) for name in STAGE_OF}

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def stage(gm: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
            on_call(StageCall(STAGE_OF[name], gm, args, kwargs))
            result = function(gm, *args, **kwargs)
            if on_result is not None:
                on_result(StageCall(STAGE_OF[name], result or gm, args, kwargs))
            return result

        return stage

    for name, function in saved.items():
        setattr(compile_fx, name, watched(name, function))
    try:
        yield
    finally:
        for name, function in saved.items():
            setattr(compile_fx, name, function)


def capture(
    step: Callable[[Callable[..., Any]], Any],
    on_call: Callable[[StageCall], None],
    *,
    dynamic: bool = False,
) -> None:
    """Compile with stock Inductor, without code generation, and hand each stage call to `on_call`.

    `step(compile)` makes its callables with `compile(function)` and calls them; a training step
    also runs the backward, which is compiled then.
    """
    torch._dynamo.reset()
    with passes_only(), stage_calls(on_call):
        step(lambda function: torch.compile(function, dynamic=dynamic))
    torch._dynamo.reset()
