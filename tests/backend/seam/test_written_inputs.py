"""Inputs that a forward writes to and that its backward computes again from, against eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import Graph, GraphModule
from torch.utils.checkpoint import checkpoint

from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.seam.written_inputs import keep_what_inputs_held

aten = torch.ops.aten
Function = Callable[..., Any]


def _zeroed(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    y = a * torch.exp(b * c)
    b.zero_()
    return y


def _in_part(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    y = a * torch.exp(b * c)
    b[:, 1:] += 3.0
    return y


def _of_a_view(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    y = a * torch.exp(b.t() * c.t())
    b.copy_(b + 1)
    return y


def _both(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    y = a * torch.exp(b + c)
    b.mul_(2)
    c.mul_(3)
    return y


def _written_first(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    b.mul_(0.5)
    return a * torch.exp(b * c)


def _in_a_checkpoint(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    def body(a: Tensor, b: Tensor) -> Tensor:
        b.mul_(0.5)
        return a.detach() * b

    checkpoint(body, a, b, use_reentrant=False)
    return (a * torch.exp(b * c)).sin()


def _returned(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    y = a * torch.exp(b * c)
    b.zero_()
    return y, b.t()


def _run(function: Function, wanting: str, strided: bool = False) -> list[Tensor]:
    """Results, inputs afterwards and gradients, from the same numbers each time."""
    generator = torch.Generator().manual_seed(0)
    sizes = {"a": (8, 8), "b": (1, 8), "c": (8, 1)}
    leaves, inputs = [], []
    for name, size in sizes.items():
        leaf = torch.randn(size, generator=generator).requires_grad_(name in wanting)
        leaves.append(leaf)
        inputs.append(leaf * 1.0)  # may be written to
    if strided:
        inputs[1] = torch.stack([inputs[1], inputs[1]], -1)[..., 0]
    found = function(*inputs)
    results = list(found) if isinstance(found, tuple) else [found]
    results[0].square().sum().backward()
    gradients = [leaf.grad for leaf in leaves if leaf.grad is not None]
    return [*(one.detach().clone() for one in (*results, *inputs)), *gradients]


@pytest.mark.parametrize("wanting", ["a", "ab"])
@pytest.mark.parametrize(
    "function",
    [_zeroed, _in_part, _of_a_view, _both, _written_first, _in_a_checkpoint, _returned],
)
def test_gradients_are_of_what_was_read(function: Function, wanting: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="xductor", options={"xductor.on_error": "raise"})
    with without_codegen():
        found = _run(compiled, wanting)
    torch.testing.assert_close(found, _run(function, wanting), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True])
def test_with_generated_code(dynamic: bool) -> None:
    """Of an input that is not dense: its copy has other strides."""
    torch._dynamo.reset()
    compiled = torch.compile(_zeroed, backend="xductor", dynamic=dynamic)
    found = _run(compiled, "a", strided=True)
    torch.testing.assert_close(found, _run(_zeroed, "a", strided=True), atol=1e-5, rtol=1e-5)


def _halves(*, writes: bool, backward_writes: bool = False) -> tuple[GraphModule, GraphModule]:
    """A forward of one result that saves its input, and a backward that reads it."""
    graphs = []
    for written in (writes, backward_writes):
        graph = Graph()
        x = graph.placeholder("x")
        y = graph.call_function(aten.sin.default, (x,))
        if written:
            graph.call_function(aten.copy_.default, (x, y))
        graph.output((y, x) if not graphs else (y,))
        graphs.append(GraphModule({}, graph))
    return graphs[0], graphs[1]


def test_a_copy_is_saved() -> None:
    forward, backward = _halves(writes=True)
    assert keep_what_inputs_held(forward, backward, outputs=1) == 1
    x = torch.rand(4)
    held = x.clone()
    y, saved = forward(x)
    torch.testing.assert_close((x, y, saved), (held.sin(), held.sin(), held))


def test_nothing_is_copied_that_is_not_written() -> None:
    assert keep_what_inputs_held(*_halves(writes=False), outputs=1) == 0


def test_what_is_returned_is_the_input() -> None:
    assert keep_what_inputs_held(*_halves(writes=True), outputs=2) == 0


def test_what_the_backward_writes_too_is_the_input() -> None:
    """As parameters that are gathered, in both halves, into the tensor that is saved."""
    halves = _halves(writes=True, backward_writes=True)
    assert keep_what_inputs_held(*halves, outputs=1) == 0
