"""Runs typed passes on an FX graph: prefilter, lower, check, rewrite, check, raise.

A `TypedGroup` is a graph in the typed IR while passes run on it. It is lowered when the first pass
that could fire asks for it, raised when something is about to read the FX graph, and kept for later
passes as long as nobody edits the FX graph meanwhile. `gm` changes only in `TypedGroup.flush`, so a
failure before that leaves it untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.config import settings
from xductor.backend.config.settings import VerifyLevel
from xductor.backend.records import stage_records
from xductor.backend.records.application_records import Applications
from xductor.backend.stage_runs import applications, failures
from xductor.backend.stage_runs.stack_room import with_stack_room
from xductor.backend.stage_runs.stage_run import LoweredGraph, StageRun
from xductor.backend.stage_runs.step_watch import StepBegins, StepEnds
from xductor.backend.steps import node_values, overrides, value_updates
from xductor.transforms import Stage, TypedPass
from xductor.transforms.analysis import analyses
from xductor.transforms.passes.events import tell
from xductor.transforms.passes.numerics import admits
from xductor.transforms.passes.pass_results import application_count, snapshot
from xductor.transforms.rewriting.driver import NoConvergence
from xductor.transforms.rewriting.rewrite_pass import RewritePass

if TYPE_CHECKING:
    from torch.fx import GraphModule

    from xductor.backend.fx.value_metadata import NewValues

#: Whether the graphs of higher-order ops are lowered too, or only declared.
Subgraphs = Literal["bodies", "declare"]


@dataclass
class TypedGroup:
    """A graph in the typed IR, with the passes that ran on it since it was lowered or raised."""

    run: StageRun
    module: ModuleOp
    source: stage_records.Fingerprint
    changed: bool = False
    #: Passes that ran since the last flush, how often each was applied, and what was recorded.
    passes: list[TypedPass] = field(default_factory=list[TypedPass])
    applied: list[int] = field(default_factory=list[int])
    followed: list[applications.Followed] = field(default_factory=list[applications.Followed])

    @classmethod
    def lower(cls, run: StageRun, subgraphs: Subgraphs = "declare") -> TypedGroup:
        """Lower `run.gm`, with or without the bodies of its subgraphs; nothing is checked yet.

        Inductor's fusions leave uses before definitions, which it sorts at the end of the stage,
        and values that are no longer true. The typed IR allows neither, so such a graph is sorted,
        and its values are refreshed.
        """
        try:
            value_updates.refresh(run)
        except Exception:
            module = _from_fx(run, subgraphs)
            verify_module(module, "types")  # names the node, its operands, the user's line
            raise
        return cls.lower_as_is(run, subgraphs)

    @classmethod
    def lower_as_is(cls, run: StageRun, subgraphs: Subgraphs = "declare") -> TypedGroup:
        """Lower `run.gm` like `lower`, but with the values that the nodes have recorded."""
        from xductor.frontend.errors import LoweringError

        try:
            module = _from_fx(run, subgraphs)
        except LoweringError:
            if node_values.in_order(run):
                raise
            node_values.sort(run)
            module = _from_fx(run, subgraphs)
        run.record.lowered += 1
        analyses.keep(module)
        return cls(run, module, stage_records.fingerprint(run.gm))

    def current(self) -> bool:
        """Whether the module still represents the FX graph, apart from our own changes."""
        return self.changed or stage_records.is_unedited(self.run.gm, self.source)

    def apply(self, one: TypedPass) -> int:
        """Run one pass and return the number of applications."""
        self.passes.append(one)
        before = snapshot(self.module) if self._is_doubted(one) else None
        tell(StepBegins(self.run.record, one.name, "typed", self.run.gm, self.module))
        with applications.followed(self.run, one, self.module) as followed:
            answer = one.rewrite(self.module)
        changed = None if before is None else snapshot(self.module) != before
        applied = application_count(one, answer, changed)
        made = Applications(followed.notes)
        tell(StepEnds(self.run.record, self.run.gm, self.module, applied, made))
        self.applied.append(applied)
        self.followed.append(followed)
        if applied:
            self.changed = True
            analyses.changed(self.module, one.preserves)
            if one.writes_back:
                self.run.writes_back = True
            level = self.run.verify_level
            if level != "structure":
                verify_module(self.module, level)
        return applied

    def _is_doubted(self, one: TypedPass) -> bool:
        """Whether a pass's answer is checked against what it did, which has a cost."""
        return _is_foreign(one) or self.run.settings.verify != "structure"

    def _new_values(self) -> NewValues:
        """How the values of new calls are made; types that our passes inferred are trusted."""
        if any(map(_is_foreign, self.passes)):
            return "run"
        return "types" if self.run.settings.verify == "structure" else "checked"

    def undo(self) -> applications.Followed:
        """Forget the module with what the last pass made, which is the only change in it.

        Returns what was followed of that pass; the record has what of it did not converge.
        """
        one, followed = self.passes.pop(), self.followed.pop()
        self.applied.pop()
        self.changed = False
        self.flush()
        self.run.group = None
        self.run.record.typed(one.name, 0, unconverged=followed.unconverged)
        return followed

    def flush(self) -> None:
        """Raise the module into the FX graph if a pass changed it, which ends the group."""
        if self.changed:
            from xductor.backend.fx import export

            self.run.group = None
            tell(StepBegins(self.run.record, "to_fx", "raising", self.run.gm))
            try:
                export.to_fx(
                    self.module, into=self.run.gm, recompile=False, values=self._new_values()
                )
                self.run.stale_code = True
                value_updates.raised(self.run)
            except Exception as error:  # whatever it is, the stage goes on without the passes
                failures.handle(self.run, failures.Failure("to_fx", error, self.passes))
                return
            tell(StepEnds(self.run.record, self.run.gm))
        for one, applied, followed in zip(self.passes, self.applied, self.followed, strict=True):
            self.run.record.typed(
                one.name, applied, followed.numbers, followed.notes, followed.unconverged
            )
            followed.count()
            _count(one, applied)
        self.passes, self.applied, self.followed = [], [], []


