"""Graph modules of a running compile become lazy; they compute, print and copy as before."""

from __future__ import annotations

import copy
import pickle
from unittest import mock

import pytest
import torch
from torch._dynamo import config as dynamo_config
from torch._guards import TracingContext, tracing
from torch.fx import Graph, GraphModule
from torch.fx._lazy_graph_module import _LazyGraphModule

from xductor.backend import stages
from xductor.backend.fx.lazy_code import write_code_lazily


def relu_of(weight: torch.Tensor | None = None) -> GraphModule:
    graph = Graph()
    x = graph.placeholder("x")
    if weight is not None:
        x = graph.call_function(torch.ops.aten.mul.Tensor, (x, graph.get_attr("weight")))
    graph.output(graph.call_function(torch.ops.aten.relu.default, (x,)))
    root = torch.nn.Module()
    root.weight = weight
    return GraphModule(root, graph)


def lazily(gm: GraphModule) -> GraphModule:
    with tracing(TracingContext(None)):
        write_code_lazily(gm)
    return gm


def test_it_computes_before_and_after_a_change():
    x, weight = torch.tensor([-1.0, 2.0]), torch.tensor([3.0, -3.0])
    gm = relu_of(weight)
    code = gm.code
    assert isinstance(lazily(gm), _LazyGraphModule)
    assert gm.code == code
    assert torch.equal(gm._wrapped_call(gm, x), torch.relu(x * weight))
    assert torch.equal(gm(x), torch.relu(x * weight))
    (relu,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    relu.target = torch.ops.aten.neg.default
    with mock.patch.object(Graph, "python_code", side_effect=AssertionError("written too early")):
        gm.recompile()
    assert torch.equal(gm(x), -(x * weight))
    assert "aten.neg" in gm.code
    assert "aten.relu" not in gm.code
    assert "neg" in str(gm)


@pytest.mark.parametrize("written", [False, True])
def test_copies_and_pickles_compute(written: bool):
    x, weight = torch.tensor([-1.0, 2.0]), torch.tensor([3.0, -3.0])
    gm = lazily(relu_of(weight))
    gm.recompile()
    expected = torch.relu(x * weight)
    if written:
        gm(x)
    assert type(gm).__name__ == type(relu_of()).__name__
    for same in (copy.copy(gm), copy.deepcopy(gm), pickle.loads(pickle.dumps(gm))):
        assert torch.equal(same(x), expected)


def test_two_modules_keep_code_of_their_own():
    x = torch.tensor([-1.0, 2.0])
    first, second = lazily(relu_of()), lazily(relu_of(torch.tensor([-1.0, -1.0])))
    first.recompile()
    second.recompile()
    assert torch.equal(first(x), torch.relu(x))
    assert torch.equal(second(x), torch.relu(-x))


class Derived(GraphModule):
    pass


@pytest.mark.parametrize("why", ["no compile", "derived", "turned off", "lazy already"])
def test_it_is_left_as_it_is(why: str):
    gm = relu_of()
    if why == "derived":
        gm = Derived(gm, gm.graph)
    elif why == "lazy already":
        gm = _LazyGraphModule(gm, gm.graph)
    before = type(gm)
    if why == "no compile":
        write_code_lazily(gm)
    elif why == "turned off":
        with dynamo_config.patch(use_lazy_graph_module=False):
            lazily(gm)
    else:
        lazily(gm)
    assert type(gm) is before


def test_a_backward_is_compiled_without_writing_its_code():
    kinds: list[tuple[bool, bool]] = []
    stage = stages.post_grad_passes

    def watched(gm: GraphModule, is_inference: bool) -> None:
        with mock.patch.object(GraphModule, "recompile", side_effect=AssertionError("written")):
            before = isinstance(gm, _LazyGraphModule)
            stage(gm, is_inference)
        kinds.append((before, isinstance(gm, _LazyGraphModule)))

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.0), torch.nn.GELU())
    x = torch.randn(3, 4, requires_grad=True)
    (expected,) = torch.autograd.grad(model(x).sum(), x)
    with mock.patch.object(stages, "post_grad_passes", watched):
        found = torch.compile(model, backend="xductor")(x)
        (gradient,) = torch.autograd.grad(found.sum(), x)
    assert [after for _, after in kinds] == [True, True]
    assert not all(before for before, _ in kinds)  # else there would be nothing to do
    torch.testing.assert_close(gradient, expected)
