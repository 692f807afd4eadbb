"""What users put on Inductor's hooks: callables on FX graphs, typed passes, rewrites, lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._inductor.codegen.common import custom_backend_passes
from torch._inductor.custom_graph_pass import CustomGraphPass
from xdsl.dialects.builtin import ModuleOp

import xductor
from tests.backend.user_passes.test_inductor_pass import MmOnce
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.pipelines import joint_graph, post_grad, pre_grad
from xductor.backend.records import stage_records
from xductor.backend.stage_runs.failures import FallbackWarning, StageError
from xductor.backend.user_passes.user_hooks import HookStep
from xductor.ir import entry_graph
from xductor.transforms import Stage, TypedPass
from xductor.transforms.rows import registry

_MM = torch.ops.aten.mm.default
JOINT = ("joint_custom_pre_pass", "joint_custom_post_pass")


class Inexact(MmOnce):
    numerics = "approximate"


class PostGradOnly(MmOnce):
    stage = "post_grad"


@dataclass(frozen=True)
class CountProducts(TypedPass):
    """Changes nothing, and tells how many products there are."""

    name: ClassVar[str] = "count_products"
    stage: ClassVar[Stage | tuple[Stage, ...]] = "joint"
    inductor: ClassVar[str] = ""
    roots: ClassVar[frozenset[object]] = frozenset((_MM,))
    seen: ClassVar[list[int]] = []

    def rewrite(self, module: ModuleOp) -> int:
        ops = entry_graph(module).block.ops
        self.seen.append(sum(op.name == "aten.mm.default" for op in ops))
        return 0


class OnFx(CustomGraphPass):
    """Sees the graph in FX."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, graph: torch.fx.Graph) -> None:
        self.seen.append(len(graph.find_nodes(op="call_function", target=_MM)))

    def uuid(self) -> str:
        return "on fx"


def _chain(x: Any, w: Any) -> Any:
    return torch.mm(torch.mm(x, w), w)


@pytest.fixture
def run(stage_graphs: Any) -> Callable[..., tuple[int, Any]]:
    """The joint stage with something on a hook: the products that it leaves, and its record."""

    def joint(hook: str, value: Any) -> tuple[int, Any]:
        torch._dynamo.reset()
        graphs = stage_graphs(_chain, torch.ones(3, 3), torch.ones(3, 3))
        (graph,) = [one for one in graphs if one.stage == "joint"]
        with inductor_config.patch({hook: value}), stage_records.record() as records:
            gm = graph.run(stages.joint_graph_passes)
        (record,) = records
        return len(gm.graph.find_nodes(op="call_function", target=_MM)), record

    return joint


def _steps(record: Any) -> list[tuple[str, str]]:
    return [
        (one.name, one.kind)
        for one in record.passes
        if one.name in ("rewrites", "count_products", *JOINT)
    ]


@pytest.mark.parametrize("hook", JOINT)
@pytest.mark.parametrize(
    "value",
    [MmOnce, MmOnce(), xductor.inductor_pass(MmOnce), [MmOnce], (xductor.inductor_pass(MmOnce),)],
    ids=["class", "instance", "inductor_pass", "list", "tuple"],
)
def test_typed_passes_run_on_the_typed_graph(hook: str, value: Any, run: Any) -> None:
    left, record = run(hook, value)
    assert left == 1
    assert record.lowered == 1
    assert _steps(record) == [("rewrites", "typed")]


def test_a_list_of_both_in_its_order(run: Any) -> None:
    """A callable between sees what was done before it; the typed graph is raised for it alone."""
    CountProducts.seen.clear()
    first, last = OnFx(), OnFx()
    hooks = [first, CountProducts(), MmOnce, CountProducts(), last]
    left, record = run("joint_custom_pre_pass", hooks)
    assert left == 1
    assert (first.seen, CountProducts.seen, last.seen) == ([2], [2, 1], [1])
    assert [kind for _, kind in _steps(record)] == ["bridged", "typed", "typed", "typed", "bridged"]
    assert record.lowered == 2  # for the three in a row, and behind the last callable


