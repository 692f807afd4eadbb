"""The steps of `transforms/algebra`, which Inductor has not; most run under `fast` only."""

from __future__ import annotations

from functools import cache

from xductor.backend.steps.bridge import when_flag
from xductor.backend.steps.stage_run import StageRun
from xductor.backend.steps.typed_steps import CoveringStep, OwnStep
from xductor.transforms.passes.numerics import Policy, admits
from xductor.transforms.rows.joint_graph import ALGEBRA_ROWS
from xductor.transforms.rows.registry import rewrites_of


@cache
def _admitted(policy: Policy) -> tuple[OwnStep, ...]:
    """Steps for the passes that a policy admits: a pass that never applies costs nothing."""
    return tuple(
        OwnStep(row.name, when_flag("pattern_matcher", True))
        for row in ALGEBRA_ROWS
        if any(admits(policy, one.numerics) for one in rewrites_of(row))
    )


def _algebra(run: StageRun) -> None:
    for step in _admitted(run.settings.numerics):
        step(run)


algebra = CoveringStep(_algebra, tuple(row.name for row in ALGEBRA_ROWS))

__all__ = ["algebra"]
