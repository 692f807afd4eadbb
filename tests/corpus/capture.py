"""The graphs of Inductor's three stages, as a compile hands them over; without code generation.

`passes_only()` lets Inductor run all its passes and then the FX graph itself in place of compiled
code. `stage_calls(on_call)` calls back with each stage call right before the stage runs, inside
the compile: fake mode, tracing context and metadata are those the stage sees.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch._inductor.compile_fx as compile_fx
import torch.fx as fx
from torch._inductor import config as inductor_config
from torch._inductor.output_code import MockFXGraphCacheOutput
from torch._inductor.virtualized import V

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
    alias as they do in the original.
    """
    copied = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    copied.meta = dict(gm.meta)
    return copied


def _fx_as_code(gm: Any, example_inputs: Sequence[Any], *_: Any, **kwargs: Any) -> Any:
    """What Inductor does before code generation; the graph then stands for the code."""
    compile_fx.view_to_reshape(gm)
    with torch.no_grad():
        fake_mode = compile_fx.fake_tensor_prop(gm, example_inputs)
    with V.set_fake_mode(fake_mode):
        compile_fx._recursive_post_grad_passes(gm, bool(kwargs.get("is_inference")))
    gm.recompile()

    def run(inputs: Sequence[Any]) -> Any:
        return gm(*inputs)

    return MockFXGraphCacheOutput(gm=run)


@contextmanager
def passes_only() -> Iterator[None]:
    """Inductor without code generation and without caches."""
    stock = compile_fx.fx_codegen_and_compile
    compile_fx.fx_codegen_and_compile = _fx_as_code  # type: ignore[assignment]
    try:
        with inductor_config.patch(force_disable_caches=True):
            yield
    finally:
        compile_fx.fx_codegen_and_compile = stock


@contextmanager
def stage_calls(on_call: Callable[[StageCall], None]) -> Iterator[None]:
    """Call `on_call` before every stage call inside the block, whatever runs the stage."""
    saved = {name: getattr(compile_fx, name) for name in STAGE_OF}

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def stage(gm: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
            on_call(StageCall(STAGE_OF[name], gm, args, kwargs))
            return function(gm, *args, **kwargs)

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
