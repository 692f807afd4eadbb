"""Collects what happens in a stage call, for the page of its compile.

The graph is lowered and printed where it may change, and only there: once before the first step
that touches it, and after each step that did.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.config import compile_state
from xductor.backend.config.warn_once import warn_once
from xductor.backend.records import stage_records
from xductor.backend.report.compile_data import (
    CompileData,
    Failed,
    Refusals,
    StageData,
    StepData,
)
from xductor.backend.report.near_misses import gives_reasons, near_misses
from xductor.backend.report.op_lines import GraphText, fx_lines, module_lines
from xductor.backend.report.page_files import write_page
from xductor.backend.report.stage_content import stage_content
from xductor.backend.stage_runs.applications import PassAsked
from xductor.backend.stage_runs.ir_logging import is_traced, trace_artifact
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.stage_runs.stage_watch import StageBegins
from xductor.backend.stage_runs.step_watch import Refusal, StepBegins, StepEnds, StepFailed
from xductor.transforms.passes.events import listening
from xductor.transforms.passes.refusals import LeftAlone

_KEPT_PLACES = 5


class ReportWarning(UserWarning):
    """A page about a compile lacks something, or could not be written."""


@contextmanager
def collecting(run: StageRun, folder: str) -> Iterator[None]:
    """Collect what happens in the stage call of `run` inside the block, and write the page of its
    compile into `folder` at the end, however it ends. A page that cannot be written is a warning.
    """
    compiling = _current_compile(run)
    collector = _Collector(run)
    try:
        with collector.listening():
            yield
    except BaseException as error:
        collector.data.raised = f"{type(error).__name__}: {error}"
        raise
    finally:
        collector.finish()
        with compiling.lock:
            compiling.stages.append(collector.data)
            _publish(compiling, folder)


def _current_compile(run: StageRun) -> CompileData:
    """The compile that this stage call belongs to; a process that was forked begins a new one."""
    kept = compile_state.current().kept
    found: CompileData | None = kept.get(__name__)
    if found is None or found.process != os.getpid():
        found = kept[__name__] = _new_compile(run)
    return found


def _new_compile(run: StageRun) -> CompileData:
    from importlib.metadata import version

    import torch
    from torch._guards import CompileContext

    import xductor

    versions = {
        "xductor": xductor.__version__,
        "torch": torch.__version__,
        "xdsl": version("xdsl"),
        "python": sys.version.partition(" ")[0],
    }
    ident = str(CompileContext.current_compile_id() or "")
    command = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]) if sys.argv else ""
    number, process = run.record.compile, os.getpid()
    return CompileData(number, ident, process, time.time(), _rank(), command, versions)


def _rank() -> int | None:
    import torch.distributed as dist

    return dist.get_rank() if dist.is_available() and dist.is_initialized() else None


def _publish(compiling: CompileData, folder: str) -> None:
    """Write the page with the stage that came last, which goes to the trace as well."""
    last = compiling.stages[-1]
    try:
        write_page(compiling, folder)
        if is_traced():
            trace_artifact(f"xductor_steps_{last.stage}", stage_content(last))
    except Exception as error:  # looking at a compile must not break it
        _warn(f"the page of a compile could not be written into {folder}", error)


def _warn(what: str, error: Exception) -> None:
    warn_once(
        ReportWarning,
        (what, type(error).__name__),
        f"{what}: {type(error).__name__}: {error}",
        stacklevel=2,
    )


def _not_timed(method: Callable[..., None]) -> Callable[..., None]:
    """A method that hears of events: its time counts for nothing, and its errors are warnings."""

    @wraps(method)
    def heard(self: _Collector, *args: Any) -> None:
        begin = time.perf_counter_ns()
        try:
            method(self, *args)
        except Exception as error:  # looking at a compile must not break it
            _warn(f"a report lacks a part of the {self.run.stage} stage", error)
        self.own_ns += time.perf_counter_ns() - begin

    return heard


@dataclass
class _Open:
    """A step that runs: when it began, and how much of the collector's own time there was then."""

    step: StepData
    began: int = 0
    own_ns: int = 0


