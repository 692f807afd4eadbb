"""Verifies the graphs of every stage call inside a block, and keeps the problems found."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from xductor.backend.seam import dispatch
from xductor.backend.stage_runs import stage_watch
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.testing.lowered_stages import lowered
from xductor.ir.verification.problems import problems
from xductor.ir.verification.verifier import Level


class VerifiedStages:
    """A watcher of stage calls that verifies; `graphs` is how many were verified."""

    def __init__(self, level: Level) -> None:
        self.level: Level = level
        self.graphs = 0
        self._problems: list[str] = []
        self._lock = threading.Lock()

    def before(self, run: StageRun) -> None:
        self._verify(run, "into")

    def after(self, run: StageRun) -> None:
        self._verify(run, "out of")

    def take(self) -> list[str]:
        """The problems since the last call, each with the stage at which it was seen."""
        with self._lock:
            found, self._problems = self._problems, []
        return found

    def _verify(self, run: StageRun, way: str) -> None:
        try:
            found = [str(error) for error in problems(lowered(run), self.level)]
        except Exception as error:  # a graph that cannot be lowered is a wrong one
            found = [f"cannot be lowered: {type(error).__name__}: {error}"]
        where = f"{way} the {run.stage} stage ({run.record.graph})"
        with self._lock:
            self.graphs += 1
            self._problems += [f"{where}: {text}" for text in found]


@contextmanager
def verifying(level: Level) -> Iterator[VerifiedStages]:
    """Verify every graph that goes into or comes out of a stage, of stock Inductor too."""
    watcher = VerifiedStages(level)
    dispatch.attach()
    with stage_watch.watching(watcher):
        yield watcher


__all__ = ["VerifiedStages", "verifying"]
