"""The steps of `transforms/algebra`, which Inductor has not; most run under `fast` only."""

from __future__ import annotations

from functools import cache

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps.bridge import when_flag
from xductor.backend.steps.typed_steps import CoveringStep, OwnStep, may_apply
from xductor.transforms import TypedPass
from xductor.transforms.passes.numerics import Policy, admits
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.rows.joint_graph import ALGEBRA_ROWS
from xductor.transforms.rows.registry import rewrites_of

_is_on = when_flag("pattern_matcher", True)


@cache
def _admitted(policy: Policy) -> tuple[OwnStep, ...]:
    """Steps for the passes that a policy admits: a pass that never applies costs nothing."""
    return tuple(
        OwnStep(row.name)
        for row in ALGEBRA_ROWS
        if any(admits(policy, one.numerics) for one in rewrites_of(row))
    )


@cache
def _all_at_once(policy: Policy) -> TypedPass:
    """One pass of all their rewrites, which is only asked whether the graph has a root of any."""
    return RewritePass.of([one for row in ALGEBRA_ROWS for one in rewrites_of(row)], policy)


def _algebra(run: StageRun) -> None:
    policy = run.settings.numerics
    if _is_on(run) and may_apply(_all_at_once(policy), run):
        for step in _admitted(policy):
            step(run)


algebra = CoveringStep(_algebra, tuple(row.name for row in ALGEBRA_ROWS))

__all__ = ["algebra"]