def _is_foreign(one: TypedPass) -> bool:
    """Whether a pass comes from outside this package."""
    return type(one).__module__.partition(".")[0] != "xductor"


def _from_fx(run: StageRun, subgraphs: Subgraphs) -> ModuleOp:
    from xductor import frontend

    return frontend.from_fx(
        run.gm, run.stage, example_inputs=run.example_inputs, subgraphs=subgraphs
    )


def verify_module(module: ModuleOp, level: VerifyLevel) -> None:
    """Verify a module. Raises VerifyException."""
    from xductor.ir import verify

    verify(module, level=level)


OnFailure = Callable[[failures.Failure], None]


def run_pass(run: StageRun, one: TypedPass, failed: OnFailure | None = None) -> int:
    """Run a typed pass as part of a stage; returns the number of applications.

    Nothing is lowered for a pass that cannot fire. A failure falls back or raises, as the settings
    say; after a fallback the FX graph is as it was before the group, and 0 is returned.

    If `failed` is given, it is called with a failure of the pass, which then undoes that pass
    alone: what ran before is raised first, and what the pass made is checked at once.
    """
    if run.degraded or not admits(run.settings.numerics, one.numerics):
        return 0
    group = run.group
    if (group is None or not group.changed) and not one.may_fire(run.gm.graph):
        return 0
    if failed is not None and group is not None and group.changed:
        group.flush()
        group = None
        if run.degraded or not one.may_fire(run.gm.graph):
            return 0
    if group is None or not group.current():
        return _lower_and_apply(run, one, failed)
    return _apply(group, one, failed)


@with_stack_room
def _lower_and_apply(run: StageRun, one: TypedPass, failed: OnFailure | None) -> int:
    group = lowered(run)
    return 0 if group is None else _apply(group, one, failed)


def _apply(group: LoweredGraph, one: TypedPass, failed: OnFailure | None) -> int:
    try:
        applied = group.apply(one)
        if applied and failed is not None:
            verify_module(group.module, "structure")
    except Exception as error:  # of a pass, which may be the user's: the stage goes on without it
        group.run.group = None
        failure = failures.Failure(one.name, error, group.passes)
        if failed is None:
            failures.handle(group.run, failure)
        else:
            failed(failure)
        return 0
    if failed is not None and group.followed[-1].unconverged:
        _give_up(group, one, failed)
        return 0
    if applied:
        tell(applications.Changed(group.run, one, group.module))
        overrides.take_pass(group.run, one.name)
    return applied


def _give_up(group: LoweredGraph, one: TypedPass, failed: OnFailure) -> None:
    """Undo a pass of the user's with rewrites that match what they make, without end.

    Several rewrites of one walk are left to whoever runs them, who may run each alone.
    """
    names = group.undo().unconverged
    if isinstance(one, RewritePass) and len(one.rewrites) > 1:
        error = NoConvergence(f"{', '.join(names)} did not converge", tuple(names))
        failed(failures.Failure(one.name, error, [one]))


def lowered(run: StageRun, subgraphs: Subgraphs = "declare") -> TypedGroup | None:
    """The graph in the typed IR, checked at the level of the settings; None after a failure."""
    run.group = None
    culprit = "from_fx"
    tell(StepBegins(run.record, "from_fx", "lowering", run.gm))
    try:
        group = TypedGroup.lower(run, subgraphs)
        culprit = "verification"
        verify_module(group.module, run.verify_level)
    except Exception as error:  # whatever it is, the stage goes on with its required steps
        failures.handle(run, failures.Failure(culprit, error))
        return None
    tell(StepEnds(run.record, run.gm))
    run.group = group
    return group


def _count(one: TypedPass, applied: int) -> None:
    """Increment Inductor's counters as its own pass would have."""
    if not applied:
        return
    from torch._dynamo.utils import counters

    if one.matched_nodes:
        counters["inductor"]["pattern_matcher_count"] += applied
        counters["inductor"]["pattern_matcher_nodes"] += applied * one.matched_nodes
    if one.counter is not None:
        counters["inductor"][one.counter] += applied


def run_typed(
    gm: GraphModule,
    passes: Iterable[TypedPass],
    stage: Stage,
    *,
    example_inputs: Sequence[Any] | None = None,
) -> dict[str, int]:
    """Run typed passes on an FX graph, outside any pipeline; `gm` is changed in place.

    Returns the number of applications by name of pass. Failures are handled as in a compile.

    Raises StageError if a pass, the lowering or the raising failed and `on_error="raise"`.
    """
    now = settings.current()
    with stage_records.stage_record(
        stage, gm, stage_records.direction(stage, False), now.verify
    ) as record:
        run = StageRun(stage, gm, now, record, example_inputs=example_inputs)
        counts = {one.name: run_pass(run, one) for one in passes}
        if run.group is not None:
            run.group.flush()
        run.recompile_if_stale()
        record.nodes_after = len(gm.graph.nodes)
    return {} if run.degraded else counts
