"""The three stages, with the signatures of Inductor's own functions.

They take graphs of another level too: a torch-level graph without values, given to the joint or the
post-grad stage, goes through the passes that can work on it, and is left valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from xductor.backend.config import settings
from xductor.backend.fx.lazy_code import write_code_lazily
from xductor.backend.records import cached_records, stage_records
from xductor.backend.stage_runs.ir_logging import log_ir
from xductor.backend.stage_runs.stack_room import with_stack_room
from xductor.backend.stage_runs.stage_run import StageRun, lacks_values
from xductor.backend.stage_runs.stage_watch import StageBegins, StageEnds
from xductor.backend.steps import bridge, overrides, value_updates
from xductor.backend.user_passes import user_rewrites
from xductor.transforms import Stage
from xductor.transforms.passes.events import tell

if TYPE_CHECKING:
    import torch
    from torch.fx import GraphModule

Step = Callable[[StageRun], None]


def pre_grad_passes(
    gm: GraphModule,
    example_inputs: Sequence[Any] | None = (),
    add_passes: str | None = None,
    remove_passes: str | None = None,
) -> GraphModule:
    """Run the pre-grad stage on a torch-level graph, in place; returns the graph module.

    `add_passes` and `remove_passes` are comma-separated names of pre-dispatch passes.

    Raises StageError if a typed pass fails and `on_error="raise"`.
    """
    from xductor.backend.pipelines.pre_grad import STEPS

    with _stage("pre_grad", gm) as run:
        run.example_inputs = example_inputs
        run.add_passes, run.remove_passes = add_passes, remove_passes
        _run(STEPS, run)
    return run.gm


def joint_graph_passes(gm: GraphModule, input_device: torch.device | None = None) -> GraphModule:
    """Run the joint stage on a forward-and-backward ATen graph; returns the graph module.

    Raises StageError if a typed pass fails and `on_error="raise"`.
    """
    from xductor.backend.pipelines.joint_graph import STEPS

    with _stage("joint", gm) as run:
        run.input_device = input_device
        run.untyped = lacks_values(gm)
        value_updates.watch_edits(run)
        _run(STEPS, run)
    return run.gm


def post_grad_passes(gm: GraphModule, is_inference: bool) -> None:
    """Run the post-grad stage on an ATen graph of one direction, in place.

    Raises StageError if a typed pass fails and `on_error="raise"`.
    """
    from xductor.backend.pipelines.post_grad import STEPS

    write_code_lazily(gm)
    with _stage("post_grad", gm, is_inference) as run:
        run.untyped = lacks_values(gm)
        value_updates.watch_edits(run)
        _run(STEPS, run)


def freezing_passes(gm: GraphModule, example_inputs: Sequence[Any]) -> None:
    """Run what freezing runs on a graph whose parameters became constants, in place.

    It is a graph of the post-grad stage in inference, and is recorded as one.

    Raises StageError if a typed pass fails and `on_error="raise"`.
    """
    from xductor.backend.pipelines.freezing import STEPS

    with _stage("post_grad", gm, is_inference=True) as run:
        run.example_inputs = example_inputs
        value_updates.watch_edits(run)
        log_ir(run, "before")
        for step in STEPS:
            step(run)
        bridge.flush(run)
        run.recompile_if_stale()
        log_ir(run, "after")


@contextmanager
def _stage(stage: Stage, gm: GraphModule, is_inference: bool = False) -> Iterator[StageRun]:
    now = settings.current()
    direction = stage_records.direction(stage, is_inference)
    with stage_records.stage_record(stage, gm, direction, now.verify) as record:
        run = StageRun(stage, gm, now, record, is_inference=is_inference)
        with _fake_mode(gm), _reported(run):
            yield run
        record.nodes_after = len(run.gm.graph.nodes)
    cached_records.made(record)


def _reported(run: StageRun) -> AbstractContextManager[None]:
    """Collect what happens for a page, if the settings ask for one."""
    if run.settings.report is None:
        return nullcontext()
    from xductor.backend.report.collector import collecting

    return collecting(run, run.settings.report)


@contextmanager
def _fake_mode(gm: GraphModule) -> Iterator[None]:
    """Give Inductor's steps the fake mode of the graph's values if no compile has set one."""
    from torch._inductor.virtualized import NullHandler, V

    if not isinstance(V.fake_mode, NullHandler):
        yield
        return
    modes = (_mode_of(node.meta["val"]) for node in gm.graph.nodes if "val" in node.meta)
    mode = next((mode for mode in modes if mode is not None), None)
    if mode is None:
        yield
        return
    with V.set_fake_mode(mode):
        yield


def _mode_of(value: Any) -> Any:
    from torch._guards import detect_fake_mode
    from torch._subclasses.fake_tensor import FakeTensor

    return value.fake_mode if type(value) is FakeTensor else detect_fake_mode([value])


def _run(steps: Sequence[Step], run: StageRun) -> None:
    overrides.take(run, "before")
    log_ir(run, "before")
    tell(StageBegins(run))
    beside_steps = user_rewrites.beside_steps(run)
    remaining = iter(steps)
    for step in remaining:
        _run_step(step, run, beside_steps)
        if run.record.lowered:
            _run_rest(remaining, run, beside_steps)
    bridge.flush(run)
    run.recompile_if_stale()
    user_rewrites.say_what_cannot_run(run)
    overrides.take(run, "after")
    tell(StageEnds(run))
    log_ir(run, "after")


def _run_step(step: Step, run: StageRun, beside_steps: bool) -> None:
    with user_rewrites.around(run, step) if beside_steps else nullcontext():
        step(run)


@with_stack_room
def _run_rest(steps: Iterator[Step], run: StageRun, beside_steps: bool) -> None:
    """Run the steps after the first lowering, then raise what was rewritten."""
    for step in steps:
        _run_step(step, run, beside_steps)
    bridge.flush(run)
