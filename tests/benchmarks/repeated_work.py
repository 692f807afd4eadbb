"""What merging equal ops and holding tables save: `python -m tests.benchmarks.repeated_work`.

    python -m tests.benchmarks.repeated_work --models-file models.py

Stock, we without these passes and we with them compile the same model of a file (`gpu_corpus` says
what that has) for inference on one CPU, in one process, and take turns. A row for each model: how
many ops were merged and tables held, the CPU time of stock, and the medians of the turns' ratios.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

import xductor
from tests.benchmarks.gpu_corpus import build, geomean
from tests.benchmarks.stage_ratios import load

PASSES = ("common_subexpression_elimination", "fold_tables")
#: Seconds of one model's turn, more or less.
_TURN = 0.02

Run = Callable[[], torch.Tensor]


def compiled(model: Any, args: Any, kwargs: Any, backend: str, options: dict[str, Any]) -> Run:
    """A call of the compiled model, which has run."""
    torch._dynamo.reset()
    call = torch.compile(model, backend=backend, options=options or None)

    def run() -> torch.Tensor:
        with torch.no_grad():
            return call(*args, **kwargs)

    run()
    run()
    return run


def seconds(run: Run, calls: int) -> float:
    """The CPU time of one of a few calls."""
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def compare(models: Any, name: str, sizes: dict[str, Any], rounds: int) -> tuple[float, float]:
    """Print a model's row; our time over that without the passes, and over stock's."""
    model, args, kwargs = build(models, name, sizes)
    given = model.eval(), args, kwargs
    stock = compiled(*given, "inductor", {})
    without = compiled(*given, "xductor", {"xductor.disabled_passes": list(PASSES)})
    ours = compiled(*given, "xductor", {})
    counts = [xductor.last_compile().count(one) for one in PASSES]
    assert torch.equal(without(), ours()) or counts[1]  # tables are those of eager
    calls = max(1, int(_TURN / max(seconds(stock, 1), 1e-6)))
    gc.collect()
    turns = [[seconds(run, calls) for run in (stock, without, ours)] for _ in range(rounds)]
    to_without, to_stock = (
        statistics.median(turn[2] / turn[other] for turn in turns) for other in (1, 0)
    )
    least = min(turn[0] for turn in turns) * 1e3
    print(
        f"| {name} | {counts[0]} | {counts[1]} | {least:.2f} | {to_without:.3f} | {to_stock:.3f} |",
        flush=True,
    )
    return to_without, to_stock


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models-file", type=Path, required=True)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--sizes", type=json.loads, default={}, help="as JSON, for all models")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    models = load(options.models_file)
    sizes = {"layers": 2, "dtype": "fp32", **options.sizes}
    print("| model | merged | held | stock ms | ours to without | ours to stock |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    found = [
        compare(models, name, sizes, options.rounds) for name in options.only or models.names()
    ]
    for what, ratios in zip(("without", "stock"), zip(*found, strict=True), strict=True):
        print(f"geomean to {what}: {geomean(ratios):.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
