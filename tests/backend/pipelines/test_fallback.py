"""When something of ours fails, the compile goes on with the steps that code generation needs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config

import xductor.frontend
from xductor.backend import stages
from xductor.backend.config import cache_keys, settings
from xductor.backend.pipelines import joint_graph
from xductor.backend.records import stage_records
from xductor.backend.stage_runs import failures
from xductor.backend.steps import runner
from xductor.transforms.rows import registry


@pytest.fixture(autouse=True)
def _falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    with settings.use(settings.Settings(on_error="fallback")):
        yield


@pytest.fixture
def broken_lowering(monkeypatch: pytest.MonkeyPatch) -> None:
    def from_fx(*_: Any, **__: Any) -> Any:
        raise NotImplementedError("lowering is broken on purpose")

    monkeypatch.setattr(xductor.frontend, "from_fx", from_fx)


@pytest.fixture
def not_stored(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    reasons: list[str] = []
    monkeypatch.setattr(cache_keys, "do_not_store", reasons.append)
    return reasons


@torch.library.custom_op("xductor_test::accumulate", mutates_args={"total"})
def _accumulate(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    total.add_(x)
    return x * 2


@_accumulate.register_fake
def _(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def _model(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A view, a clone and a cast for typed passes, dropout, and a mutating custom op."""
    total = torch.zeros_like(x)
    hidden = torch.nn.functional.dropout((x @ w).view(-1).view(x.shape).clone(), 0.5)
    doubled = torch.ops.xductor_test.accumulate(total, hidden.detach())
    return hidden.sum() + (x * w.sum()).sum(), total + doubled


