"""The backward is compiled when it first runs, perhaps in another thread: by us all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from xductor.backend.config import compile_state, versions
from xductor.backend.config.settings import Settings
from xductor.backend.seam import dispatch


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w), w)


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)


def in_thread(name: str, function: Callable[[], Any]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name=name)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def check_gradients(x: torch.Tensor, w: torch.Tensor) -> None:
    x2, w2 = x.detach().requires_grad_(), w.detach().requires_grad_()
    chain(x2, w2).backward(torch.ones(4, 4))
    torch.testing.assert_close((x.grad, w.grad), (x2.grad, w2.grad))


FORWARD = ["pre_grad", "joint", "post_grad"]


def before_the_lookup() -> list[str]:
    """The stages that run even for what is found in AOTAutograd's cache."""
    return [] if versions.pre_grad_runs_late() else ["pre_grad"]


@pytest.mark.usefixtures("empty_cache")
class TestStaticShapes:
    def test_post_grad_runs_in_the_backward_with_the_same_settings(self, recorded_stages):
        x, w = operands()
        options = {"xductor.numerics": "fast", "xductor.verify": "types"}
        out = torch.compile(chain, backend="xductor", options=options)(x, w)
        assert recorded_stages.names() == FORWARD
        out.backward(torch.ones(4, 4))
        assert recorded_stages.names() == [*FORWARD, "post_grad"]
        expected = Settings(numerics="fast", verify="types")
        assert {call.settings for call in recorded_stages.calls} == {expected}
        check_gradients(x, w)

    def test_in_another_thread(self, recorded_stages):
        x, w = operands()
        out = torch.compile(chain, backend="xductor")(x, w)
        recorded_stages.take()
        in_thread("backward", lambda: out.backward(torch.ones(4, 4)))
        assert [(call.stage, call.thread) for call in recorded_stages.calls] == [
            ("post_grad", "backward")
        ]
        check_gradients(x, w)

    def test_inductor_options_reach_the_backward(self, recorded_stages):
        seen: list[bool] = []
        recorded_stages.before = lambda call: seen.append(torch._inductor.config.max_autotune)
        x, w = operands()
        with torch._inductor.config.patch(max_autotune_gemm_backends="ATEN"):
            out = torch.compile(chain, backend="xductor", mode="max-autotune-no-cudagraphs")(x, w)
            out.backward(torch.ones(4, 4))
        assert seen == [True] * 4
        assert not torch._inductor.config.max_autotune

    def test_without_what_dynamo_carries(self, recorded_stages):
        """The backend hands its decision to Inductor's compile itself, too."""
        x, w = operands()
        out = torch.compile(chain, backend="xductor", options={"xductor.verify": "types"})(x, w)
        recorded_stages.take()
        compile_state._pinned.clear()
        in_thread("backward", lambda: out.backward(torch.ones(4, 4)))
        assert [call.settings.verify for call in recorded_stages.calls] == ["types"]

    def test_installed_block_left_before_the_backward(self, recorded_stages):
        x, w = operands()
        with dispatch.installed({"xductor.numerics": "fast"}):
            out = torch.compile(chain)(x, w)
        recorded_stages.take()
        in_thread("backward", lambda: out.backward(torch.ones(4, 4)))
        assert [call.settings.numerics for call in recorded_stages.calls] == ["fast"]
        check_gradients(x, w)

    def test_uninstalled_before_the_backward(self, recorded_stages):
        x, w = operands()
        dispatch.install()
        out = torch.compile(chain)(x, w)
        dispatch.uninstall()
        recorded_stages.take()
        out.backward(torch.ones(4, 4))
        assert recorded_stages.names() == ["post_grad"]

    def test_stock_forward_keeps_stock_backward(self, recorded_stages):
        x, w = operands()
        dispatch.attach()
        out = torch.compile(chain)(x, w)
        with dispatch.installed():
            out.backward(torch.ones(4, 4))
        assert recorded_stages.names() == []

    def test_backward_of_stock_during_a_compile_of_ours(self, recorded_stages):
        """Each of two pending backwards is compiled by the pipeline of its own forward."""
        torch._dynamo.reset()
        x, w = operands()
        ours = torch.compile(chain, backend="xductor")(x, w)
        torch._dynamo.reset()
        stock = torch.compile(chain, backend="inductor")(x, w)
        recorded_stages.take()
        stock.backward(torch.ones(4, 4))
        assert recorded_stages.take() == []
        x.grad = w.grad = None
        ours.backward(torch.ones(4, 4))
        assert recorded_stages.take() == ["post_grad"]
        check_gradients(x, w)


