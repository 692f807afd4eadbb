"""Names that have no effect: of passes that cannot be left out, of variables, of counters."""

from __future__ import annotations

import ast
import copy
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor import Rewrite, Tensor
from xductor.backend import stages
from xductor.backend.config import environment, settings
from xductor.backend.config.environment import UnknownVariableWarning
from xductor.backend.config.settings import Settings, SettingsError
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.pipelines import disabled_passes, post_grad, pre_grad
from xductor.backend.records import stage_records
from xductor.backend.seam.checked_options import checked_settings
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import runner
from xductor.backend.steps.bridge import BridgedStep
from xductor.ir import aten
from xductor.transforms import TypedPass
from xductor.transforms.passes import debug_counters
from xductor.transforms.passes.debug_counters import CounterError, UnknownCounterWarning
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.rows.registry import rows


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    forget_warnings()
    yield
    forget_warnings()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fused_int_mm_mul", "'fused_int_mm_mul' is part of a step of Inductor's own"),
        ("schedule_comm_wait", "Inductor's option for it is _fuse_ddp_communication_passes"),
        (
            "decompose_auto_functionalized",
            "is needed for code generation: Inductor's own would run",
        ),
        ("reinplace_inplaceable_ops", "is needed for code generation: Inductor's own would run"),
        ("fix_auto_functionalized_dtype_views", "is done by 'reinplace_inplaceable_ops', which is"),
        ("lazy_init", "is needed in each compile"),
        ("recompile_and_lint", "is needed in each compile"),
        ("early_patterns", "has several passes"),
        ("replace_random_passes", "is done by 'replace_random', which is needed for code gen"),
        ("post_grad_custom_pre_pass", "is a hook of Inductor's"),
        ("stable_topological_sort", "is needed for code generation: Inductor's own would run"),
        ("chain_random_ops_ordering", "is needed for code generation: Inductor's own would run"),
        ("canonicalize_quant_mapping", "is needed for code generation: Inductor's own would run"),
        ("replace_randint", "is needed for code generation: Inductor's own would run"),
        ("fuse_offset_creation_pass", "is needed for code generation: Inductor's own would run"),
        ("fuse_seed_creation_pass", "is needed for code generation: Inductor's own would run"),
        ("replace_random", "is needed for code generation: Inductor's own would run"),
        ("view_to_reshape", "is no step of a stage: Inductor runs its own before the stage"),
        ("pointless_veiw", "no pass is called 'pointless_veiw'. Did you mean 'pointless_view'"),
    ],
)
def test_what_cannot_be_left_out_is_refused(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=f"option 'xductor.disabled_passes': .*{said}"):
        checked_settings({"xductor.disabled_passes": ["pointless_view", name]})
    assert said


def test_names_are_checked_where_a_backend_is_made_or_installed() -> None:
    options = {"xductor.disabled_passes": ["pointless_veiw"]}
    for made in (
        lambda: xductor.Backend(options=options),
        lambda: xductor.Backend(disabled_passes=["pointless_veiw"]),
        lambda: xductor.install(options),
        lambda: xductor.installed(options).__enter__(),
    ):
        with pytest.raises(SettingsError, match="Did you mean 'pointless_view'"):
            made()


