"""Steps of our own that read the bodies of subgraphs."""

from __future__ import annotations

from dataclasses import dataclass

from xductor.backend.steps import runner
from xductor.backend.steps.bridge import flush
from xductor.backend.steps.stage_run import StageRun
from xductor.backend.steps.typed_steps import OwnStep, is_all_bridged, make, run_observed


@dataclass(frozen=True)
class BodiesStep(OwnStep):
    """A typed pass at a place where Inductor has none, which reads the bodies of subgraphs.

    The graph is lowered together with them for this step, if it holds what the pass looks for.
    """

    def __call__(self, run: StageRun) -> None:
        if is_all_bridged() or run.degraded or not self.when(run):
            return
        if self.name in run.settings.disabled_passes:
            return
        one = make(self.name, run)
        if not one.may_fire(run.gm.graph):
            return
        flush(run)
        if not run.degraded and runner.lowered(run, "bodies") is not None:
            run.count += run_observed([one], run) or 0
            flush(run)
            run.group = None


__all__ = ["BodiesStep"]
