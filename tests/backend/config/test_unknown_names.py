"""Names that have no effect: of passes that cannot be left out, of variables, of counters."""

from __future__ import annotations

import ast
import subprocess
import sys
import warnings
from collections.abc import Iterator

import pytest
import torch

import xductor
from xductor.backend import stages
from xductor.backend.config import environment, settings
from xductor.backend.config.environment import UnknownVariableWarning
from xductor.backend.config.settings import Settings, SettingsError
from xductor.backend.pipelines import disabled_passes, post_grad, pre_grad
from xductor.backend.records import stage_records
from xductor.backend.seam.checked_options import checked_settings
from xductor.backend.steps.bridge import BridgedStep
from xductor.backend.steps.stage_run import StageRun
from xductor.transforms import TypedPass
from xductor.transforms.passes import debug_counters
from xductor.transforms.passes.debug_counters import UnknownCounterWarning
from xductor.transforms.rows.registry import rows


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    environment.forget()
    yield
    environment.forget()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mm_plus_mm", "'mm_plus_mm' is part of a step of Inductor's own"),
        ("batch_linear_lhs", "Inductor's option for it is pre_grad_fusion_options"),
        ("decompose_auto_functionalized", "is needed for code generation"),
        ("lazy_init", "is needed in each compile"),
        ("recompile_and_lint", "is needed in each compile"),
        ("early_patterns", "has several passes"),
        ("replace_random_passes", "is done by 'replace_random'; disable that"),
        ("post_grad_custom_pre_pass", "is a hook of Inductor's"),
        ("remove_reshape_pass", "does nothing"),
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
    }


def test_every_row_is_taken_or_refused_with_a_reason() -> None:
    taken = disabled_passes.names()
    for row in rows():
        assert (row.name in taken) is (disabled_passes.refusal(row.name) is None)
        if row.factory:
            assert row.name in taken


def test_what_is_taken_is_left_out() -> None:
    """Each bridged step asks whether it is disabled; typed passes have tests of their own."""
    gm = torch.fx.symbolic_trace(lambda x: x)
    steps = [one for one in (*pre_grad.STEPS, *post_grad.STEPS) if isinstance(one, BridgedStep)]
    record = stage_records.StageRecord("joint", "g", "joint", "structure", 1)
    for step in steps:
        if step.name in disabled_passes.names() and not step.required:
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
        environment.forget()
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