@pytest.mark.usefixtures("empty_cache")
def test_dynamic_shapes_compile_the_backward_at_once(recorded_stages):
    x, w = operands()
    out = torch.compile(chain, backend="xductor", dynamic=True)(x, w)
    assert recorded_stages.names() == [*FORWARD, "post_grad"]
    out.backward(torch.ones(4, 4))
    assert recorded_stages.names() == [*FORWARD, "post_grad"]
    check_gradients(x, w)


@pytest.mark.usefixtures("empty_cache")
def test_forward_from_the_cache_and_backward_compiled(recorded_stages):
    """A run without a backward stores the forward alone; the next run compiles the rest."""
    x, w = operands()
    torch.compile(chain, backend="xductor")(x, w)
    torch._dynamo.reset()
    counters.clear()
    recorded_stages.take()
    out = torch.compile(chain, backend="xductor")(x, w)
    assert counters["inductor"]["fxgraph_cache_hit"] == 1
    assert recorded_stages.take() == ["pre_grad", "joint"]
    in_thread("backward", lambda: out.backward(torch.ones(4, 4)))
    assert counters["inductor"]["fxgraph_cache_miss"] == 1
    assert recorded_stages.take() == ["post_grad"]
    check_gradients(x, w)


@pytest.mark.usefixtures("empty_cache")
def test_backward_restored_from_the_cache(recorded_stages):
    for _ in range(2):
        torch._dynamo.reset()
        counters.clear()
        recorded_stages.take()
        x, w = operands()
        out = torch.compile(chain, backend="xductor")(x, w)
        in_thread("backward", lambda out=out: out.backward(torch.ones(4, 4)))
        check_gradients(x, w)
    assert recorded_stages.names() == before_the_lookup()
    assert counters["aot_autograd"]["autograd_cache_hit"] == 1
    assert counters["inductor"]["fxgraph_cache_hit"] == 2


@pytest.mark.usefixtures("empty_cache")
def test_compiled_autograd(recorded_stages):
    """The backward is traced by Dynamo and compiled by the backend of the enclosing compile."""
    x, w = operands()
    compiled = torch.compile(chain, backend="xductor")

    def step() -> None:
        compiled(x, w).backward(torch.ones(4, 4))

    with torch._dynamo.config.patch(compiled_autograd=True):
        torch.compile(step, backend="xductor", options={"xductor.verify": "types"})()
    assert recorded_stages.names()[:3] == FORWARD
    assert recorded_stages.names()[-2:] == ["joint", "post_grad"]
    assert recorded_stages.calls[-1].settings.verify == "types"
    check_gradients(x, w)


@pytest.mark.usefixtures("empty_cache")
def test_nested_compile_region(recorded_stages):
    """Each region is a graph of its own, in the forward and in the backward."""

    @torch.compiler.nested_compile_region
    def region(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, w)

    def twice(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return region(region(x, w), w)

    x, w = operands()
    out = torch.compile(twice, backend="xductor", fullgraph=True)(x, w)
    assert recorded_stages.names().count("pre_grad") == 2
    assert recorded_stages.take().count("post_grad") == 2
    out.backward(torch.ones(4, 4))
    assert recorded_stages.take() == ["post_grad", "post_grad"]
    check_gradients(x, w)
