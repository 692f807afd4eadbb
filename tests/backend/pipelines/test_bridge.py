"""Bridged steps: observers, conditions, and graphs of another level."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor.fx_passes import pre_grad

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs.stage_run import StageRun, lacks_values
from xductor.backend.steps import bridge, stock

aten = torch.ops.aten


def _graph() -> torch.fx.GraphModule:
    return torch.fx.symbolic_trace(lambda x: x + 1)


def _run(gm: torch.fx.GraphModule, **changes: Any) -> StageRun:
    record = stage_records.StageRecord("joint", "test", "joint", "structure", len(gm.graph.nodes))
    return StageRun("joint", gm, settings.current(), record, **changes)


def _step(seen: list[str], **conditions: Any) -> bridge.BridgedStep:
    return bridge.BridgedStep("step", lambda run: seen.append(run.stage), **conditions)


@pytest.mark.parametrize(
    ("conditions", "state", "ran"),
    [
        ({}, {}, True),
        ({}, {"degraded": True}, False),
        ({"required": True}, {"degraded": True}, True),
        ({}, {"untyped": True}, False),
        ({"values": False}, {"untyped": True}, True),
        ({"when": lambda run: False}, {}, False),
        ({"needs": "joint_graph:pointless_view"}, {}, True),
        ({"needs": "joint_graph:no_such_pass"}, {}, False),
        ({"needs": "no_such_file:no_such_pass"}, {}, False),
    ],
)
def test_when_a_step_runs(conditions: dict[str, Any], state: dict[str, Any], ran: bool) -> None:
    seen: list[str] = []
    _step(seen, **conditions)(_run(_graph(), **state))
    assert seen == ["joint"] * ran


def test_a_failing_bridged_step_raises_as_in_stock(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a step of Inductor's fails")

    broken.__module__ = "torch._inductor.fx_passes.pre_grad"
    monkeypatch.setattr(pre_grad, "lazy_init", broken)
    with settings.use(settings.Settings()), pytest.raises(ZeroDivisionError):
        stages.pre_grad_passes(_graph())


def test_flags_and_functions_that_this_torch_lacks() -> None:
    assert stock.flag("no_such_option") is False
    assert stock.flag("cpp.no_such_option", "default") == "default"
    assert stock.flag("pattern_matcher") is True
    assert stock.lookup("post_grad:no_such_pass") is None
    assert stock.lookup("no_such_file:no_such_pass") is None
    assert stock.lookup("torch.fx.graph:Graph.eliminate_dead_code") is not None


def test_hooks_are_one_callable_or_several(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._inductor.config as inductor_config

    def hook(graph: torch.fx.Graph) -> None: ...

    for value, expected in ((None, ()), (hook, (hook,)), ([hook, hook], (hook, hook))):
        with inductor_config.patch(joint_custom_pre_pass=value):
            assert stock.hooks("joint_custom_pre_pass") == expected


def test_untyped_graphs_are_recognised() -> None:
    gm = _graph()
    x, call, _ = gm.graph.nodes
    assert lacks_values(gm)
    x.meta["val"] = torch.empty(2)
    assert lacks_values(gm)
    call.meta["val"] = torch.empty(2)
    assert not lacks_values(gm)


def test_graphs_without_anything_to_have_a_value_are_typed() -> None:
    assert not lacks_values(torch.fx.symbolic_trace(lambda x: x))
    gm = _graph()
    x, call, output = gm.graph.nodes
    call.target, call.args = aten._assert_async.msg, (x, "message")
    output.args = (x,)
    assert not lacks_values(gm)


# The three examples of Inductor's documentation: Dynamo's export gives each stage a torch-level
# graph, with values on some nodes at most.


def _export(function: Callable[..., Any], *inputs: torch.Tensor) -> torch.fx.GraphModule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch._dynamo.export(function)(*inputs).graph_module


def _pre_example(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.conv2d(x, torch.randn(1, 1, 3, 3))


def _joint_example(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand_like(x)


def _post_example(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    return y + 1


EXAMPLES = {
    "pre_grad": (_pre_example, torch.arange(25.0).reshape(1, 1, 5, 5)),
    "joint": (_joint_example, torch.arange(2.0)),
    "post_grad": (_post_example, torch.arange(2.0)),
}


def _through(stage: str, gm: torch.fx.GraphModule, x: torch.Tensor) -> torch.fx.GraphModule:
    if stage == "pre_grad":
        return stages.pre_grad_passes(gm, [x])
    if stage == "joint":
        return stages.joint_graph_passes(gm)
    stages.post_grad_passes(gm, is_inference=False)
    return gm


@pytest.mark.parametrize("stage", EXAMPLES)
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_stage_takes_every_example(stage: str, example: str) -> None:
    function, x = EXAMPLES[example]
    gm = _export(function, x)
    before = copy.deepcopy(gm)
    after = _through(stage, gm, x)
    after.graph.lint()
    torch.manual_seed(7)
    expected = before(x)
    torch.manual_seed(7)
    torch.testing.assert_close(after(x), expected)


def test_the_clone_of_the_post_grad_example_goes_away() -> None:
    function, x = EXAMPLES["post_grad"]
    gm = _export(function, x)
    assert any(node.target == "clone" for node in gm.graph.nodes)
    stages.post_grad_passes(gm, is_inference=False)
    assert not any(node.target == "clone" for node in gm.graph.nodes)
    torch.testing.assert_close(gm(x), function(x))
