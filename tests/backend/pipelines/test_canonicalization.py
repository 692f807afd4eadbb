"""Quantised calls come out of the joint stage as Inductor's own pass leaves them."""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._higher_order_ops import InvokeQuant, invoke_quant
from torch._inductor.fx_passes import joint_graph

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.fx.export import to_fx
from xductor.backend.records import stage_records
from xductor.backend.stage_runs import failures
from xductor.backend.steps import typed_steps
from xductor.frontend import from_fx
from xductor.ir import parse_ir, print_ir, same, verify
from xductor.transforms.joint_graph.canonicalize_quant_mapping import CanonicalizeQuantMapping

_PACKED = torch.ops.higher_order.invoke_quant_packed
_CALL = invoke_quant


def _body(x: Any, y: Any) -> Any:
    return torch.mul(x, y) + y


def _two(x: Any, y: Any) -> Any:
    return torch.mul(x, y) + y, y * 2


def _single(x: Any) -> Any:
    return InvokeQuant(codegen_low_precision=False)(_body, x, x + 1, scheme="nf4") @ x


def _default_options(x: Any) -> Any:
    return InvokeQuant()(_body, x, x + 1) @ x


def _several_results(x: Any) -> Any:
    a, b = InvokeQuant()(_two, x, x + 1, scheme="nf4")
    return a @ b


def _several_calls(x: Any) -> Any:
    once = InvokeQuant(codegen_low_precision=False)(_body, x, x + 1, scheme="nf4")
    return once @ InvokeQuant()(_body, x, once, scheme="int4")


FUNCTIONS = [_single, _default_options, _several_results, _several_calls]


def _joint(stage_graphs: Any, function: Any, dynamic: bool = False) -> Any:
    graphs = stage_graphs(function, torch.rand(8, 8), dynamic=dynamic)
    (graph,) = [one for one in graphs if one.stage == "joint" and _has_calls(one.gm)]
    return graph


def _has_calls(gm: torch.fx.GraphModule) -> bool:
    return bool(gm.graph.find_nodes(op="call_function", target=_PACKED))


def _calls(gm: torch.fx.GraphModule) -> list[Any]:
    """The quantised calls: keywords, options, body, type of the value, who uses it."""
    found: list[Any] = []
    for node in gm.graph.find_nodes(op="call_function", target=_CALL):
        body: Any = getattr(gm, node.args[0].target)
        value = node.meta.get("val")
        found.append(
            (
                dict(node.kwargs),
                node.meta["quant_options"],
                [str(inner.target) for inner in body.graph.nodes if inner.op == "call_function"],
                type(body.graph.output_node().args[0]) is torch.fx.Node,
                None if value is None or isinstance(value, tuple) else (value.shape, value.dtype),
                [user.target is operator.getitem for user in node.users],
            )
        )
    return found


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_as_inductor(function: Any, dynamic: bool, stage_graphs: Any) -> None:
    graph = _joint(stage_graphs, function, dynamic)
    with settings.use(settings.Settings(numerics="fast", on_error="raise", verify="stage")):
        ours = graph.run(stages.joint_graph_passes)
    assert [one.kind for one in stage_records.recent()[-1].passes if "canonical" in one.name] == [
        "typed"
    ]
    stock = graph.run(joint_graph.joint_graph_passes)
    assert not _has_calls(ours)
    assert _calls(ours) == _calls(stock)
    assert Counter(node.op for node in ours.graph.nodes) == Counter(
        node.op for node in stock.graph.nodes
    )
    x = torch.rand(8, 8)
    inputs = (8, x) if dynamic else (x,)
    placeholders = len(ours.graph.find_nodes(op="placeholder"))
    found = torch.fx.Interpreter(ours).run(*inputs[-placeholders:])
    expected = torch.fx.Interpreter(stock).run(*inputs[-placeholders:])
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)


def test_values_live_in_the_fake_mode_of_the_graph(stage_graphs: Any) -> None:
    gm = _joint(stage_graphs, _single).run(stages.joint_graph_passes)
    (x,) = gm.graph.find_nodes(op="placeholder")
    (call,) = gm.graph.find_nodes(op="call_function", target=_CALL)
    for node in (call, *getattr(gm, call.args[0].target).graph.nodes):
        if node.op != "output":
            assert node.meta["val"].fake_mode is x.meta["val"].fake_mode
            assert node.op == "placeholder" or node.meta["stack_trace"]


