"""Graphs run as FX give what eager gives, whatever Inductor writes in place in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.fx.overlapping_writes import separate_writes
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.testing.captured_stages import capture

aten = torch.ops.aten
Function = Callable[..., Any]


def _copied(a: Any, b: Any) -> Any:
    t = a[torch.arange(4)]
    t.copy_(b * 1)
    return (t * 1 + b).sum()


def _zeroed(a: Any, b: Any) -> Any:
    t = a[torch.arange(4)]
    t.zero_()
    t.copy_(b)
    return (t * 2 + a).sum()


def _indexed(a: Any, b: Any) -> Any:
    t = a[torch.tensor([0, 0, 2, 3])]
    t[1:].copy_(b[1:])
    return (t.sin() * b).sum()


def _inputs() -> list[torch.Tensor]:
    return [(torch.arange(16.0).reshape(4, 4) + i).div(16).requires_grad_() for i in range(2)]


@pytest.mark.parametrize("function", [_copied, _zeroed, _indexed])
def test_training(function: Function) -> None:
    results = []
    for compiled in (function, torch.compile(function, backend="xductor")):
        inputs = _inputs()
        with without_codegen():
            output = compiled(*inputs)
            output.backward()
        results.append((output, [one.grad for one in inputs]))
    torch.testing.assert_close(*results)


def test_stages_of_a_training_program_are_captured() -> None:
    stages = capture(_copied, *_inputs())
    assert stages.one("post_grad", "backward")


def _run(graph: torch.fx.Graph, *inputs: Any) -> tuple[Any, list[str]]:
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    separate_writes(gm)
    gm.graph.lint()
    clones = gm.graph.find_nodes(op="call_function", target=aten.clone.default)
    return gm(*inputs), [str(node.args[0]) for node in clones]


def _graph(function: Function, *inputs: Any) -> torch.fx.Graph:
    return make_fx(function, tracing_mode="fake")(*inputs).graph


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("permute", lambda y: aten.permute(y, [1, 0])),
        ("_unsafe_view", lambda y: aten._unsafe_view(y, [2, 2])),  # whose schema does not say so
    ],
)
def test_a_tensor_that_is_read_where_it_is_written(name: str, view: Function) -> None:
    """The op reads what was there before, as the functional one does."""

    def in_place(x: Any, i: Any) -> Any:
        y = aten.sin(x)
        return aten.index_put_(y, [i], view(y), True)

    x, i = torch.arange(4.0).reshape(2, 2), torch.tensor([1, 0])
    found, copied = _run(_graph(in_place, x, i), x, i)
    y = x.sin()
    torch.testing.assert_close(found, aten.index_put(y, [i], view(y), True))
    assert copied == [name]


def test_views_of_an_expanded_constant_keep_sharing_memory() -> None:
    """One copy of the constant; what is written through views of it is seen in it."""

    def expanded(x: Any) -> Any:
        return x + aten.expand(aten.full([], 0.0, device="cpu"), [4, 2])

    x = torch.ones(4, 2)
    graph = _graph(expanded, x)
    (expand,) = graph.find_nodes(op="call_function", target=aten.expand.default)
    (add,) = graph.find_nodes(op="call_function", target=aten.add.Tensor)
    with graph.inserting_before(add):
        for bounds, value in (((0, 2), 1.0), ((2, 3), 2.0)):
            part = graph.call_function(aten.slice.Tensor, (expand, 0, *bounds))
            part.meta["val"] = aten.slice.Tensor(expand.meta["val"], 0, *bounds)
            graph.call_function(aten.fill_.Scalar, (part, value))
    found, copied = _run(graph, x)
    assert found.tolist() == [[2.0, 2.0], [2.0, 2.0], [3.0, 3.0], [1.0, 1.0]]
    assert copied == ["expand"]


def test_other_writes_stay_as_they_are() -> None:
    def in_place(x: Any, y: Any) -> Any:
        aten.copy_(x, aten.add(x, y))
        return aten.mul_(aten.sin(x), y)

    x, y = torch.ones(2, 2), torch.ones(2, 2)
    assert _run(_graph(in_place, x, y), x.clone(), y)[1] == []
