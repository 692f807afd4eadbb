"""Steps that turn calls per row into loops."""

from __future__ import annotations

from dataclasses import dataclass, field

from xductor.backend.pipelines.bodies import run_with_bodies
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import step_targets
from xductor.backend.steps.bridge import Condition, always, stock_pass
from xductor.backend.steps.typed_steps import TypedStep, is_all_bridged, make


@dataclass(frozen=True)
class RowLoopStep(TypedStep):
    """The typed pass; then Inductor's, if calls are left.

    Subgraphs of these calls become parts of other subgraphs, so the graph is lowered together with
    them.
    """

    holds: Condition = field(default=always)

    def __call__(self, run: StageRun) -> None:
        disabled = self.name in run.settings.disabled_passes or is_all_bridged()
        if disabled or run.degraded or not self._is_stock() or not self.holds(run):
            self.stock_step(run)
            return
        run_with_bodies(make(self.name, run), run, self.name)
        if self.holds(run):
            self.stock_step(run)


def row_loop_step(name: str, call: str) -> RowLoopStep:
    """The step `name`, which decomposes calls of a higher-order operator."""
    function, holds = f"post_grad:{name}", step_targets.holds(call)
    step = stock_pass(name, function, over="gm", required=True, acts=holds, reads=holds)
    return RowLoopStep(name, step, function, name, holds=holds)


__all__ = ["RowLoopStep", "row_loop_step"]
