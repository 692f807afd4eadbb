"""Inductor's own steps do not run on a graph that holds nothing they act on, and run on others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._inductor import pattern_matcher
from torch._inductor.fx_passes import post_grad
from torch._inductor.fx_passes import reinplace as stock_reinplace
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend import stages
from xductor.backend.records import stage_records
from xductor.backend.steps import stock

aten = torch.ops.aten

Function = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def _library() -> Iterator[None]:
    library = torch.library.Library("xductor_idle_steps", "DEF")
    library.define("fill(Tensor(a!) x) -> ()")
    library.impl("fill", lambda x: None, "CompositeExplicitAutograd")
    yield
    library._destroy()


def _inference(function: Function, *inputs: torch.Tensor) -> torch.fx.GraphModule:
    return make_fx(function, tracing_mode="fake")(*inputs)


def _plain(x: torch.Tensor) -> Any:
    return (x.sin().cos(),)


def _index_put(x: torch.Tensor) -> Any:
    index = torch.ops.aten.argmax.default(x)
    return (aten.index_put.default(x.sin(), [index.view(1)], x.sum()),)


def _functionalized(x: torch.Tensor) -> Any:
    op = torch.ops.xductor_idle_steps.fill.default
    returned = torch.ops.higher_order.auto_functionalized(op, x=x.sin())
    return (returned[1],)


def _scan(x: torch.Tensor) -> Any:
    from torch._higher_order_ops.scan import scan

    return scan(lambda a, b: (a + b, a.clone()), x[0], x, dim=0)


def _sine(one: Any, *_: Any) -> Any:
    return one.sin()


def _map(x: torch.Tensor) -> Any:
    from torch._higher_order_ops.map import map as mapped

    return (mapped(_sine, x),)


STEPS = (
    "reinplace",
    "decompose_auto_functionalized",
    "decompose_scan_to_while_loop",
    "decompose_map_to_while_loop",
    "decompose_triton_kernel_wrapper_functional",
    "fix_auto_functionalized_dtype_views",
)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions of Inductor's that ran, seen inside of them: by name."""
    names: list[str] = []
    for name in STEPS:
        reference = "reinplace_inplaceable_ops" if name == "reinplace" else name
        function = getattr(post_grad, reference)

        def told(*args: Any, function: Any = function, name: str = name) -> Any:
            names.append(name)
            return function(*args)

        told.__module__ = function.__module__  # still Inductor's, for who asks
        monkeypatch.setattr(post_grad, reference, told)
    return names


def _post_grad(gm: torch.fx.GraphModule) -> Any:
    with stage_records.record() as records:
        stages.post_grad_passes(gm, True)
    return records[0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_plain, set()),
        (_index_put, set()),  # passes of ours act on them
        (_functionalized, set()),
    ],
)
def test_what_runs_is_what_has_a_target(
    function: Function, expected: set[str], ran: list[str]
) -> None:
    _post_grad(_inference(function, torch.randn(3)))
    assert set(ran) == expected


def _loops(gm: torch.fx.GraphModule) -> set[str]:
    names = {str(node.target) for node in gm.graph.nodes}
    return names & {"scan", "map_impl", "while_loop"}


@pytest.mark.parametrize("function", [_scan, _map])
def test_loops_are_ours(function: Function, stage_graphs: Any, ran: list[str]) -> None:
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        graphs = stage_graphs(function, torch.randn(3, 4))  # compiled by Inductor alone
    ran.clear()
    (graph,) = (one for one in graphs if one.stage == "post_grad" and _loops(one.gm))
    gm = graph.run(stages.post_grad_passes)
    assert not {"decompose_scan_to_while_loop", "decompose_map_to_while_loop"} & set(ran)
    assert _loops(gm) == {"while_loop"}


def _add_index_put(graph: torch.fx.Graph) -> None:
    """Turns `sin` into a write of one element, as a user's pass might."""
    (node,) = graph.find_nodes(op="call_function", target=aten.sin.default)
    (last,) = graph.find_nodes(op="call_function", target=aten.cos.default)
    value = node.meta["val"]
    with graph.inserting_before(last), value.fake_mode:
        index = graph.call_function(aten.full.default, ([1], 0), {"dtype": torch.int64})
        index.meta["val"] = aten.full.default([1], 0, dtype=torch.int64)
        one = graph.call_function(aten.full.default, ([1], 1.0))
        one.meta["val"] = aten.full.default([1], 1.0)
        put = graph.call_function(aten.index_put.default, (node, [index], one))
        put.meta["val"] = torch.empty_like(value)
    last.args = (put,)


@pytest.mark.parametrize("hook", ["post_grad_custom_pre_pass", "post_grad_custom_post_pass"])
def test_a_target_that_a_hook_adds(hook: str, ran: list[str]) -> None:
    gm = _inference(_plain, torch.randn(3))
    with inductor_config.patch({hook: _add_index_put}):
        _post_grad(gm)
    assert ran == []
    assert gm.graph.find_nodes(op="call_function", target=aten.index_put_.default)


