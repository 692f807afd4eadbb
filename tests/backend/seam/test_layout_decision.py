"""The layout of convolutions is decided on as many nodes as Inductor's own stages would leave.

Without a GPU: convolutions on CPU are counted where oneDNN is off.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters
from torch._inductor import compile_fx, config
from torch._inductor.graph import GraphLowering

from xductor.backend.config import compile_state, versions
from xductor.backend.config.settings import Settings
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.seam import dispatch, layout_decision
from xductor.backend.steps import stock_node_counts

_SIZE = 96


@pytest.fixture
def counting() -> Iterator[None]:
    before = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = False
    yield
    torch.backends.mkldnn.enabled = before


class Patches(nn.Module):
    """Patches of an image through layers of attention, spelled out or not."""

    def __init__(self, depth: int, attend: Callable[..., Tensor]) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, _SIZE, 4, 4)
        self.layers = nn.ModuleList([nn.Linear(_SIZE, 3 * _SIZE) for _ in range(depth)])
        self.attend = attend

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        for layer in self.layers:
            x = x + self.heads(layer(x)).reshape(x.shape)
        return x

    def heads(self, qkv: Tensor) -> Tensor:
        split = (
            one.reshape(*one.shape[:2], 2, _SIZE // 2).transpose(1, 2) for one in qkv.chunk(3, -1)
        )
        return self.attend(*split).transpose(1, 2)


def _spelled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-2, -1) * 0.25, -1) @ v


def _fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return nn.functional.scaled_dot_product_attention(q, k, v, scale=0.25)


class Seen(SimpleNamespace):
    """Of the graphs that go to code generation: nodes, nodes with what is missing, decisions."""

    nodes: list[int]
    counted: list[int]
    decisions: list[bool]
    plain: list[bool]


def _compiled(
    model: nn.Module, backend: str, monkeypatch: pytest.MonkeyPatch, *, train: bool
) -> Seen:
    dispatch.attach()
    seen = Seen(nodes=[], counted=[], decisions=[], plain=[])
    stock = compile_fx._recursive_post_grad_passes
    plain = GraphLowering.decide_layout_opt.__wrapped__  # type: ignore[attr-defined]

    def passes(gm: Any, is_inference: bool = False) -> None:
        stock(gm, is_inference)
        missing = layout_decision.missing_nodes(gm)
        seen.nodes.append(len(gm.graph.nodes))
        seen.counted.append(seen.nodes[-1] + missing)
        seen.decisions.append(GraphLowering.decide_layout_opt(gm, is_inference=is_inference))
        seen.plain.append(plain(gm, is_inference=is_inference))

    torch._dynamo.reset()
    with monkeypatch.context() as patch, without_codegen(), torch.set_grad_enabled(train):
        patch.setattr(compile_fx, "_recursive_post_grad_passes", passes)
        found = torch.compile(model, backend=backend)(torch.randn(2, 3, 16, 16))
        if train:
            found.sum().backward()
    return seen


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.usefixtures("counting")
def test_the_number_is_about_that_of_inductors_own_stages(
    monkeypatch: pytest.MonkeyPatch, train: bool
) -> None:
    model = Patches(2, _spelled)
    ours = _compiled(model, "xductor", monkeypatch, train=train)
    theirs = _compiled(model, "inductor", monkeypatch, train=train)
    assert ours.nodes[0] < theirs.nodes[0]
    for counted, nodes in zip(ours.counted, theirs.nodes, strict=True):
        assert abs(counted - nodes) <= 0.05 * nodes


@pytest.mark.usefixtures("counting")
def test_the_decision_is_that_of_inductors_own_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a depth at which the forward has more than 300 nodes spelled out, and fewer fused."""
    model = Patches(7, _spelled)
    ours = _compiled(model, "xductor", monkeypatch, train=True)
    theirs = _compiled(model, "inductor", monkeypatch, train=True)
    assert ours.nodes[0] < 300 < theirs.nodes[0]
    assert ours.plain[0] is True
    assert ours.decisions[0] is theirs.decisions[0] is False


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.usefixtures("counting")
def test_below_the_bound_nothing_changes(monkeypatch: pytest.MonkeyPatch, depth: int) -> None:
    ours = _compiled(Patches(depth, _spelled), "xductor", monkeypatch, train=False)
    assert ours.decisions == ours.plain == [True]


