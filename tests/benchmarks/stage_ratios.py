"""What our stages cost beside Inductor's: `python -m tests.benchmarks.stage_ratios`.

Every stage call of a model's compile is run again on copies of its graph, by Inductor's function
and by ours in turns, in the thread, fake mode and tracing context of the compile, and thread CPU
time is taken; the first turn does not count. The least of Inductor's is shown, and the median of
the turns' ratios: a core that other work shares is slower for seconds on end, and for both alike.
Lowering, checks and raising are ours too. Both have room on Python's stack (`stack_room`), without
which either may take twice as long and more, by how deep it is called.

With `--freezing` models are frozen, in evaluation mode: what freezing does, with the constants that
are computed behind it, is a stage of its own; it and the post-grad stage together have a row, and
so have all stages.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib.util
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch._inductor.freezing as freezing
from torch._dynamo.exc import BackendCompilerFailed
from torch._inductor import config as inductor_config

from tests.corpus.capture import StageCall, capture
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.seam import dispatch
from xductor.backend.stage_runs.stack_room import with_stack_room
from xductor.backend.steps import late_constants

Work = Callable[[Any], object]
Stage = Callable[..., object]
#: By stage: of each call the seconds of Inductor's function, and of ours.
Seconds = dict[str, list[tuple[float, float]]]


def in_turns(stock: Work, ours: Work, copy: Callable[[], Any], runs: int) -> tuple[float, float]:
    """The least seconds of Inductor's work; they, by the median of the ratios of ours to it.

    What was there before is frozen: to walk through all of it before each run would put it in the
    place of what the run has in the CPU's caches, as no compile does.
    """
    gc.collect()
    gc.freeze()
    try:
        spent = [(seconds_of(stock, copy()), seconds_of(ours, copy())) for _ in range(runs + 1)]
    finally:
        gc.unfreeze()
    least = min(theirs for theirs, _ in spent[1:])
    return least, least * statistics.median(own / theirs for theirs, own in spent[1:])


@with_stack_room
def seconds_of(work: Work, gm: Any) -> float:
    """The thread CPU time of some work that no collection interrupts."""
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        result = work(gm)  # a compile goes on with it: it is not part of a stage to free it
        spent = time.thread_time() - start
        del result
        return spent
    finally:
        gc.enable()


def measure(
    step: Callable[[Callable[..., Any]], Any], runs: int, only: str | None, *, freezes: bool = False
) -> Seconds:
    """All stage calls of one model's compile; of a frozen one, those up to its post-grad stage."""
    dispatch.attach()  # before anything else stands in the place of the functions
    seconds: Seconds = defaultdict(list)

    def on_call(call: StageCall) -> None:
        if only is None or call.stage == only:
            stock, ours = _functions(call.stage)
            seconds[call.stage].append(_both(call, stock, ours, runs))
        if freezes and call.stage == "post_grad":
            raise Measured  # packed calls with something in their end run in generated code alone

    if not freezes:
        capture(step, on_call)
        return seconds
    with inductor_config.patch(freezing=True), _before_freezing(on_call):
        try:
            capture(step, on_call)
        except BackendCompilerFailed as error:
            if not isinstance(error.inner_exception, Measured):
                raise
    if only is None:
        frozen = seconds["freezing"] + seconds["post_grad"]
        seconds["freezing and post_grad"].append(_sum(frozen))
        seconds["all"].append(_sum(frozen + seconds["pre_grad"] + seconds["joint"]))
    return seconds


def _sum(calls: list[tuple[float, float]]) -> tuple[float, float]:
    return sum(stock for stock, _ in calls), sum(ours for _, ours in calls)


class Measured(Exception):
    """All was measured, and no more is wanted of the compile."""


def _both(call: StageCall, stock: Stage, ours: Stage, runs: int) -> tuple[float, float]:
    with settings.use(settings.current().replace(on_error="raise")):
        return in_turns(
            lambda gm: stock(gm, *call.args, **call.kwargs),
            lambda gm: ours(gm, *call.args, **call.kwargs),
            call.copy,
            runs,
        )


def _functions(stage: str) -> tuple[Stage, Stage]:
    """Inductor's function for a stage, and ours."""
    if stage != "freezing":
        name = f"{stage}_passes" if stage != "joint" else "joint_graph_passes"
        return dispatch.stock_function(stage), stages.__dict__[name]  # type: ignore[arg-type]
    passes: Any = freezing.freezing_passes  # those that choose between the two, as does the fold
    fold: Any = freezing.constant_fold

    def stock(gm: Any, inputs: Any) -> None:
        passes.__wrapped__(gm, inputs)
        fold.__wrapped__(gm)

    def ours(gm: Any, inputs: Any) -> None:
        stages.freezing_passes(gm, inputs)
        late_constants.fold(gm, fold.__wrapped__)

    return stock, ours


@contextmanager
def _before_freezing(on_call: Callable[[StageCall], None]) -> Iterator[None]:
    """Call `on_call` before what freezing does to a graph."""
    passes = freezing.freezing_passes

    @functools.wraps(passes)
    def watched(gm: Any, inputs: Any) -> None:
        freezing.freezing_passes = passes
        on_call(StageCall("freezing", gm, (inputs,), {}))
        passes(gm, inputs)

    freezing.freezing_passes = watched
    try:
        yield
    finally:
        freezing.freezing_passes = passes


def step_of(models: ModuleType, name: str, train: bool, layers: int | None) -> Any:
    """Builds a model and runs it once under a compiler."""
    options = {} if layers is None else {"layers": layers}
    torch.manual_seed(0)
    model, args, kwargs = models.build(name, **options)
    model.train(train)  # exported models return nothing

    def step(compiler: Callable[..., Any]) -> None:
        compiled = compiler(model)
        if train:
            models.loss_of(name, compiled(*args, **kwargs)).backward()
            return
        with torch.no_grad():
            compiled(*args, **kwargs)

    return step


def load(path: Path) -> ModuleType:
    """A file of models as a module."""
    spec = importlib.util.spec_from_file_location("measured_models", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # functions of it are imported by name when they are traced
    spec.loader.exec_module(module)
    return module


def main(argv: Sequence[str] | None = None) -> int:
    """Print seconds and ratios, by model and in total."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    own = Path(__file__).parents[1] / "corpus" / "models.py"
    parser.add_argument("--models-file", type=Path, default=own)
    parser.add_argument("--only", default="")
    parser.add_argument("--stage", choices=("pre_grad", "joint", "freezing", "post_grad"))
    parser.add_argument("--freezing", action="store_true", help="freeze the models")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args(argv)
    models = load(args.models_file)
    total: Seconds = defaultdict(list)
    print("| model | mode | stage | calls | stock ms | ours ms | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in args.only.split(",") if args.only else models.names():
        for train in (False,) if args.freezing else (False, True):
            try:
                step = step_of(models, name, train, args.layers)
                found = measure(step, args.runs, args.stage, freezes=args.freezing)
            except Exception as error:
                print(
                    f"| {name} | {'train' if train else 'eval'} | {type(error).__name__}: {error} |"
                )
                continue
            for stage, calls in found.items():
                total[stage] += calls
                _row(name, "train" if train else "eval", stage, calls)
    for stage, calls in total.items():
        _row("total", "", stage, calls)
    return 0


def _row(name: str, mode: str, stage: str, calls: list[tuple[float, float]]) -> None:
    stock, ours = (sum(each) for each in zip(*calls, strict=True))
    ms = f"{stock * 1e3:.1f} | {ours * 1e3:.1f}"
    print(f"| {name} | {mode} | {stage} | {len(calls)} | {ms} | {ours / stock:.3f} |", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
