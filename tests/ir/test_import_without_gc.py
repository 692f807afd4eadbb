"""Importing with the garbage collector paused leaves the collector as it was."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from xductor.ir.import_without_gc import load


@pytest.fixture
def collects() -> Iterator[None]:
    yield
    gc.enable()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module that notes whether the collector ran while it was imported."""
    name = "xductor_test_of_first_use"
    (tmp_path / f"{name}.py").write_text("import gc\ncollected = gc.isenabled()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


@pytest.mark.usefixtures("collects")
@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_paused_and_then_as_before(module: str, enabled: bool):
    if not enabled:
        gc.disable()
    assert load(module).collected is False
    assert gc.isenabled() is enabled


def test_the_collector_runs_again_after_a_failure():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        load("xductor_no_such_module")
    assert gc.isenabled()
