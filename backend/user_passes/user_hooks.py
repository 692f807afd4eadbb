"""Runs what users put on Inductor's hooks: FX callables, typed passes, or lists of both.

A callable runs on the FX graph, through the bridge. A typed pass or a rewrite, or several joined by
`xductor.inductor_pass`, run on the typed graph of the stage, which need not be raised before and
lowered again after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from xductor.backend.config import placement
from xductor.backend.stage_runs import failures
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import BridgedStep, Condition, always, flush, observed
from xductor.backend.steps.typed_steps import run_observed
from xductor.backend.user_passes import hook_checks, out_of_reach
from xductor.transforms import Rewrite, TypedPass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xductor.backend.config.settings import Settings
    from xductor.backend.stage_runs.stage_run import StageRun
    from xductor.backend.user_passes.inductor_pass import InductorPass


class Hook(NamedTuple):
    """What somebody put on a hook, and the name of the observer that Inductor has around it."""

    observed_as: str
    passes: Any


@dataclass(frozen=True)
class HookStep(BridgedStep):
    """Runs the passes on a hook; `call` says which there are.

    - `takes`: whether those that are not typed are called with the graph or with its module.
    """

    call: Callable[[StageRun], Iterable[Hook]]
    takes: Literal["graph", "gm"] = "graph"

    def __call__(self, run: StageRun) -> None:
        if not self.wanted(run):
            return
        for hook in self.call(run):
            run.count += 1
            typed = _typed(hook.passes, run)
            if typed is None or run.degraded or run.untyped or run.stage not in typed.stages:
                self._run_bridged(hook.observed_as, typed or hook.passes, run)
            else:
                _run_typed(hook.observed_as, typed, run)

    def _run_bridged(self, observed_as: str, hook: Any, run: StageRun) -> None:
        flush(run)
        run.recompile_if_stale()
        call = _told_inference(hook, run.is_inference)
        with hook_checks.checked(run, self.name):
            run.bridged(self.name, lambda: observed(run, observed_as, call, self.takes))


def _run_typed(observed_as: str, typed: InductorPass, run: StageRun) -> None:
    with _under(typed.settings, run):
        for one in typed.passes:
            run_observed([one], run, observed_as, lambda failure: failures.skip(run, failure))
        out_of_reach.say(run, map(placement.unplaced, typed.rewrites))


def user_hook(option: str, *, when: Condition = always) -> HookStep:
    """A step with the passes on one of Inductor's hook options.

    A `CustomInferenceAwareGraphPass` is told whether the graph is for inference. Hooks run after a
    failure of ours too: they are the user's, and may be what makes the graph compilable.
    """

    def wanted(run: StageRun) -> bool:
        return when(run) and bool(stock.hooks(option))

    def hooks(_: StageRun) -> Iterable[Hook]:
        return (Hook(option, passes) for passes in stock.hooks(option))

    return HookStep(option, hooks, wanted, required=True, values=False)


def _typed(hook: Any, run: StageRun) -> InductorPass | None:
    """What is on a hook, as a pass of ours; None for a callable on FX graphs."""
    from xductor.backend.user_passes.inductor_pass import InductorPass, inductor_pass

    if isinstance(hook, InductorPass):
        return hook
    rewrite = isinstance(hook, type) and issubclass(hook, Rewrite)
    if rewrite or isinstance(hook, Rewrite | TypedPass):
        return inductor_pass(hook, stage=run.stage, on_error=run.settings.on_error)
    return None


@contextmanager
def _under(chosen: Settings, run: StageRun) -> Iterator[None]:
    """Run under the settings that a pass was made with."""
    before = run.settings
    run.settings = chosen
    try:
        yield
    finally:
        run.settings = before


def _told_inference(hook: Any, is_inference: bool) -> Callable[[Any], Any]:
    aware = stock.lookup("torch._inductor.custom_graph_pass:CustomInferenceAwareGraphPass")
    if aware is not None and isinstance(hook, aware):
        return lambda graph: hook(graph, is_inference=is_inference)
    return hook


__all__ = ["Hook", "HookStep", "user_hook"]
