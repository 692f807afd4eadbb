"""What our stages cost beside Inductor's: `python -m tests.benchmarks.stage_ratios`.

Every stage call of a model's compile is run again on copies of its graph, by Inductor's function
and by ours in turns, in the thread, fake mode and tracing context of the compile; the least thread
CPU time of each counts, the first run of each does not. Lowering, checks and raising are ours too.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tests.corpus.capture import StageCall, capture
from xductor.backend import seam, settings, stages

Seconds = dict[tuple[str, str], list[float]]
"""By stage and `ours` or `stock`: the least seconds of each call."""


def least(work: Callable[[], object], runs: int) -> float:
    """The least thread CPU time of several runs, after one that is not counted.

    What was there before is frozen: to walk through all of it before each run would put it in the
    place of what the run has in the CPU's caches, as no compile does.
    """
    found = float("inf")
    gc.collect()
    gc.freeze()
    try:
        for number in range(runs + 1):
            gc.collect()
            spent = _seconds(work)
            found = min(found, spent) if number else found
    finally:
        gc.unfreeze()
    return found


def _seconds(work: Callable[[], object]) -> float:
    """The thread CPU time of some work that no collection interrupts."""
    gc.disable()
    try:
        start = time.thread_time()
        result = work()  # a compile goes on with it: it is not part of a stage to free it
        spent = time.thread_time() - start
        del result
        return spent
    finally:
        gc.enable()


def measure(step: Callable[[Callable[..., Any]], Any], runs: int, only: str | None) -> Seconds:
    """All stage calls of one model's compile."""
    seam.attach()  # before anything else stands in the place of the functions
    seconds: Seconds = defaultdict(list)

    def on_call(call: StageCall) -> None:
        if only is not None and call.stage != only:
            return
        ours = stages.__dict__[
            f"{call.stage}_passes" if call.stage != "joint" else "joint_graph_passes"
        ]
        stock = seam.stock_function(call.stage)  # type: ignore[arg-type]
        for name, function in (("stock", stock), ("ours", ours)):
            copies = [call.copy() for _ in range(runs + 1)]
            with settings.use(settings.current().replace(on_error="raise")):
                work = lambda: function(copies.pop(), *call.args, **call.kwargs)  # noqa: B023, E731
                seconds[call.stage, name].append(least(work, runs))

    capture(step, on_call)
    return seconds


def step_of(models: ModuleType, name: str, train: bool, layers: int | None) -> Any:
    """Builds a model and runs it once under a compiler."""
    options = {} if layers is None else {"layers": layers}
    torch.manual_seed(0)
    model, args, kwargs = models.build(name, **options)
    model = model.train(train)

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
    parser.add_argument("--stage", choices=("pre_grad", "joint", "post_grad"))
    parser.add_argument("--layers", type=int)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args(argv)
    models = load(args.models_file)
    total: dict[tuple[str, str], float] = defaultdict(float)
    print("| model | mode | stage | calls | stock ms | ours ms | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in args.only.split(",") if args.only else models.names():
        for train in (False, True):
            try:
                found = measure(step_of(models, name, train, args.layers), args.runs, args.stage)
            except Exception as error:
                print(
                    f"| {name} | {'train' if train else 'eval'} | {type(error).__name__}: {error} |"
                )
                continue
            for (stage, who), each in found.items():
                total[stage, who] += sum(each)
            for stage in dict.fromkeys(stage for stage, _ in found):
                stock, ours = sum(found[stage, "stock"]), sum(found[stage, "ours"])
                calls = len(found[stage, "ours"])
                _row(name, "train" if train else "eval", stage, calls, stock, ours)
    for stage in dict.fromkeys(stage for stage, _ in total):
        _row("total", "", stage, 0, total[stage, "stock"], total[stage, "ours"])
    return 0


def _row(name: str, mode: str, stage: str, calls: int, stock: float, ours: float) -> None:
    ms = f"{stock * 1e3:.1f} | {ours * 1e3:.1f}"
    print(f"| {name} | {mode} | {stage} | {calls} | {ms} | {ours / stock:.3f} |", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
