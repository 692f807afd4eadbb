"""Steps whose passes read the bodies of subgraphs, with which the graph is lowered for them."""

from __future__ import annotations

from dataclasses import dataclass

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import runner
from xductor.backend.steps.bridge import flush
from xductor.backend.steps.typed_steps import OwnStep, is_all_bridged, make, run_observed
from xductor.transforms import TypedPass


@dataclass(frozen=True)
class BodiesStep(OwnStep):
    """A typed pass at a place where Inductor has none, which reads the bodies of subgraphs.

    The graph is lowered for this step alone, if it holds what the pass looks for.
    """

    def __call__(self, run: StageRun) -> None:
        if is_all_bridged() or run.degraded or not self.when(run):
            return
        if self.name in run.settings.disabled_passes:
            return
        one = make(self.name, run)
        if one.may_fire(run.gm.graph):
            run.count += run_with_bodies(one, run)


def run_with_bodies(one: TypedPass, run: StageRun, observed_as: str | None = None) -> int:
    """Run a pass on the graph with its bodies; how often it was applied."""
    flush(run)
    if run.degraded or runner.lowered(run, "bodies") is None:
        return 0
    count = run_observed([one], run, observed_as) or 0
    flush(run)
    run.group = None
    return count


__all__ = ["BodiesStep", "run_with_bodies"]
