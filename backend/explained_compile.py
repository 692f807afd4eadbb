"""Explains why a rewrite applies or does not in a compile, at the place where it would run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.utils._pytree import tree_map_only
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.config import placement
from xductor.backend.config.placement import Place, Placed
from xductor.backend.fx.reconcile import is_unchanged
from xductor.backend.testing.captured_stages import capture
from xductor.frontend import from_fx
from xductor.ir import entry_graph
from xductor.transforms import Stage, TypedPass
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rows import registry

if TYPE_CHECKING:
    from torch.fx import Graph

Look = Callable[[ModuleOp], None]


def look_where_it_runs(
    one: Any,
    look: Look,
    stage: Stage | None,
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    keywords: dict[str, Any],
) -> None:
    """Compile `function` and run it on `inputs` and `keywords`, without kernels, and call `look`
    with each graph that `one` would see, as it is at the place where `one` runs.

    A module and the inputs are copied, so that the given ones stay as they are, and gradients are
    those of the copies. Other state of the function changes as in any call.
    """
    given, named = tree_map_only(torch.Tensor, _copy, (inputs, keywords))
    if isinstance(function, torch.nn.Module):
        function = deepcopy(function)
    taken = {name: named.pop(name) for name in inspect.signature(capture).parameters.keys() & named}
    called = partial(function, **taken) if taken else function  # `capture` has options of that name
    seen: Look = (lambda module: look(_with_bodies(module))) if _reads_bodies(one) else look
    look_there = Placed(probe((stage,) if stage else stages_of(one), seen), _place(one))
    with torch.random.fork_rng(devices=()):
        options = {"xductor.on_error": "raise", "xductor.report": None}
        capture(called, *given, rewrites=[look_there], options=options, **named)


def _reads_bodies(one: Any) -> bool:
    return isinstance(one, TypedPass) and one.reads_bodies


def _with_bodies(module: ModuleOp) -> ModuleOp:
    """The graph of a module with the bodies of its subgraphs, unless a pass has changed it."""
    graph = entry_graph(module)
    if not is_unchanged(graph):
        return module
    return from_fx(graph.live.gm, graph.stage.data)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _place(one: Any) -> Place:
    """Where a rewrite runs: before the step of its name if it is one of ours."""
    ours = {row.name: row for row in registry.rows() if row.factory}
    if one.name in ours and isinstance(one, registry.typed_class(one.name)):
        return Place("before", one.name)
    return placement.place_of(one)


def probe(stages: tuple[Stage, ...], look: Look) -> TypedPass:
    @dataclass(frozen=True, eq=False)
    class Probe(TypedPass):
        """Looks at each graph, and changes none."""

        name: ClassVar[str] = "explained"
        stage: ClassVar[Stage | tuple[Stage, ...]] = stages
        seen: Look = field(default=look, repr=False)

        @classmethod
        def may_apply(cls, graph: Graph) -> bool:
            return True

        def rewrite(self, module: ModuleOp) -> int:
            self.seen(module)
            return 0

    return Probe()


__all__ = ["look_where_it_runs"]
