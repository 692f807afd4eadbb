"""Small programs beside stock Inductor: `python -m tests.benchmarks.algebra`.

Both are compiled in one process and take turns; a figure is stock's least time over ours, so that
more than one means faster. `--numerics default` shows what is kept without `fast`. On a CPU it is
the time of the process, on a GPU that between two events.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

import xductor
from tests.transforms.algebra.programs import PROGRAMS, operands

Run = Callable[[], Any]


def seconds(run: Run, device: str, calls: int) -> float:
    """The time of one of a few calls, in seconds."""
    if device == "cpu":
        start = time.process_time()
        for _ in range(calls):
            run()
        return (time.process_time() - start) / calls
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3 / calls


def least(runs: Sequence[Run], device: str, rounds: int) -> list[float]:
    """The least time of each, measured by turns; each turn takes some two milliseconds."""
    calls = [max(1, int(2e-3 / max(seconds(run, device, 1), 1e-6))) for run in runs]
    times = [
        [seconds(run, device, count) for run, count in zip(runs, calls, strict=True)]
        for _ in range(rounds)
    ]
    return [min(column) for column in zip(*times, strict=True)]


def compare(what: str, args: argparse.Namespace) -> tuple[float, float, int]:
    """Stock's and our seconds, and how often the pass of the program was applied."""
    name, program = PROGRAMS[what]
    given = [one.to(args.device) for one in operands(args.size)]
    torch._dynamo.reset()
    shared: dict[str, Any] = {"triton.cudagraphs": args.cudagraphs}
    options = {**shared, "xductor.numerics": args.numerics, "xductor.on_error": "raise"}
    stock = torch.compile(program, options=shared)
    ours = torch.compile(program, backend="xductor", options=options)
    with torch.no_grad():
        expected, found = stock(*given).clone(), ours(*given).clone()  # graphs reuse outputs
        scale = float(expected.abs().max())
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4 * scale)
        record = xductor.last_compile()
        runs: list[Run] = [lambda: stock(*given), lambda: ours(*given)]
        times = least(runs, args.device, args.rounds)
    return times[0], times[1], 0 if record is None else record.count(name)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each program, and the geometric mean."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--numerics", choices=("strict", "default", "fast"), default="fast")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--cudagraphs", action="store_true", help="kernels without launches")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="*", help="programs by name; all by default")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    print("| program | pass | applied | stock us | ours us | times faster |")
    print("| --- | --- | --- | --- | --- | --- |")
    ratios: list[float] = []
    for what in args.only or PROGRAMS:
        stock, ours, count = compare(what, args)
        ratios.append(stock / ours)
        row = f"| {what} | `{PROGRAMS[what][0]}` | {count} | {stock * 1e6:.0f} | {ours * 1e6:.0f} "
        print(f"{row}| {ratios[-1]:.2f} |", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"\n{len(ratios)} programs, geometric mean {mean:.2f}, least {min(ratios):.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
