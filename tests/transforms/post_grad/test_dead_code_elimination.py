"""`dead_code_elimination`: what nobody needs goes, what does something stays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.frontend import from_fx
from xductor.ir import entry_graph, verify
from xductor.transforms.post_grad.dead_code_elimination import DeadCodeElimination

aten = torch.ops.aten


def _wrap(lines: str, symbols: str = "") -> str:
    return f"""
        fx.graph @g stage(post_grad) symbols({symbols}) (%x : !fx.tensor<f32[4], cpu>) {{
          {lines}
          %out = aten.neg.default %x : !fx.tensor<f32[4], cpu>
          fx.output (%out)
        }}"""


F4 = "!fx.tensor<f32[4], cpu>"
DEAD = {
    "a pure op": f"%d = aten.sin.default %x : {F4}",
    "a view": f"%d = aten.view.default %x, [4] : {F4}",
    "an op with several results": "%a, %b = aten.split.Tensor %x, 2"
    " : !fx.tensor<f32[2], cpu>, !fx.tensor<f32[2], cpu, offset 2>",
    "an attribute": f'%d = fx.get_attr "weight" : {F4}',
    "a random draw": f"%d = aten.rand_like.default %x : {F4}",
    "memory": f"%d = aten.empty_like.default %x : {F4}",
    "a Python function": f"%d = pyfn._operator.add %x, 1 : {F4}",
    "a method": f"%d = method.sin %x : {F4}",
    "a function that could write to `out`, and does not": f"%d = pyfn.torch.add %x, 1 : {F4}",
    "a functional not in place": f"%d = pyfn.torch.nn.functional.relu %x : {F4}",
}
ALIVE = {
    "an op in place": f"%d = aten.sin_.default %x : {F4}",
    "an `out`": f"%d = aten.sin.out %x, out = %x : {F4}",
    "an assertion": "%s = aten.gt.Scalar %x, 0.0 : !fx.tensor<i1[4], cpu>\n"
    "%a = aten.all.default %s : !fx.tensor<i1[], cpu>\n"
    'aten._assert_async.msg %a, "all are positive"',
    "a method in place": f"%d = method.sin_ %x : {F4}",
    "a functional in place": f"%d = pyfn.torch.nn.functional.relu %x, inplace = true : {F4}",
    "assignment to an item": "%d = pyfn._operator.setitem %x, 0, 1.0 : !fx.none",
    "a mode": "%d = pyfn.torch._C._set_grad_enabled false : !fx.none",
    "a module": f"%d = module.layer %x : {F4}",
}


@pytest.mark.parametrize("what", DEAD)
def test_dead(parse: Any, what: str) -> None:
    case = parse(_wrap(DEAD[what]))
    assert case.run(DeadCodeElimination()) == 1
    assert case.ops == ["aten.neg.default"]


@pytest.mark.parametrize("what", ALIVE)
def test_alive(parse: Any, what: str) -> None:
    case = parse(_wrap(ALIVE[what]))
    assert case.run(DeadCodeElimination()) == 0


def test_chain_goes_in_one_walk(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in range(10):
            y = (y + 1).sin()
        return x * 2

    x = special(3)
    case = trace(f, x, stage="post_grad")
    # make_fx keeps dead calls
    assert case.run(DeadCodeElimination()) == 20
    case.check_values(x)


def test_used_results_stay(trace: Any, special: Any) -> None:
    x = special(4)
    case = trace(lambda x: sum(torch.split(x, 2)), x)
    assert case.run(DeadCodeElimination()) == 0
    case = trace(lambda x: torch.split(x, 2)[1] + 1, x)
    assert case.run(DeadCodeElimination()) == 1  # an item alone
    assert case.ops == ["aten.split.Tensor", "aten.add.Tensor"]
    case.check_values(x)


def test_items_that_nobody_uses(special: Any) -> None:
    """FX has a node for each item of a tuple; the IR has a name for it."""
    from xductor.backend.fx.export import to_fx

    def f(x: Any) -> Any:
        pieces = torch.split(x, 1)
        return pieces[1] + pieces[2]

    gm = make_fx(f, tracing_mode="fake")(special(4))
    split = gm.graph.find_nodes(op="call_function", target=aten.split.Tensor)[0]
    used = [item for item in split.users if item.users]
    with gm.graph.inserting_after(split):
        again = gm.graph.call_function(operator.getitem, (split, 0))
        again.meta["val"] = split.meta["val"][0]
    assert len(split.users) == 5
    before = gm.graph.python_code("self").src
    module = from_fx(gm, "post_grad")
    assert DeadCodeElimination().rewrite(module) == 3
    verify(module, "structure")
    assert DeadCodeElimination().rewrite(module) == 0
    assert gm.graph.python_code("self").src == before
    to_fx(module, into=gm)
    assert list(split.users) == used


def test_draws_count_where_numbers_come_as_in_eager(parse: Any) -> None:
    case = parse(_wrap(DEAD["a random draw"]))
    assert case.run(DeadCodeElimination(fallback_random=True)) == 0


def test_registered_side_effect(parse: Any) -> None:
    registered = torch.fx.node._side_effectful_functions
    assert aten.sin.default not in registered
    torch.fx.node.has_side_effect(aten.sin.default)
    try:
        assert parse(_wrap(DEAD["a pure op"])).run(DeadCodeElimination()) == 0
    finally:
        registered.discard(aten.sin.default)


def test_effectful_custom_op(trace: Any) -> None:
    with torch.library._scoped_library("xductor_dce", "FRAGMENT") as library:
        library.define("note(Tensor x) -> Tensor")
        library.impl("note", lambda x: x.clone(), "CompositeExplicitAutograd")

        def f(x: Any) -> Any:
            torch.ops.xductor_dce.note(x)
            return x + 1

        x = torch.ones(2)
        torch.fx.node.has_side_effect(torch.ops.xductor_dce.note.default)
        try:
            assert trace(f, x).run(DeadCodeElimination()) == 0
        finally:
            torch.fx.node._side_effectful_functions.discard(torch.ops.xductor_dce.note.default)
        case = trace(f, x)
        assert case.run(DeadCodeElimination()) == 1


# ------------------------------------------------------------------------- unbacked symbols

NONZERO = """
    fx.graph @g stage(post_grad)
        symbols(u0 : int unbacked size_like [0, int_oo]{more}) (%x : !fx.tensor<f32[4], cpu>) {{
      %n = aten.nonzero.default %x : !fx.tensor<i64[u0, 1][1, u0], cpu>
        {{unbacked_bindings = "u0 = .size()[0]"}}
      {lines}
      %out = aten.neg.default %x : !fx.tensor<f32[4], cpu>
      fx.output (%out{output})
    }}"""


def test_binder_of_a_symbol_that_nothing_mentions(parse: Any) -> None:
    case = parse(NONZERO.format(lines="", output="", more=""))
    assert case.run(DeadCodeElimination()) == 1
    assert case.ops == ["aten.neg.default"]


def test_binder_of_a_symbol_that_a_later_type_mentions(parse: Any) -> None:
    full = "%f = aten.full.default [sym<u0>], 1.0 : !fx.tensor<f32[u0], cpu>"
    case = parse(NONZERO.format(lines=full, output=", %f", more=""))
    assert case.run(DeadCodeElimination()) == 0


def test_binder_and_the_dead_op_that_mentions_its_symbol(parse: Any) -> None:
    full = "%f = aten.full.default [sym<u0>], 1.0 : !fx.tensor<f32[u0], cpu>"
    case = parse(NONZERO.format(lines=full, output="", more=""))
    assert case.run(DeadCodeElimination()) == 2


def test_binder_of_a_symbol_that_another_symbols_range_needs(parse: Any) -> None:
    more = ", u1 : int unbacked [0, u0]"
    case = parse(NONZERO.format(lines="", output="", more=more))
    assert case.run(DeadCodeElimination()) == 0


def test_live_unbacked_symbol(trace: Any) -> None:
    def f(x: Any) -> Any:
        n = x.sum().to(torch.int64).item()
        torch._check(n >= 0)
        torch.nonzero(x)
        return torch.ones(n, 2)

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        case = trace(f, torch.ones(4), dynamic=True, stage="post_grad")
    case.run(DeadCodeElimination())
    assert "aten.nonzero.default" not in case.ops
    assert "aten._local_scalar_dense.default" in case.ops
    verify(case.module, "structure")


# ------------------------------------------------------------------------- higher-order ops


def _with_cond(call_dead: bool, body: Callable[[Any], Any]) -> torch.fx.GraphModule:
    """A graph that calls `cond`, whose result is used or not."""
    root = torch.nn.Module()
    x = torch.ones(3)
    fake = make_fx(body, tracing_mode="fake")(x)
    root.true_graph_0, root.false_graph_0 = fake, make_fx(torch.sin, tracing_mode="fake")(x)
    value = next(node.meta["val"] for node in fake.graph.nodes if node.op == "placeholder")
    with value.fake_mode:
        predicate, copy = torch.empty((), dtype=torch.bool), torch.empty(3)
    graph = torch.fx.Graph()
    first, second = graph.placeholder("p"), graph.placeholder("x")
    first.meta["val"], second.meta["val"] = predicate, copy
    branches = [graph.get_attr("true_graph_0"), graph.get_attr("false_graph_0")]
    called = graph.call_function(torch.ops.higher_order.cond, (first, *branches, (second,)))
    called.meta["val"] = (copy,)
    item = graph.call_function(operator.getitem, (called, 0))
    item.meta["val"] = copy
    graph.output((item if not call_dead else second,))
    if call_dead:
        graph.erase_node(item)
    return torch.fx.GraphModule(root, graph)


def _writes(x: Any) -> Any:
    x.add_(1)
    return x * 2


def _draws(x: Any) -> Any:
    return x + torch.rand(3)


@pytest.mark.parametrize(
    ("body", "options", "removed"),
    [
        (torch.cos, {}, 1),
        (_writes, {}, 0),
        (_draws, {}, 1),
        (_draws, {"fallback_random": True}, 0),
    ],
)
def test_bodies_are_looked_at(body: Any, options: dict[str, bool], removed: int) -> None:
    module = from_fx(_with_cond(True, body), "post_grad")
    assert DeadCodeElimination(**options).rewrite(module) == removed
    verify(module, "structure")


def test_used_call_stays() -> None:
    module = from_fx(_with_cond(False, torch.cos), "post_grad")
    assert DeadCodeElimination().rewrite(module) == 0


def test_declared_bodies_are_what_fx_says() -> None:
    module = from_fx(_with_cond(True, torch.cos), "post_grad", subgraphs="declare")
    assert DeadCodeElimination().rewrite(module) == 1


def test_declared_bodies_in_text_stay(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(post_grad) symbols()
            (%p : !fx.tensor<i1[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
          %r = higher_order.cond %p, @a, @b, (%x,) : !fx.tensor<f32[3], cpu> as (*,)
          fx.output (%x)
        }
        fx.graph @a stage(post_grad) symbols() () declared
        fx.graph @b stage(post_grad) symbols() () declared""")
    assert case.run(DeadCodeElimination()) == 0


