"""The bridge: runs Inductor's own functions and users' callables as steps of our pipelines.

Each runs on the FX graph under Inductor's `GraphTransformObserver`, so that disabling a pass by
name, the compiler bisector, provenance tracking and graph dumps work as they do in stock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock

if TYPE_CHECKING:
    from torch.fx import GraphModule
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver

Over = Literal["graph", "gm"]
Condition = Callable[[StageRun], bool]


def always(_: StageRun) -> bool:
    """The condition of a step that no flag controls."""
    return True


def when_flag(path: str, default: Any = False) -> Condition:
    """The condition that Inductor's config option `path` is on."""
    return lambda run: bool(stock.flag(path, default))


def observer(gm: GraphModule, name: str, subsystem: str) -> GraphTransformObserver:
    """Inductor's observer for one pass over `gm`."""
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver

    return GraphTransformObserver(gm, name, subsystem=subsystem)


def observed(run: StageRun, name: str, function: Callable[[Any], Any], over: Over) -> Any:
    """Run `function` on the graph (or its module) as Inductor runs a pass called `name`."""
    watcher = observer(run.gm, name, run.subsystem)
    if over == "gm":
        return watcher.apply_gm_pass(function)
    return watcher.apply_graph_pass(function)


@dataclass(frozen=True)
class BridgedStep:
    """A step that runs on the FX graph itself.

    `call` gets the stage's state. `needs` names the function of Inductor without which this torch
    has no such step. `values` says that the step reads `meta["val"]`, so that it does not run on a
    graph without values. `required` steps run after a failure too: code generation needs them, or a
    user asked for them.

    `reads` says whether the step looks at the graph at all; if not, nothing is raised before it.
    `acts` says whether the graph holds something that the step acts on; if not, only the observer
    that Inductor has around it runs, under the name `observed_as`. `edits` says whether it may
    leave values that are no longer true.
    """

    name: str
    call: Callable[[StageRun], Any]
    when: Condition = always
    needs: str | None = None
    required: bool = False
    values: bool = True
    reads: Condition = always
    acts: Condition = always
    observed_as: str | None = None
    edits: bool = True

    def wanted(self, run: StageRun) -> bool:
        """Whether flags, version and the state of the run let this step run."""
        if run.degraded and not self.required:
            return False
        if run.untyped and self.values:
            return False
        if self.name in run.settings.disabled_passes and not self.required:
            return False
        if not self.when(run):
            return False
        return self.needs is None or stock.lookup(self.needs) is not None

    def __call__(self, run: StageRun) -> None:
        if not self.wanted(run):
            return
        if self.reads(run):
            flush(run)
        if run.degraded and not self.required:
            return
        if self.acts(run):
            run.bridged(self.name, lambda: self.call(run), edits=self.edits)
        elif self.observed_as is not None:
            observed(run, self.observed_as, _nothing, "graph")


def _nothing(_: object) -> None:
    """Run by an observer for a step that would do nothing."""


def flush(run: StageRun) -> None:
    """Raise what typed passes did into the FX graph, before something reads that."""
    if run.group is not None:
        run.group.flush()


def stock_pass(
    name: str,
    function: str,
    *,
    over: Over = "graph",
    when: Condition = always,
    required: bool = False,
    values: bool = True,
    acts: Condition = always,
    reads: Condition = always,
) -> BridgedStep:
    """Inductor's `function`, run under its observer called `name`.

    `acts` and `reads` are those of `BridgedStep`; a function that somebody put in the place of
    Inductor's always runs.
    """

    def call(run: StageRun) -> None:
        observed(run, name, stock.lookup(function), over)

    def may_act(run: StageRun) -> bool:
        return acts(run) or not stock.is_stock(stock.lookup(function))

    def may_read(run: StageRun) -> bool:
        return reads(run) or not stock.is_stock(stock.lookup(function))

    return BridgedStep(
        name, call, when, function, required, values, may_read, may_act, observed_as=name
    )


def unobserved(
    name: str,
    function: str,
    *,
    over: Over = "graph",
    when: Condition = always,
    required: bool = False,
    values: bool = True,
) -> BridgedStep:
    """Inductor's `function`, called without an observer, as Inductor calls it."""

    def call(run: StageRun) -> None:
        stock.lookup(function)(run.gm.graph if over == "graph" else run.gm)

    return BridgedStep(name, call, when, function, required, values)


def step_names(step: Any) -> Iterator[str]:
    """The names of a step of a pipeline, and of the passes that it runs."""
    name = getattr(step, "name", None)
    if name is not None:
        yield name
    for part in ("covers", "typed", "then"):
        yield from getattr(step, part, ())
