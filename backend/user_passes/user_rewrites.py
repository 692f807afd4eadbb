"""Runs the user's own rewrites and passes, each at its place in the stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from xductor.backend.config.placement import Place
from xductor.backend.stage_runs import failures
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps.bridge import step_names
from xductor.backend.steps.typed_steps import run_observed
from xductor.backend.user_passes import out_of_reach
from xductor.transforms import Rewrite, TypedPass
from xductor.transforms.rewriting.rewrite_pass import RewritePass


def first_rewrites(run: StageRun) -> None:
    """Run the rewrites that come before the stage's own passes."""
    run_at(run, (Place("first"),))


def user_rewrites(run: StageRun) -> None:
    """Run the rewrites that come after the stage's own passes, as they do by default."""
    run_at(run, (Place("last"),))


def beside_steps(run: StageRun) -> bool:
    """Whether a rewrite has to run before or after some step of the stage."""
    return any(place.position in ("before", "after") for place, _ in _placed(run))


@contextmanager
def around(run: StageRun, step: Any) -> Iterator[None]:
    """Run the rewrites that come before and after a step of the stage."""
    names = list(step_names(step))
    run_at(run, [Place("before", name) for name in names])
    yield
    run_at(run, [Place("after", name) for name in names])


def run_at(run: StageRun, places: Sequence[Place]) -> None:
    """Run the user's rewrites of these places, in the user's order.

    Declared rewrites that follow each other are applied in one walk.
    """
    here = [item for place, item in _placed(run) if place in places]
    for declared, group in groupby(here, lambda one: isinstance(one, Rewrite)):
        if declared:
            _run_declared(run, tuple(group))
        else:
            for one in group:
                _run_alone(run, one)


def say_what_cannot_run(run: StageRun) -> None:
    """Warn of rewrites that the user named for this stage but that cannot run in it."""
    if run.settings.rewrites:
        out_of_reach.say(run, [one for _, one in _placed(run)])


def _placed(run: StageRun) -> Sequence[tuple[Place, Any]]:
    return run.settings.placed_rewrites.get(run.stage, ())


def _run_declared(run: StageRun, rewrites: tuple[Rewrite, ...]) -> None:
    """Run all in one walk. If that fails, run each alone, so that only the one at fault is lost."""
    if len(rewrites) == 1:
        _run_alone(run, RewritePass(rewrites, run.settings.numerics))
        return
    failed: list[failures.Failure] = []
    together = RewritePass(rewrites, run.settings.numerics)
    run.count += run_observed([together], run, failed=failed.append) or 0
    if failed:
        for one in rewrites:
            _run_declared(run, (one,))


def _run_alone(run: StageRun, one: TypedPass) -> None:
    run.count += run_observed([one], run, failed=lambda failure: failures.skip(run, failure)) or 0


__all__ = ["around", "first_rewrites", "run_at", "say_what_cannot_run", "user_rewrites"]