def test_text_holds_the_options(stage_graphs: Any) -> None:
    gm = _joint(stage_graphs, _single).gm
    module = from_fx(gm, "joint")
    verify(module, "stage")
    assert CanonicalizeQuantMapping().rewrite(module) == 1
    verify(module, "stage")
    text = print_ir(module)
    assert 'quant_options = "{\\"codegen_low_precision\\": false}"' in text
    parsed = parse_ir(text)
    assert same(parsed, module)
    (call,) = to_fx(parsed).graph.find_nodes(op="call_function", target=_CALL)
    assert call.meta["quant_options"] == InvokeQuant(codegen_low_precision=False)


def test_a_body_that_holds_a_constant_is_left_to_inductor(stage_graphs: Any) -> None:
    graph = _joint(stage_graphs, _single)
    body = graph.gm.subgraph0
    body.register_buffer("held", torch.ones(8, 8))
    (add,) = body.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)
    with body.graph.inserting_before(add):
        held = body.graph.get_attr("held")
    held.meta["val"] = add.meta["val"]
    add.args = (add.args[0], held)
    gm = graph.run(stages.joint_graph_passes)
    assert not _has_calls(gm)
    assert "canonicalize_aten_ir_passes" in [one.name for one in stage_records.recent()[-1].passes]


@pytest.mark.parametrize("how", ["disabled", "bridged", "broken"])
def test_inductors_own_in_its_place(
    how: str, stage_graphs: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Code generation cannot do without."""

    def fail(*_: Any) -> int:
        raise ZeroDivisionError("on purpose")

    graph = _joint(stage_graphs, _single)
    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    if how == "broken":
        monkeypatch.setattr(CanonicalizeQuantMapping, "rewrite", fail)
        with (
            settings.use(settings.Settings(on_error="fallback")),
            pytest.warns(UserWarning, match="canonicalize_quant_mapping"),
        ):
            gm = graph.run(stages.joint_graph_passes)
    elif how == "bridged":
        with typed_steps.all_bridged():
            gm = graph.run(stages.joint_graph_passes)
    else:
        disabled = frozenset({"canonicalize_quant_mapping"})
        with settings.use(settings.Settings(disabled_passes=disabled)):
            gm = graph.run(stages.joint_graph_passes)
    assert not _has_calls(gm)
    assert _calls(gm) == _calls(graph.run(joint_graph.joint_graph_passes))


def test_what_the_step_lowers_is_counted_and_verified(
    stage_graphs: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    graph = _joint(stage_graphs, _single)
    with inductor_config.patch(joint_graph_constant_folding=False, pattern_matcher=False):
        graph.run(stages.joint_graph_passes)
        assert stage_records.recent()[-1].lowered == 1
        (call,) = graph.gm.graph.find_nodes(op="call_function", target=_PACKED)
        (held,) = [node for node in call.args if node.op != "get_attr"][:1]
        held.meta["val"] = held.meta["val"].new_empty(7, 7)
        wrong = settings.Settings(verify="types", on_error="raise")
        with settings.use(wrong), pytest.raises(failures.StageError, match="metadata is stale"):
            graph.run(stages.joint_graph_passes)


def test_graphs_without_such_calls_are_not_lowered(stage_graphs: Any) -> None:
    (graph,) = [
        one for one in stage_graphs(lambda x: x @ x, torch.rand(8, 8)) if one.stage == "joint"
    ]
    with inductor_config.patch(joint_graph_constant_folding=False):
        graph.run(stages.joint_graph_passes)
    record = stage_records.recent()[-1]
    assert record.lowered == 0
    assert not [one for one in record.passes if "canonical" in one.name]


def test_compiled() -> None:
    torch._dynamo.reset()
    x = torch.rand(8, 8)
    options: dict[str, Any] = {"xductor.on_error": "raise"}
    with inductor_config.patch(force_disable_caches=True):
        found = torch.compile(_single, backend="xductor", options=options)(x)
    torch.testing.assert_close(found, _single(x))
