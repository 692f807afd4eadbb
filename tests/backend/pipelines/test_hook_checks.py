"""With `verify="types"` or `"stage"`, what a user's hook leaves is checked in its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._inductor.virtualized import V
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stage_runs.failures import FallbackWarning, StageError
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import runner, value_updates

aten = torch.ops.aten
HOOKS = (
    "joint_custom_pre_pass",
    "joint_custom_post_pass",
    "post_grad_custom_pre_pass",
    "post_grad_custom_post_pass",
)
Hook = Callable[[torch.fx.Graph], None]


def _turned(x: Any) -> Any:
    return (x + 1).t().t().relu()


LINE = inspect.getsourcelines(_turned)[1] + 1


def _plain(x: Any) -> Any:
    return x + 1


def _sum_in_place(graph: torch.fx.Graph) -> None:
    """The value of the node is that of the addition it was."""
    for node in graph.find_nodes(op="call_function", target=aten.add.Tensor):
        node.target, node.args = aten.sum.default, node.args[:1]


def _put(graph: torch.fx.Graph, target: Any, *rest: Any) -> None:
    """Calls of `target` for additions, without values."""
    for node in graph.find_nodes(op="call_function", target=aten.add.Tensor):
        with graph.inserting_before(node):
            new = graph.call_function(target, (node.args[0], *rest))
        node.replace_all_uses_with(new)
        graph.erase_node(node)


def _sum_without_value(graph: torch.fx.Graph) -> None:
    _put(graph, aten.sum.default)


def _sub_without_value(graph: torch.fx.Graph) -> None:
    _put(graph, aten.sub.Tensor, -1)


def _permute_without_value(graph: torch.fx.Graph) -> None:
    _put(graph, aten.permute.default, [0, 1, 2])


def _traced() -> torch.fx.GraphModule:
    def function(x: Any) -> Any:
        return aten.permute.default(x + 1, [1, 0]).relu()

    return make_fx(function, tracing_mode="fake")(torch.ones(4, 5))


def _compiled(function: Any, hook: str, passed: Any, **options: str) -> Any:
    given: Any = {f"xductor.{name}": value for name, value in options.items()}
    with without_codegen(), inductor_config.patch({hook: passed}):
        return torch.compile(function, backend="xductor", options=given)(torch.ones(4, 5))


def _refused(function: Any, hook: str, passed: Hook, level: str = "types") -> str:
    """The text of the error, which must name the hook."""
    with pytest.raises(Exception, match=f"{hook} failed in the") as caught:
        _compiled(function, hook, passed, verify=level, on_error="raise")
    return str(caught.value)


@pytest.mark.parametrize("level", ["types", "stage"])
@pytest.mark.parametrize("hook", HOOKS)
def test_a_recorded_value_that_is_no_longer_true(hook: str, level: str) -> None:
    text = _refused(_turned, hook, _sum_in_place, level)
    assert "aten.sum.default (node add)" in text
    assert "expected: !fx.tensor<f32[], cpu>" in text
    assert "found:    !fx.tensor<f32[4, 5], cpu>" in text
    assert f"user code: {__file__}:{LINE}" in text


def test_a_value_that_is_not_recorded_is_computed() -> None:
    """What uses it is then wrong."""
    text = _refused(_turned, "joint_custom_pre_pass", _sum_without_value)
    assert "aten.permute.default (node permute): the op cannot be applied" in text
    assert "Dimension out of range" in text


@pytest.mark.parametrize("hook", HOOKS)
def test_outputs_of_other_types(hook: str) -> None:
    text = _refused(_plain, hook, _sum_without_value)
    assert f"output 0 is of another rank than before {hook}" in text


def test_a_call_without_value_that_cannot_be_applied() -> None:
    text = _refused(_turned, "joint_custom_post_pass", _permute_without_value)
    assert "permute_default' (call_function permute.default): it cannot be applied" in text
    assert "tensor<4x5xfloat32>" in text


@pytest.mark.parametrize("level", ["types", "stage"])
@pytest.mark.parametrize("hook", HOOKS)
def test_a_right_graph_passes(hook: str, level: str) -> None:
    found = _compiled(_turned, hook, _sub_without_value, verify=level, on_error="raise")
    torch.testing.assert_close(found, _turned(torch.ones(4, 5)))


def test_the_compile_goes_on_with_a_warning() -> None:
    with pytest.warns(FallbackWarning, match="joint_custom_post_pass failed"):
        _compiled(_plain, HOOKS[1], _sum_in_place, verify="types", on_error="fallback")


def test_nothing_is_checked_by_default() -> None:
    with stage_records.record() as records:
        found = _compiled(_plain, HOOKS[1], _sum_in_place, verify="structure")
    assert found.shape == ()
    assert [record.lowered for record in records if record.stage == "joint"] == [0]


def test_a_graph_that_was_wrong_before_is_not_the_hooks() -> None:
    gm = _traced()
    _sum_in_place(gm.graph)
    now = settings.current().replace(on_error="raise", verify="types")
    with (
        inductor_config.patch(joint_custom_pre_pass=lambda graph: None),
        settings.use(now),
        pytest.raises(StageError, match="verification failed in the joint stage"),
    ):
        stages.joint_graph_passes(gm)


def test_a_step_that_makes_a_call_impossible_is_named_with_the_call() -> None:
    """Values are brought up to date before a graph is lowered, which such a call does not let."""
    gm = _traced()
    mode = next(node.meta["val"].fake_mode for node in gm.graph.nodes)
    now = settings.current().replace(on_error="raise", verify="types")
    with stage_records.stage_record("joint", gm, "joint", "types") as record, V.set_fake_mode(mode):
        run = StageRun("joint", gm, now, record)
        value_updates.watch_edits(run)
        run.bridged("early_patterns", lambda: _sum_in_place(gm.graph))
        with pytest.raises(StageError, match="from_fx failed in the joint stage, after") as caught:
            runner.lowered(run)
    assert "after early_patterns" in str(caught.value)
    assert "aten.permute.default (node permute): the op cannot be applied" in str(caught.value)