def _eager_and_compiled(seed: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    results = []
    for function in (_model, torch.compile(_model)):
        torch.manual_seed(3)
        x, w = torch.randn(4, 8, requires_grad=True), torch.randn(8, 8, requires_grad=True)
        torch.manual_seed(seed)
        loss, total = function(x, w)
        loss.backward()
        assert x.grad is not None
        assert w.grad is not None
        results.append([loss.detach(), total, x.grad, w.grad])
    return results[0], results[1]


@pytest.mark.slow
@inductor_config.patch(fallback_random=True, force_disable_caches=True)
def test_numbers_equal_eager_when_lowering_fails(
    broken_lowering: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through code generation: what the decompositions leave out would not compile."""
    import torch._inductor.compile_fx as compile_fx

    for name in ("pre_grad_passes", "joint_graph_passes", "post_grad_passes"):
        monkeypatch.setattr(compile_fx, name, getattr(stages, name))
    with stage_records.record() as records, pytest.warns(failures.FallbackWarning):
        eager, compiled = _eager_and_compiled(seed=11)
    torch.testing.assert_close(compiled, eager)
    fallen = [record.stage for record in records if record.fallback]
    assert "joint" in fallen
    assert "post_grad" in fallen


def test_random_ops_are_replaced_and_patterns_left_out(
    broken_lowering: None, our_stages: None, not_stored: list[str]
) -> None:
    with stage_records.record() as records, warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        _eager_and_compiled(seed=0)
    joint = next(record for record in records if record.stage == "joint")
    assert joint.fallback == "from_fx: NotImplementedError: lowering is broken on purpose"
    ran = [one.name for one in joint.passes]
    required = [getattr(step, "name", "") for step in joint_graph.STEPS]
    assert ran == [name for name in required if name in ran]
    assert "replace_random_passes" in ran
    assert not {"constant_fold_uniform_value", "early_patterns", "pass_pattern_0"} & set(ran)
    assert not_stored
    assert not_stored[0] == joint.fallback


def test_one_warning_for_each_culprit_and_error(broken_lowering: None, our_stages: None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _eager_and_compiled(seed=0)
        torch._dynamo.reset()
        _eager_and_compiled(seed=1)
    ours = [w for w in caught if issubclass(w.category, failures.FallbackWarning)]
    assert len(ours) == 1
    text = str(ours[0].message)
    assert "from_fx failed in the joint stage" in text
    assert "lowering is broken on purpose" in text
    path = Path(text.split("To reproduce: ")[1].split(". Compile")[0])
    assert "def forward(" in path.read_text()


def test_raise_names_what_failed_and_the_reproducer(
    broken_lowering: None, our_stages: None
) -> None:
    with (
        settings.use(settings.Settings(on_error="raise")),
        pytest.raises(Exception, match="from_fx failed in the joint stage") as caught,
    ):
        _eager_and_compiled(seed=0)
    assert "to reproduce: " in str(caught.value)


@pytest.fixture
def broken_pass(monkeypatch: pytest.MonkeyPatch) -> str:
    def rewrite(self: Any, module: Any) -> int:
        raise ZeroDivisionError("a pass is broken on purpose")

    monkeypatch.setattr(registry.typed_class("pointless_view_pair"), "rewrite", rewrite)
    return "pointless_view_pair"


def _views() -> torch.fx.GraphModule:
    from torch._subclasses import FakeTensorMode

    aten = torch.ops.aten
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    flat = graph.call_function(aten.view.default, (x, [8]))
    back = graph.call_function(aten.view.default, (flat, [4, 2]))
    graph.output((graph.call_function(aten.neg.default, (back,)),))
    with FakeTensorMode():
        base = torch.empty(4, 2)
        values = [base, base.view(8), base.view(8).view(4, 2), base.neg()]
    for node, value in zip(graph.nodes, values, strict=False):
        node.meta["val"] = value
    return torch.fx.GraphModule({}, graph)


def test_a_failing_pass_leaves_the_graph_and_a_reproducer(
    broken_pass: str, not_stored: list[str], tmp_path: Path
) -> None:
    gm = _views()
    before = gm.code
    with pytest.warns(failures.FallbackWarning, match=f"{broken_pass} failed in the joint stage"):
        stages.joint_graph_passes(gm)
    assert gm.code == before
    assert len(not_stored) == 1
    (path,) = tmp_path.glob(f"joint-{broken_pass}-*.mlir")
    text = path.read_text()
    assert text.startswith(f"// xductor-opt {path} -p '")
    assert "a pass is broken on purpose" in text
    assert "aten.view.default" in text


def test_the_reproducer_runs(
    broken_pass: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``xductor-opt`` reads the file, and the pass fails in it as it did in the compile."""
    from xductor.backend.cli.opt import main

    with pytest.warns(failures.FallbackWarning):
        stages.joint_graph_passes(_views())
    (path,) = tmp_path.glob("*.mlir")
    assert main.main([str(path), "-p", broken_pass]) == 1
    assert "ZeroDivisionError: a pass is broken on purpose" in capsys.readouterr().err


def test_a_failure_while_raising_leaves_the_graph(
    monkeypatch: pytest.MonkeyPatch, not_stored: list[str]
) -> None:
    from xductor.backend.fx import export

    def to_fx(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("raising is broken on purpose")

    monkeypatch.setattr(export, "to_fx", to_fx)
    gm = _views()
    before = gm.code
    with (
        stage_records.record() as records,
        pytest.warns(failures.FallbackWarning, match="to_fx failed"),
    ):
        stages.joint_graph_passes(gm)
    assert gm.code == before
    assert not_stored
    assert not any(one.kind == "typed" and one.applications for one in records[0].passes)


def test_counters_count_what_stays(broken_pass: str) -> None:
    """Applications that a failure undoes are not counted."""
    from torch._dynamo.utils import counters

    counters.clear()
    with pytest.warns(failures.FallbackWarning):
        stages.joint_graph_passes(_views())
    assert counters["inductor"]["pattern_matcher_count"] == 0


def test_nothing_is_lowered_for_passes_without_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    def from_fx(*_: Any, **__: Any) -> Any:
        raise AssertionError("lowered for nothing")

    monkeypatch.setattr(xductor.frontend, "from_fx", from_fx)
    gm = _views()
    for node in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.view.default):
        node.target = torch.ops.aten.reshape.default
    passes = [registry.typed_class(name)() for name in ("pointless_view", "pointless_permute_pair")]
    assert runner.run_typed(gm, passes, "joint") == {
        "pointless_view": 0,
        "pointless_permute_pair": 0,
    }