class _Collector:
    """What happened so far in one stage call.

    Three things are kept of graphs, to print none twice: the FX graph and the module as they were
    last printed, and the fingerprint by which an edit of the FX graph shows. A copy of the graph as
    it is now is what passes are asked about, until something changes it.
    """

    def __init__(self, run: StageRun) -> None:
        self.run = run
        record = run.record
        record.detailed = True  # so that a change by a step of Inductor's is noticed
        self.data = StageData(
            record.stage,
            record.graph,
            record.direction,
            record.verify_level,
            run.settings.numerics,
            record.nodes_before,
        )
        self.own_ns = 0
        self._began = time.perf_counter_ns()
        self._open: list[_Open] = []
        self._lowered: list[StepData] = []
        self._module: ModuleOp | None = None
        self._module_text: GraphText | None = None
        self._fx_text: GraphText | None = None
        self._fingerprint: stage_records.Fingerprint = []
        self._copy: ModuleOp | None = None
        self._copied: stage_records.Fingerprint = []
        self._explaining = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        heard: list[tuple[Any, Callable[[Any], object]]] = [
            (StageBegins, self._begin_stage),
            (PassAsked, self._ask),
            (StepBegins, self._begin),
            (StepEnds, self._end),
            (StepFailed, self._fail),
            (Refusal, self._refuse),
            (LeftAlone, self._leave_alone),
        ]
        with ExitStack() as stack:
            for kind, listener in heard:
                stack.enter_context(listening(kind, listener))
            yield

    @_not_timed
    def finish(self) -> None:
        """The stage is done, or it raised."""
        self.data.ns = time.perf_counter_ns() - self._began - self.own_ns
        self.data.nodes_after = len(self.run.gm.graph.nodes)
        for one in self._open:  # an exception went through them
            one.step.failure = one.step.failure or "it raised"
        self._print_fx()
        self.data.after = self._fx_text
        self._fingerprint = self._copied = []
        self._module = self._copy = None

    @_not_timed
    def _begin_stage(self, event: StageBegins) -> None:
        if event.run is self.run:
            self._print_fx()

    @_not_timed
    def _ask(self, event: PassAsked) -> None:
        """Explain what the pass will leave alone in the graph as it is now."""
        if event.run is not self.run or self.run.degraded or self.run.untyped:
            return
        if not gives_reasons(event.one, self.run.settings.numerics):
            return
        module = self._graph_now()
        if module is None:
            return
        self._explaining = True
        try:
            self.data.near += near_misses(event.one, module)
        finally:
            self._explaining = False

    def _graph_now(self) -> ModuleOp | None:
        """A copy of the graph as it is, to be read only; None if the typed IR cannot hold it."""
        group, gm = self.run.group, self.run.gm
        lowered = group is not None and group.current()
        if self._copy is not None and (lowered or stage_records.is_unedited(gm, self._copied)):
            return self._copy
        if group is not None and lowered:
            self._copy = group.module.clone()
        else:
            self._copy = _lowered(self.run)
        self._copied = stage_records.fingerprint(gm)
        return self._copy

    def _begin(self, event: StepBegins) -> None:
        if event.record is self.run.record:  # else it is of a stage inside this one
            opened = _Open(StepData(event.name, event.kind))
            self._open.append(opened)
            self.data.steps.append(opened.step)
            self._print_before(event, opened.step)
            opened.own_ns, opened.began = self.own_ns, time.perf_counter_ns()

    @_not_timed
    def _print_before(self, event: StepBegins, step: StepData) -> None:
        if self.data.before is None:
            self._print_fx()
        if event.module is not None:
            if event.module is not self._module:
                self._module, self._module_text = event.module, module_lines(event.module)
            step.before = self._module_text
        elif event.kind == "bridged":
            self._print_fx()
            step.before = self._fx_text

    def _end(self, event: StepEnds) -> None:
        if event.record is self.run.record and (step := self._close()) is not None:
            if event.applied:
                self._copy = None
            self._ended(step, event)

    def _close(self) -> StepData | None:
        """Stop the clock of the innermost step that runs, and return it."""
        now = time.perf_counter_ns()
        if not self._open:
            return None
        opened = self._open.pop()
        opened.step.ns = now - opened.began - (self.own_ns - opened.own_ns)
        return opened.step

    @_not_timed
    def _ended(self, step: StepData, event: StepEnds) -> None:
        if event.module is not None:
            step.applied = event.applied
            step.applications = list(event.made)
            self._lowered.append(step)
            if event.applied:
                step.after = self._module_text = module_lines(event.module)
        elif step.kind == "raising":
            self._lowered.clear()
            self._module = None
        elif step.kind == "bridged" and self.run.record.passes[-1].changed:
            self._print_fx()
            step.after = self._fx_text
        if step.after is None:
            step.before = None

    def _fail(self, event: StepFailed) -> None:
        if event.record is self.run.record:
            self._failed(event, self._close())

    @_not_timed
    def _failed(self, event: StepFailed, failed: StepData | None) -> None:
        self.data.failures.append(
            Failed(event.culprit, event.reason, event.degraded, event.reproducer)
        )
        if failed is None and self._lowered and self._lowered[-1].name == event.culprit:
            failed = self._lowered[-1]  # it was done, and then its graph was found to be wrong
        if failed is not None:
            failed.failure = event.reason
            failed.undone = True
            if failed.after is None:
                failed.before = None
        for step in self._lowered:
            step.undone = step.undone or bool(step.applied)
        self._lowered.clear()
        self._module = self._copy = None

    @_not_timed
    def _refuse(self, event: Refusal) -> None:
        if event.record is self.run.record:
            self._note(event.rewrite, event.op, event.reason, event.location)

    @_not_timed
    def _leave_alone(self, event: LeftAlone) -> None:
        if self._open and not self._explaining:
            op = event.op
            self._note(self._open[-1].step.name, op.name, event.reason, op.node.location())

    def _note(self, rewrite: str, op: str, reason: str, place: tuple[str, int] | None) -> None:
        if not self._open:
            return
        known = self._open[-1].step.refusals
        found = known.setdefault((rewrite, op, reason), Refusals(rewrite, op, reason))
        found.count += 1
        if place is not None and place not in found.places and len(found.places) < _KEPT_PLACES:
            found.places.append(place)

    def _print_fx(self) -> None:
        """Print the FX graph, if it was edited since."""
        gm = self.run.gm
        if self._fx_text is None or not stage_records.is_unedited(gm, self._fingerprint):
            self._fx_text = _printed(self.run)
            self._fingerprint = stage_records.fingerprint(gm)
        if self.data.before is None:
            self.data.before = self._fx_text


def _printed(run: StageRun) -> GraphText:
    from xductor.frontend import from_fx

    try:
        module = from_fx(run.gm, run.stage, example_inputs=run.example_inputs)
        return module_lines(module)
    except Exception as error:  # a graph that cannot be lowered is shown with the reason
        return fx_lines(run.gm, f"{type(error).__name__}: {error}")


def _lowered(run: StageRun) -> ModuleOp | None:
    from xductor.frontend import from_fx

    try:
        return from_fx(run.gm, run.stage, example_inputs=run.example_inputs)
    except Exception:  # the steps show the graph as FX text, with the reason
        return None


__all__ = ["ReportWarning", "collecting"]