def test_a_target_that_an_earlier_step_adds(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern of a user's, in the last of the tables, puts it there."""
    table = post_grad.pass_patterns[2]
    monkeypatch.setattr(table, "patterns", type(table.patterns)(list, table.patterns))

    @pattern_matcher.register_graph_pattern(
        pattern_matcher.CallFunction(aten.sin.default, pattern_matcher.KeywordArg("x")),
        pass_dict=table,  # type: ignore[arg-type]
    )
    def put(match: Any, x: Any) -> None:
        _add_index_put(match.graph)

    gm = _inference(_plain, torch.randn(3))
    _post_grad(gm)
    assert ran == []
    assert gm.graph.find_nodes(op="call_function", target=aten.index_put_.default)


def test_a_target_within_a_body(ran: list[str]) -> None:
    gm = _inference(_plain, torch.randn(3))
    gm.add_submodule("body", _inference(_functionalized, torch.randn(3)))
    _post_grad(gm)
    assert "decompose_auto_functionalized" in ran


def test_an_attribute_that_nobody_uses(ran: list[str]) -> None:
    gm = _inference(_plain, torch.randn(3))
    gm.register_buffer("unused", torch.ones(1))
    (x,) = gm.graph.find_nodes(op="placeholder")
    with gm.graph.inserting_after(x):
        gm.graph.get_attr("unused")
    _post_grad(gm)
    assert "decompose_auto_functionalized" in ran
    assert not gm.graph.find_nodes(op="get_attr")


def test_an_op_that_somebody_registers_as_one_to_have_in_place(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registries are read as they are when the step comes."""
    own = stock_reinplace.InplaceableOp(aten.cos_.default, 0)
    monkeypatch.setitem(stock_reinplace.inplaceable_ops, aten.cos.default, own)
    gm = _inference(_plain, torch.randn(3))
    _post_grad(gm)
    assert "reinplace" in ran
    assert gm.graph.find_nodes(op="call_function", target=aten.cos_.default)


@pytest.mark.parametrize("name", [name for name in STEPS if name != "reinplace"])
def test_somebody_elses_function_always_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    monkeypatch.setattr(post_grad, name, called.append)
    _post_grad(_inference(_plain, torch.randn(3)))
    assert len(called) == 1


class TestTables:
    """A table of patterns is applied where an entry could begin at a node."""

    @pytest.fixture
    def applied(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        applied: list[Any] = []
        matcher = pattern_matcher.PatternMatcherPass
        function = matcher.apply

        def apply(self: Any, graph: Any) -> int:
            applied.append(self.pass_name)
            return function(self, graph)

        apply.__module__ = function.__module__
        monkeypatch.setattr(matcher, "apply", apply)
        return applied

    @staticmethod
    def _swept(record: Any) -> set[str]:
        return {one.name for one in record.passes if one.name.startswith("pass_pattern_")}

    def test_no_entry_could_begin(self, applied: list[Any]) -> None:
        assert self._swept(_post_grad(_inference(_plain, torch.randn(3)))) == set()
        assert applied == []

    def test_an_entry_could(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """All of it has to be there; what typed passes have changed until then counts."""
        table = post_grad.pass_patterns[1]
        monkeypatch.setattr(table, "patterns", type(table.patterns)(list, table.patterns))
        pattern_matcher.register_graph_pattern(
            pattern_matcher.CallFunction(
                aten.cos.default,
                pattern_matcher.CallFunction(aten.sin.default, pattern_matcher.KeywordArg("x")),
            ),
            pass_dict=table,  # type: ignore[arg-type]
        )(lambda match, x: None)
        for function, expected in (
            (lambda x: (x.sin().cos(),), {"pass_pattern_1"}),
            (lambda x: (aten.clone(x.sin()).cos(),), {"pass_pattern_1"}),
            (lambda x: (x.cos().sin(),), set()),
        ):
            record = _post_grad(_inference(function, torch.randn(3)))
            assert self._swept(record) == expected

    def test_products_are_not_onednns_yet(self) -> None:
        record = _post_grad(_inference(lambda x: ((x @ x + x).relu(),), torch.randn(3, 3)))
        assert self._swept(record) == set()

    @pytest.mark.parametrize("number", [0, 2])
    def test_a_users_entry_runs(self, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is found in the live table, also if it came after a graph was compiled."""
        _post_grad(_inference(_plain, torch.randn(3)))
        table = post_grad.pass_patterns[number]
        monkeypatch.setattr(table, "patterns", type(table.patterns)(list, table.patterns))
        matched: list[Any] = []

        @pattern_matcher.register_graph_pattern(
            pattern_matcher.CallFunction(aten.cos.default, pattern_matcher.KeywordArg("x")),
            pass_dict=table,  # type: ignore[arg-type]
        )
        def own(match: Any, x: Any) -> None:
            matched.append(x)

        assert self._swept(_post_grad(_inference(_plain, torch.randn(3))))
        assert len(matched) == 1

    def test_a_table_with_another_apply_always_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        swept: list[Any] = []
        table = post_grad.pass_patterns[2]
        monkeypatch.setattr(table, "apply", lambda graph: swept.append(graph) or 0)
        _post_grad(_inference(_plain, torch.randn(3)))
        assert len(swept) == 1


def test_a_missing_registry_means_that_the_step_runs(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = stock.lookup
    gone = "reinplace:inplaceable_foreach_ops"
    monkeypatch.setattr(stock, "lookup", lambda name: None if name == gone else lookup(name))
    _post_grad(_inference(_plain, torch.randn(3)))
    assert ran == ["reinplace"]
