"""`chain_random_ops_ordering`: random ops wait for each other, in Inductor's form."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._inductor.fx_passes import post_grad
from torch.fx.experimental.proxy_tensor import make_fx

from tests.corpus.graph_comparison import compare_graphs
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import parse_ir, print_ir, same, verify
from xductor.transforms.random.chain_random_ops_ordering import ChainRandomOpsOrdering

aten = torch.ops.aten


def _draws(x: Any) -> Any:
    """One of a kind, one with two results, one that reads the number drawn before it."""
    a = torch.rand_like(x)
    b = torch.rand(x.shape)
    c, mask = aten.native_dropout(a, 0.5, True)
    return a + b, c, mask, torch.bernoulli(x.sigmoid())


def _one_draw(x: Any) -> Any:
    return torch.rand_like(x) + x


def _stock(gm: torch.fx.GraphModule) -> None:
    with inductor_config.patch(fallback_random=True):
        post_grad._chain_random_ops_for_ordering(gm.graph)
    gm.recompile()


@pytest.mark.parametrize("mode", ["fake", "symbolic"])
def test_as_inductor(mode: Any) -> None:
    gm, stock = (make_fx(_draws, tracing_mode=mode)(torch.ones(3)) for _ in range(2))
    assert ChainRandomOpsOrdering.may_apply(gm.graph)
    module = from_fx(gm, "post_grad", subgraphs="declare")
    assert ChainRandomOpsOrdering().rewrite(module) == 3
    verify(module, "types")
    assert same(parse_ir(print_ir(module)), module)
    to_fx(module, into=gm)
    gm.graph.lint()
    _stock(stock)
    assert compare_graphs(gm, stock).equal
    x = torch.full((4 if mode == "symbolic" else 3,), 0.5)
    results = []
    for function in (gm, _draws):
        torch.manual_seed(5)
        results.append(function(x))
    for found, expected in zip(*results, strict=True):
        assert torch.equal(found, expected)


def test_values_in_the_bodies() -> None:
    """Code generation reads them; they live in the fake mode of the graph."""
    gm = make_fx(_draws, tracing_mode="symbolic")(torch.ones(3))
    (x,) = gm.graph.find_nodes(op="placeholder")
    mode = x.meta["val"].fake_mode
    for node in gm.graph.nodes:
        node.meta["stack_trace"] = f'File "model.py", line {len(node.name)}'
    module = from_fx(gm, "post_grad")
    ChainRandomOpsOrdering().rewrite(module)
    to_fx(module, into=gm)
    children = list(gm.children())
    assert len(children) == 3
    for child in children:
        for node in child.graph.nodes:  # type: ignore[union-attr]
            values = node.meta["val"]
            for value in values if isinstance(values, tuple) else (values,):
                assert getattr(value, "fake_mode", mode) is mode
            assert node.op != "call_function" or "model.py" in node.meta["stack_trace"]
    shape_env = mode.shape_env
    assert not shape_env.guards


def test_one_draw_waits_for_nobody(trace: Any, special: Any) -> None:
    case = trace(_one_draw, special(3), stage="post_grad")
    assert not ChainRandomOpsOrdering.may_apply(case.gm.graph)
    assert case.run(ChainRandomOpsOrdering()) == 0


def test_names_that_are_taken() -> None:
    gm = make_fx(_draws, tracing_mode="fake")(torch.ones(3))
    gm.subgraph_rand = torch.nn.Identity()
    module = from_fx(gm, "post_grad")
    assert ChainRandomOpsOrdering().rewrite(module) == 3
    to_fx(module, into=gm)
    assert isinstance(gm.subgraph_rand, torch.nn.Identity)
    assert hasattr(gm, "subgraph_rand_0")


def test_a_failure_leaves_the_graph_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from xductor.backend.fx import reconcile

    def fail(*_: Any) -> None:
        raise ZeroDivisionError("recording fails on purpose")

    gm = make_fx(_draws, tracing_mode="fake")(torch.ones(3))
    module = from_fx(gm, "post_grad")
    ChainRandomOpsOrdering().rewrite(module)
    before, nodes = str(gm.graph), list(gm.graph.nodes)
    monkeypatch.setattr(reconcile, "record_new_values", fail)
    with pytest.raises(ZeroDivisionError):
        to_fx(module, into=gm)
    assert list(gm.graph.nodes) == nodes
    assert str(gm.graph) == before
    assert not list(gm.children())


def test_a_fresh_module() -> None:
    module = from_fx(make_fx(_draws, tracing_mode="fake")(torch.ones(3)), "post_grad")
    ChainRandomOpsOrdering().rewrite(module)
    fresh = to_fx(module)
    torch.manual_seed(5)
    found = fresh(torch.ones(3))
    torch.manual_seed(5)
    assert torch.equal(found[0], _draws(torch.ones(3))[0])