@pytest.mark.usefixtures("counting")
def test_alike_layers_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[Any] = []
    measure = stock_node_counts._measured
    monkeypatch.setattr(stock_node_counts, "_memo", {})
    monkeypatch.setattr(
        stock_node_counts, "_measured", lambda one: measured.append(one) or measure(one)
    )
    counters.clear()
    _compiled(Patches(3, _spelled), "xductor", monkeypatch, train=False)
    assert len(measured) == 1
    assert counters["inductor"]["fuse_attention"] == 3


def test_nothing_is_measured_where_nothing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With oneDNN, without a convolution, with the layout forced or left alone."""

    def refuse(_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(stock_node_counts, "_difference", refuse)
    assert _compiled(Patches(1, _spelled), "xductor", monkeypatch, train=False).counted
    torch.backends.mkldnn.enabled = False
    try:
        q, k, v = (torch.randn(1, 2, 4, 8) for _ in "qkv")
        with without_codegen(), torch.no_grad():
            torch.compile(_spelled, backend="xductor")(q, k, v)
        for flag in ({"layout_optimization": False}, {"force_layout_optimization": True}):
            with config.patch(flag):
                _compiled(Patches(1, _spelled), "xductor", monkeypatch, train=False)
    finally:
        torch.backends.mkldnn.enabled = True


@pytest.mark.usefixtures("counting")
def test_what_cannot_be_measured_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Any) -> Any:
        raise RuntimeError("no device")

    monkeypatch.setattr(stock_node_counts, "_difference", fail)
    with caplog.at_level(logging.WARNING):
        seen = _compiled(Patches(1, _spelled), "xductor", monkeypatch, train=False)
    assert seen.counted == seen.nodes
    assert any("were not counted" in record.getMessage() for record in caplog.records)


# Caches.


def _key(gm: torch.fx.GraphModule) -> Any:
    key_class: Any = versions.cache_key_class()
    with compile_state.entered(compile_state.begin(Settings())):
        return key_class(gm, [], {}, []).xductor


def _graph_with(note: tuple[int, int] | None) -> torch.fx.GraphModule:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    call = graph.call_function(
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default, (x, x, x)
    )
    if note is not None:
        call.meta["custom"] = {stock_node_counts.NOTE: note}
    graph.output(call)
    return torch.fx.GraphModule(nn.Module(), graph)


def test_keys_of_caches_tell_apart_what_is_decided_otherwise() -> None:
    """A graph in which the user called the kernel is the same but for the decision."""
    dispatch.attach()
    plain, again = _key(_graph_with(None)), _key(_graph_with(None))
    assert plain == again
    assert _key(_graph_with((20, 7))) == _key(_graph_with((20, 7)))
    assert len({plain, _key(_graph_with((20, 7))), _key(_graph_with((21, 7)))}) == 3


def test_keys_of_bodies_too() -> None:
    outer = torch.fx.GraphModule(nn.Module(), torch.fx.Graph())
    outer.add_module("body", _graph_with((20, 7)))
    assert layout_decision.notes(outer) == ((20, 7),)


@pytest.mark.parametrize("attend", [_spelled, _fused])
@pytest.mark.usefixtures("counting")
def test_what_the_user_wrote_is_counted_as_it_is(
    monkeypatch: pytest.MonkeyPatch, attend: Callable[..., Tensor]
) -> None:
    seen = _compiled(Patches(2, attend), "xductor", monkeypatch, train=True)
    assert (seen.counted != seen.nodes) == (attend is _spelled)


def test_fewer_nodes_than_there_are() -> None:
    gm = _graph_with((-1, 0))
    assert layout_decision.missing_nodes(gm) == -1
    assert len(layout_decision._as_counted(gm, -1).graph.nodes) == len(gm.graph.nodes) - 1
    assert len(layout_decision._as_counted(gm, 5).graph.nodes) == len(gm.graph.nodes) + 5
