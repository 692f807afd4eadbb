"""A raise within a stage makes no Python code; who runs the graph gets code that is the graph's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.fx import reconcile
from xductor.backend.steps import runner
from xductor.ir import aten as typed
from xductor.transforms import Rewrite
from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps

aten = torch.ops.aten


class SinToCos(Rewrite):
    """Another value, so that code that is stale gives another number."""

    stage = "post_grad"
    numerics = xductor.EXACT

    def pattern(self, x: Any) -> Any:
        return typed.sin(x)

    def replacement(self, x: Any) -> Any:
        return typed.cos(x)


def _traced() -> torch.fx.GraphModule:
    """A copy that the first typed pass removes, and more for Inductor's own tables."""
    gm = make_fx(lambda x: (aten.clone.default(x).sin(),), tracing_mode="fake")(torch.ones(3))
    return torch.fx.GraphModule(gm, gm.graph)  # compiled at once, as graphs of training are


def _code_of(gm: torch.fx.GraphModule) -> str:
    return gm.graph.python_code("self").src


def _name(gm: torch.fx.GraphModule) -> str:
    """Of this module alone: Inductor compiles its patterns when they are first used."""
    return str(id(gm))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a module's code was made, and how often one was raised into."""
    counts: Counter[str] = Counter()
    recompile, edit = torch.fx.GraphModule.recompile, reconcile._Reconciliation.run

    def recompiled(self: Any) -> Any:
        counts[_name(self)] += 1
        return recompile(self)

    def edited(self: Any) -> None:
        counts["raised"] += 1
        edit(self)

    monkeypatch.setattr(torch.fx.GraphModule, "recompile", recompiled)
    monkeypatch.setattr(reconcile._Reconciliation, "run", edited)
    return counts


def test_the_last_step_makes_the_code(compiled: Counter[str]) -> None:
    gm = _traced()
    compiled.clear()
    stages.post_grad_passes(gm, True)
    assert compiled["raised"] >= 1
    assert compiled[_name(gm)] == 1
    assert gm.code == _code_of(gm)
    assert "clone" not in gm.code


def test_a_stage_whose_last_step_does_not_run(compiled: Counter[str]) -> None:
    """Inductor's joint stage makes code only where it counted a match."""
    gm = _traced()
    compiled.clear()
    with settings.use(settings.current().replace(numerics="fast")):
        stages.joint_graph_passes(gm)
    assert compiled["raised"] == 1
    assert gm.code == _code_of(gm)


@pytest.mark.parametrize("hook", ["post_grad_custom_pre_pass", "post_grad_custom_post_pass"])
def test_a_hook_of_a_user_may_run_the_graph(hook: str) -> None:
    seen: list[bool] = []

    def look(graph: torch.fx.Graph) -> None:
        gm = graph.owning_module
        assert gm is not None
        seen.append(gm.code == _code_of(gm))

    with inductor_config.patch({hook: look}):
        stages.post_grad_passes(_traced(), True)
    assert seen == [True]


def test_a_hook_is_given_code_once(compiled: Counter[str]) -> None:
    """Nothing is raised between the two, so the second needs no other code."""
    gm = _traced()
    compiled.clear()
    hooks = [lambda graph: None, lambda graph: None]
    with inductor_config.patch(post_grad_custom_post_pass=hooks):
        stages.post_grad_passes(gm, True)
    assert compiled[_name(gm)] == 2  # before the hooks, and at the end


def test_passes_outside_of_a_stage() -> None:
    gm = _traced()
    assert runner.run_typed(gm, [RemoveNoopOps()], "post_grad")["remove_noop_ops"] == 1
    assert gm.code == _code_of(gm)
    assert "clone" not in gm.code


def test_a_pass_called_on_a_graph() -> None:
    gm = _traced()
    xductor.inductor_pass(SinToCos, stage="post_grad")(gm.graph)
    x = torch.randn(3)
    torch.testing.assert_close(gm(x)[0], x.cos())


def test_to_fx_makes_code_unless_told_otherwise() -> None:
    for recompile in (True, False):
        gm = _traced()
        module = xductor.from_fx(gm, "post_grad")
        assert RemoveNoopOps().rewrite(module) == 1
        xductor.to_fx(module, into=gm, recompile=recompile)
        assert (gm.code == _code_of(gm)) is recompile


class _Clones(RemoveNoopOps):
    """A pass of somebody else's."""

    name = "test_clones"


@pytest.mark.parametrize(
    ("level", "one", "expected"),
    [
        ("structure", RemoveNoopOps(), "types"),
        ("types", RemoveNoopOps(), "checked"),
        ("structure", _Clones(), "run"),
        ("types", _Clones(), "run"),
    ],
)
def test_how_new_values_are_made(
    level: Any, one: Any, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From types that we inferred; those of others' passes are held against the calls."""
    used: list[str] = []
    record = reconcile.record_new_values

    def recorded(*args: Any) -> None:
        used.append(args[-1])
        record(*args)

    monkeypatch.setattr(reconcile, "record_new_values", recorded)
    with settings.use(settings.current().replace(verify=level)):
        runner.run_typed(_traced(), [one], "post_grad")
    assert used == [expected]
