"""Fixtures for the tests of the pipelines: graphs as Inductor gives them to its stages."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch._inductor.compile_fx as compile_fx
import torch._inductor.config as inductor_config
from torch._dynamo.utils import detect_fake_mode
from torch._inductor.virtualized import V

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.run_as_fx.without_codegen import without_codegen

STAGES = {
    "pre_grad_passes": "pre_grad",
    "joint_graph_passes": "joint",
    "post_grad_passes": "post_grad",
}


@pytest.fixture(autouse=True)
def _no_fallback() -> Iterator[None]:
    """A failing pass of ours fails the test, unless the test asks for the fallback."""
    forget_warnings()
    with settings.use(settings.Settings(on_error="raise")):
        yield


@dataclass(frozen=True)
class StageGraph:
    """What a stage function was called with: a graph of its own, and the other arguments."""

    stage: str
    gm: torch.fx.GraphModule
    args: tuple[Any, ...]

    @contextmanager
    def ambience(self) -> Iterator[None]:
        """The fake mode and tracing context that Inductor has around the stage."""
        values = (n.meta.get("val", n.meta.get("example_value")) for n in self.gm.graph.nodes)
        mode = detect_fake_mode([v for v in values if isinstance(v, torch.Tensor)])
        with ExitStack() as stack:
            if mode is not None:
                stack.enter_context(V.set_fake_mode(mode))
                tracing = torch._guards.TracingContext(mode)
                stack.enter_context(torch._guards.tracing(tracing))
            yield

    def run(self, function: Callable[..., Any]) -> torch.fx.GraphModule:
        """``function`` on a copy of the graph; returns the copy after it."""
        gm = copy.deepcopy(self.gm)
        with self.ambience():
            return function(gm, *self.args) or gm


@pytest.fixture
def passes_only() -> Iterator[None]:
    """Inductor without code generation: graphs run as FX after the post-grad stage."""

    with inductor_config.patch(force_disable_caches=True), without_codegen():
        yield


@pytest.fixture
def our_stages(passes_only: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inductor with our stages, without code generation."""
    for name in STAGES:
        monkeypatch.setattr(compile_fx, name, getattr(stages, name))


CaptureStages = Callable[..., list[StageGraph]]


@pytest.fixture
def stage_graphs(passes_only: None, monkeypatch: pytest.MonkeyPatch) -> CaptureStages:
    """``stage_graphs(f, *inputs, train=, dynamic=)``: what Inductor's stages get for ``f``."""

    def capture(
        function: Callable[..., Any],
        *inputs: Any,
        train: bool = False,
        dynamic: bool | None = None,
    ) -> list[StageGraph]:
        found: list[StageGraph] = []

        def recording(name: str, stock: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(stock)
            def stage(gm: Any, *args: Any) -> Any:
                found.append(StageGraph(STAGES[name], copy.deepcopy(gm), args))
                return stock(gm, *args)

            return stage

        with monkeypatch.context() as patched:
            for name in STAGES:
                patched.setattr(compile_fx, name, recording(name, getattr(compile_fx, name)))
            compiled = torch.compile(function, dynamic=dynamic)
            if train:
                compiled(*inputs).sum().backward()
            else:
                with torch.no_grad():
                    compiled(*inputs)
        return found

    return capture


def _plain(value: Any, numbers: dict[Any, int]) -> Any:
    if isinstance(value, torch.fx.Node):
        return f"%{numbers[value]}"
    if isinstance(value, list | tuple):
        return type(value)(_plain(item, numbers) for item in value)
    if isinstance(value, dict):
        return {key: _plain(item, numbers) for key, item in value.items()}
    return f"{type(value).__name__} {value}"


def _listing(gm: torch.fx.GraphModule) -> list[str]:
    numbers = {node: i for i, node in enumerate(gm.graph.nodes)}
    return [
        f"%{numbers[node]} = {node.op} "
        f"{'' if node.op == 'placeholder' else node.target} "
        f"{_plain(node.args, numbers)} {_plain(node.kwargs, numbers)}"
        for node in gm.graph.nodes
    ]


@pytest.fixture
def listing() -> Callable[[torch.fx.GraphModule], list[str]]:
    """A graph as lines that do not depend on the names of its nodes."""
    return _listing