def test_its_own_settings(run: Any) -> None:
    """A pass of inexact numerics on a hook is admitted by what it was made with."""
    strict = xductor.inductor_pass(Inexact, numerics="strict")
    fast = xductor.inductor_pass(Inexact, numerics="fast")
    assert run("joint_custom_post_pass", strict)[0] == 2
    assert run("joint_custom_post_pass", fast)[0] == 1


def test_a_pass_of_another_stage(run: Any) -> None:
    with pytest.raises(ValueError, match="is for the post_grad stage"):
        run("joint_custom_pre_pass", xductor.inductor_pass(PostGradOnly))
    with pytest.raises(ValueError, match="not all of the joint stage"):
        run("joint_custom_pre_pass", PostGradOnly)


def test_one_that_fails_leaves_the_others(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def fail(*_: Any) -> int:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    monkeypatch.setattr(CountProducts, "rewrite", fail)
    with pytest.raises(StageError, match="count_products failed in the joint stage"):
        run("joint_custom_pre_pass", [CountProducts(), MmOnce])
    forget_warnings()
    with (
        settings.use(settings.Settings(on_error="fallback")),
        pytest.warns(FallbackWarning, match="count_products"),
    ):
        left, _ = run("joint_custom_pre_pass", [CountProducts(), MmOnce])
    assert left == 1


def test_compiled(passes_only: None) -> None:
    """Inductor's caches and its own checks of the option do not mind a rewrite there."""
    torch._dynamo.reset()
    x, w = torch.rand(3, 3), torch.rand(3, 3)
    with inductor_config.patch(joint_custom_post_pass=MmOnce):
        found = torch.compile(_chain, backend="xductor")(x, w)
    torch.testing.assert_close(found, x @ w)


def test_hooks_are_rows_of_their_own_kind() -> None:
    """The registry has a row for each option whose passes the pipelines run, and for no other."""
    steps = [*pre_grad.STEPS, *joint_graph.STEPS, *post_grad.STEPS]
    run = {one.name for one in steps if isinstance(one, HookStep)}
    assert run == {row.name for row in registry.rows() if row.kind == "hook"}
    assert "joint_custom_post_pass" in run


class OnFxModule(OnFx):
    def __call__(self, graph: Any) -> None:
        assert isinstance(graph, torch.fx.GraphModule)
        super().__call__(graph.graph)


@pytest.fixture
def of_backend(
    stage_graphs: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, Any], tuple[int, Any]]:
    """The post-grad stage with a pass that a device's backend registered."""

    def post(device: str, value: Any) -> tuple[int, Any]:
        torch._dynamo.reset()
        graphs = stage_graphs(_chain, torch.ones(3, 3), torch.ones(3, 3))
        (graph,) = [one for one in graphs if one.stage == "post_grad"]
        monkeypatch.setitem(custom_backend_passes, device, value)
        with stage_records.record() as records:
            gm = graph.run(stages.post_grad_passes)
        monkeypatch.undo()
        (record,) = records
        return len(gm.graph.find_nodes(op="call_function", target=_MM)), record

    return post


def test_a_pass_of_a_backend_runs_on_the_graphs_of_its_device(of_backend: Any) -> None:
    for device, seen in (("cpu", [2]), ("cuda", [])):
        one = OnFxModule()
        left, record = of_backend(device, one)
        assert one.seen == seen
        assert left == 2
        kinds = [step.kind for step in record.passes if step.name == "custom_backend_passes"]
        assert kinds == ["bridged"] * len(seen)


def test_a_typed_pass_of_a_backend_runs_on_the_typed_graph(of_backend: Any) -> None:
    left, record = of_backend("cpu", PostGradOnly)
    assert left == 1
    assert [step.kind for step in record.passes if step.name == "rewrites"] == ["typed"]