# -------------------------------------------------------------------------------------- parity


def _many(x: Any) -> Any:
    a, b = torch.split(x, 2)
    torch.softmax(a @ b.t(), -1)
    y = x.clone()
    y.add_(1)
    torch.rand(3)
    torch.arange(4)[1:].float()
    return a + 1, y


def test_parity_with_fx() -> None:
    x = torch.randn(4, 4)
    gm = make_fx(_many, tracing_mode="fake")(x)
    before = len(gm.graph.nodes)
    module = from_fx(gm, "post_grad")
    stock = make_fx(_many, tracing_mode="fake")(x)
    stock.graph.eliminate_dead_code(lambda node: node.is_impure(False))
    removed = before - len(stock.graph.nodes)
    assert DeadCodeElimination().rewrite(module) == removed > 0

    from xductor.backend.fx.export import to_fx

    to_fx(module, into=gm)
    assert [node.name for node in gm.graph.nodes] == [node.name for node in stock.graph.nodes]


def test_prefilter() -> None:
    alive = make_fx(lambda x: x + 1)(torch.ones(2))
    assert not DeadCodeElimination.may_apply(alive.graph)
    dead = make_fx(lambda x: (x.sin(), x + 1)[1])(torch.ones(2))
    assert DeadCodeElimination.may_apply(dead.graph)


def test_dead_attributes_of_a_module() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.weight

    gm = torch.fx.symbolic_trace(Model())
    for node in gm.graph.nodes:
        if node.op != "output":
            node.meta["val"] = torch.empty(2, device="meta")
    add = gm.graph.find_nodes(op="call_function", target=operator.add)[0]
    add.args = (add.args[0], 1)
    module = from_fx(gm, "post_grad")
    assert DeadCodeElimination().rewrite(module) == 1
    assert [op.name for op in entry_graph(module).block.ops] == ["pyfn._operator.add", "fx.output"]
