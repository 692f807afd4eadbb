"""Fixtures for the tests of the seam: stages that record, and a cache of one's own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from xductor.backend.config import settings as settings_module
from xductor.backend.config.settings import Settings
from xductor.backend.seam import dispatch

# Tests import `tests.live_objects`.
ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))


@dataclass(frozen=True)
class StageCall:
    """One call of a stage of ours."""

    stage: str
    settings: Settings
    thread: str
    graph_module: Any = None
    example_inputs: Any = None


@dataclass
class RecordedStages:
    """Our stages, each of which records its call and runs stock's function.

    ``before`` is called with each record before stock's function runs.
    """

    calls: list[StageCall] = field(default_factory=list[StageCall])
    before: Callable[[StageCall], None] | None = None

    def names(self) -> list[str]:
        return [call.stage for call in self.calls]

    def take(self) -> list[str]:
        """The names of the stages called since the last time."""
        names = self.names()
        self.calls.clear()
        return names


@pytest.fixture
def recorded_stages(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedStages]:
    recorded = RecordedStages()

    def stage_function(stage: Any) -> Callable[..., Any]:
        def run(gm: Any, *args: Any, **kwargs: Any) -> Any:
            call = StageCall(
                stage,
                settings_module.current(),
                threading.current_thread().name,
                gm,
                args[0] if args else None,
            )
            recorded.calls.append(call)
            if recorded.before is not None:
                recorded.before(call)
            return dispatch.stock_function(stage)(gm, *args, **kwargs)

        return run

    monkeypatch.setattr(dispatch, "stage_function", stage_function)
    yield recorded
    dispatch.uninstall()


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Inductor's caches in a directory of the test's own."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    return tmp_path