def test_settings_load_no_pass() -> None:
    """They are a value: who makes one imports neither the pipelines nor the passes."""
    code = (
        "import sys\n"
        "from xductor.backend.config.settings import Settings\n"
        "Settings.from_options({'xductor.disabled_passes': ['pointless_view']})\n"
        "print([one for one in sys.modules if one.startswith('xductor.')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(done.stdout)
    assert {one.rpartition(".")[2] for one in loaded if one.count(".") > 2} == {
        "environment",
        "registered_rewrites",
        "settings",
        "warn_once",
    }


def test_every_row_is_taken_or_refused_with_a_reason() -> None:
    taken = disabled_passes.names()
    for row in rows():
        assert (row.name in taken) is (disabled_passes.refusal(row.name) is None)


def test_no_stage_runs_a_typed_pass_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every typed pass that a stage would try to run, where all names that are taken are off."""
    tried: list[str] = []

    def run_pass(run: StageRun, one: TypedPass, failed: Any = None) -> int:
        tried.append(one.name)
        return 0

    monkeypatch.setattr(runner, "run_pass", run_pass)
    monkeypatch.setattr(TypedPass, "may_fire", lambda self, graph: True)
    gm = make_fx(lambda x: torch.sin(x) + 1, tracing_mode="fake")(torch.randn(4))
    off = settings.Settings(disabled_passes=disabled_passes.names())
    taken: set[str] = set()
    for now in (settings.Settings(), off):
        with settings.use(now):
            stages.pre_grad_passes(copy.deepcopy(gm), [torch.randn(4)])
            stages.joint_graph_passes(copy.deepcopy(gm))
            stages.post_grad_passes(copy.deepcopy(gm), True)
        if now is off:
            assert not taken & {*tried}
        else:
            taken = {*tried} & disabled_passes.names()
            assert {"remove_noop_ops", "reorder_for_locality", "pointless_view"} <= taken
        tried.clear()


def test_what_is_taken_is_left_out() -> None:
    """Each bridged step asks whether it is disabled."""
    gm = torch.fx.symbolic_trace(lambda x: x)
    steps = [one for one in (*pre_grad.STEPS, *post_grad.STEPS) if isinstance(one, BridgedStep)]
    record = stage_records.StageRecord("joint", "g", "joint", "structure", 1)
    for step in steps:
        if step.name in disabled_passes.names():
            off = settings.Settings(disabled_passes=frozenset({step.name}))
            assert not step.wanted(StageRun("joint", gm, off, record))
    assert stages.joint_graph_passes


def test_a_variable_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDUCTOR_ONERROR", "raise")
    with pytest.warns(UnknownVariableWarning, match="XDUCTOR_ONERROR is none of.*XDUCTOR_ON_ERROR"):
        Settings.from_options()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Settings.from_options()
        for name in environment.KNOWN:
            monkeypatch.setenv(name, "")
        forget_warnings()
        monkeypatch.delenv("XDUCTOR_ONERROR")
        Settings.from_options()


def test_the_variables_are_those_that_are_read() -> None:
    """What the sources read of the environment, and nothing else, is known."""
    import re
    from pathlib import Path

    root = Path(environment.__file__).parents[2]
    sources = [p for room in ("ir", "frontend", "transforms", "backend") for p in
               (root / room).rglob("*.py")]  # fmt: skip
    found = {
        name
        for path in sources
        for name in re.findall(r"XDUCTOR_[A-Z]+(?:_[A-Z]+)*", path.read_text())
    }
    known = {*environment.KNOWN, "XDUCTOR_TEST", "XDUCTOR_SLOW", "XDUCTOR_GUI_PYTHON"}
    assert found == known


def test_a_counter_that_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(debug_counters.VARIABLE, "pointless_veiw=0:1,*=0:3,pointless_view=1")
    with pytest.warns(UnknownCounterWarning, match=r"'pointless_veiw'.*Did you mean 'pointless_v"):
        assert set(debug_counters.active()) == {"pointless_veiw", "*", "pointless_view"}

    class Counted(TypedPass):
        name = "counted_by_a_test"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        debug_counters.active()
        monkeypatch.setenv(debug_counters.VARIABLE, "*=0:2,counted_by_a_test=3,fuse_attention=1")
        debug_counters.active()
    assert Counted


class _SinAsCos(Rewrite):
    """Wrong, and quick to apply."""

    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.sin(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.cos(x)


@pytest.mark.parametrize("graph", [torch.sin, torch.neg])
@pytest.mark.parametrize(
    "run",
    [
        lambda gm: stages.joint_graph_passes(gm),
        lambda gm: runner.run_typed(gm, [RewritePass.of([_SinAsCos])], "joint"),
        lambda gm: xductor.inductor_pass(_SinAsCos)(gm.graph),
    ],
    ids=["a stage", "typed passes", "a hook"],
)
def test_a_malformed_counter_is_no_fault_of_a_rewrite(
    graph: Any, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read where a stage begins, whether or not a pass has something to ask."""
    gm = make_fx(graph, tracing_mode="fake")(torch.randn(4))
    monkeypatch.setenv(debug_counters.VARIABLE, "foo")
    with pytest.raises(CounterError) as raised:
        run(gm)
    assert str(raised.value) == (
        "XDUCTOR_DEBUG_COUNTER: expected NAME=skip:count, as in pointless_view=3:1, found 'foo'"
    )


def test_a_counter_that_nobody_asks_is_told_once_in_a_stage_that_applies_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gm = make_fx(torch.neg, tracing_mode="fake")(torch.randn(4))
    monkeypatch.setenv(debug_counters.VARIABLE, "pointless_veiw=2")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            stages.joint_graph_passes(gm)
    messages = [str(one.message) for one in told if one.category is UnknownCounterWarning]
    assert len(messages) == 1
    assert "Did you mean 'pointless_view'?" in messages[0]
