"""What happens when a typed pass, or lowering to or raising from the typed IR, fails."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xductor.backend import reproducer
from xductor.backend.config import cache_keys
from xductor.backend.config.warn_once import warn_once
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.stage_runs.step_watch import StepFailed
from xductor.transforms import TypedPass
from xductor.transforms.passes.events import tell


class StageError(RuntimeError):
    """A typed pass failed while `on_error` is `"raise"`; the cause has the details."""


class FallbackWarning(UserWarning):
    """A stage went on without its optional passes because one of them failed."""


@dataclass(frozen=True)
class Failure:
    """What failed, and with which error.

    `culprit` is a pass or its hook by name, `"from_fx"`, `"verification"` (of the graph as it was
    given) or `"to_fx"`. `passes` are those that had run on the lowered graph, including the one
    that failed.
    """

    culprit: str
    error: Exception
    passes: Sequence[TypedPass] = ()


def handle(run: StageRun, failure: Failure) -> None:
    """Raise or fall back, as the settings say.

    Falling back leaves `run.gm` as it is (untouched by the failing group), lets only the required
    steps of the stage run from here on, keeps the result out of Inductor's caches, and warns once
    for each culprit and kind of error.

    Raises StageError from the original error if `on_error="raise"`.
    """
    run.degraded = True
    run.record.fallback = _tell(
        run, failure, "the graph goes on without the optional passes of this stage"
    )


def skip(run: StageRun, failure: Failure) -> None:
    """Raise or go on without a failed pass of the user's own, as the settings say.

    Raises StageError from the original error if `on_error="raise"`.
    """
    _tell(run, failure, "the graph goes on without it")


def _tell(run: StageRun, failure: Failure, outcome: str) -> str:
    """Write a reproducer; raise, or warn and keep the result out of the caches."""
    path = reproducer.write(
        run.gm,
        stage=run.stage,
        passes=failure.passes,
        error=failure.error,
        verify_level=run.settings.verify,
        example_inputs=run.example_inputs,
        culprit=failure.culprit,
    )
    what = f"{failure.culprit} failed in the {run.stage} stage{_after(run, failure)}"
    reason = f"{type(failure.error).__name__}: {failure.error}{_place(failure)}"
    undone = tuple([one.name for one in failure.passes])
    tell(StepFailed(run.record, failure.culprit, reason, undone, run.degraded, str(path)))
    if run.settings.on_error == "raise":
        raise StageError(f"{what}: {reason}\nto reproduce: {path}") from failure.error
    told = f"{failure.culprit}: {reason}"
    cache_keys.do_not_store(told)
    warn_once(
        FallbackWarning,
        (failure.culprit, type(failure.error).__name__),
        f"{what} ({reason}); {outcome}. To reproduce: {path}. "
        'Compile with options={"xductor.on_error": "raise"} to make this an error.',
        stacklevel=3,
    )
    return told


def _after(run: StageRun, failure: Failure) -> str:
    """The step that left the graph, if it is the graph that is wrong."""
    done = run.record.passes
    if failure.culprit not in ("from_fx", "verification") or not done:
        return ""
    return f", after {done[-1].name}"


def _place(failure: Failure) -> str:
    """The line that raised, in the file of the pass that failed; "" if it was not there."""
    if not failure.passes or failure.passes[-1].name != failure.culprit:
        return ""
    code: Any = getattr(type(failure.passes[-1]).rewrite, "__code__", None)
    if code is None:
        return ""
    found = [
        f" ({code.co_filename}:{line})"
        for frame, line in traceback.walk_tb(failure.error.__traceback__)
        if frame.f_code.co_filename == code.co_filename
    ]
    return found[-1] if found else ""
