"""Frozen models on a CPU, by Inductor and by us: `python -m tests.benchmarks.frozen_figures`.

For each model of `tests/corpus/frozen_models.py`: how far the numbers are from a reference
(eager's, stock's, ours), the speed of ours beside stock's, memory, what the generated code calls,
and whether the module is what it was before. Both are compiled in one process without caches, and
take turns; thread CPU time is taken with one thread. The exit status is 1 if numbers, speed or
state fail.

Models that PT2E quantises need `torchao`, which may lie anywhere on `PYTHONPATH`.
"""

from __future__ import annotations

import argparse
import copy
import gc
import importlib.util
import re
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._inductor import config as inductor_config
from torch._inductor.utils import run_and_get_code
from torch.utils import _pytree as pytree

from tests.benchmarks.held_bytes import held_bytes
from tests.corpus import frozen_models
from tests.corpus.frozen_numbers import Distances, distance, reference
from tests.held_state import HeldState

BACKENDS = ("inductor", "xductor")

#: No model may be slower than this part of stock's speed.
SLOWEST = 0.97

Run = Callable[[], Tensor]


# ------------------------------------------------------------------- generated code

_CALL = re.compile(r"(?:= |^\s+)(?:torch\.ops|extern_kernels)\.[\w.]+\(")
_KERNEL = re.compile(r"^\s+\w*cpp_fused\w*\(")
_POST_OPS = re.compile(r"'(?:relu|sigmoid|tanh|gelu|swish|hard\w+|leaky_relu|add|sum|sub|mul)'")
_PACKED = re.compile(r"\.(?:mkldnn|mkl|onednn|quantized)\.|int8pack|int4pack")


@dataclass(frozen=True)
class Calls:
    """What a run of generated code calls: kernels of libraries, those of them over weights that are
    packed or narrow, those with something computed in their end; and kernels of its own."""

    library: int
    packed: int
    with_post_ops: int
    own: int

    @classmethod
    def of(cls, codes: Sequence[str]) -> Calls:
        """Count the lines of generated Python code that call something."""
        lines = [line for code in codes for line in _body(code)]
        calls = [line for line in lines if _CALL.search(line)]
        return cls(
            len(calls),
            sum(bool(_PACKED.search(line)) for line in calls),
            sum(bool(_POST_OPS.search(line)) for line in calls),
            sum(bool(_KERNEL.match(line)) for line in lines),
        )

    def __str__(self) -> str:
        return f"{self.library}, {self.packed}, {self.with_post_ops}, {self.own}"


def _body(code: str) -> list[str]:
    """The lines of the function that is called."""
    body = re.split(r"^\s*def call\(.*\):$", code, flags=re.MULTILINE)[-1]
    lines = body.partition("\ndef benchmark_compiled_module")[0].splitlines()
    return [line for line in lines if not line.lstrip().startswith(("#", "assert"))]


# ------------------------------------------------------------------- memory


def peak_bytes(run: Run) -> int:
    """How much more than before a run allocates at its peak."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        run()
    assert profile.profiler is not None
    results: Any = profile.profiler.kineto_results
    events = [event for event in results.events() if event.name() == "[memory]"]
    now = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        peak = max(peak, now)
    return peak


# ------------------------------------------------------------------- speed


@dataclass(frozen=True)
class Speed:
    """Milliseconds of a run of stock's code, and ours beside it: above 1 is faster than stock."""

    milliseconds: float
    ratio: float


def in_turns(stock: Run, ours: Run, rounds: int, seconds: float = 0.02) -> Speed:
    """The median over rounds of stock's time divided by ours; who begins changes each round."""
    once = min(_spent(stock, 1) for _ in range(5))
    times = max(1, round(seconds / once))
    _spent(ours, times)
    pairs: list[tuple[float, float]] = []
    gc.collect()
    gc.freeze()
    try:
        for index in range(rounds):
            order = (stock, ours) if index % 2 else (ours, stock)
            spent = {run: _spent(run, times) for run in order}
            pairs.append((spent[stock], spent[ours]))
    finally:
        gc.unfreeze()
    least = min(theirs for theirs, _ in pairs) / times
    return Speed(least * 1e3, statistics.median(theirs / own for theirs, own in pairs))


def _spent(run: Run, times: int) -> float:
    start = time.thread_time()
    for _ in range(times):
        run()
    return time.thread_time() - start


# ------------------------------------------------------------------- models


@dataclass
class Report:
    """All about one model."""

    name: str
    distances: Distances
    speed: Speed
    calls: dict[str, Calls]
    held: dict[str, int]
    peaks: dict[str, int]
    changes: list[str]
    written: list[str]
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        kind = frozen_models.META[self.name]["kind"]
        if not self.distances.are_near(kind):
            self.trouble.append("numbers")
        if self.speed.ratio < SLOWEST:
            self.trouble.append("speed")
        if self.changes:
            self.trouble.append("state: " + "; ".join(self.changes[:3]))
        if "xductor" in self.written:
            self.trouble.append("ours writes to its input")

    def cells(self) -> list[str]:
        """A row of the table."""
        far = self.distances
        mib = {
            what: " / ".join(f"{each[backend] / 2**20:.2f}" for backend in BACKENDS)
            for what, each in (("held", self.held), ("peak", self.peaks))
        }
        return [
            self.name, f"{far.eager:.1e}", f"{far.stock:.1e}", f"{far.ours:.1e}",
            f"{self.speed.milliseconds:.2f}", f"{self.speed.ratio:.3f}", mib["held"], mib["peak"],
            *(str(self.calls[backend]) for backend in BACKENDS),
            "; ".join(self.trouble) or "ok" + ", stock writes to its input" * bool(self.written),
        ]  # fmt: skip


COLUMNS = (
    "model", "eager", "stock", "ours", "stock ms", "speed", "held MiB", "peak MiB",
    "calls: stock", "ours", "result",
)  # fmt: skip


@torch.no_grad()
def report_on(name: str, layers: int, rounds: int, numerics: str) -> Report:
    """Compile a model with both, and compare."""
    model, args, kwargs = frozen_models.build(name, layers=layers)
    state = HeldState(model)
    kind = frozen_models.META[name]["kind"]
    wanted, eager = reference(kind, model, args, kwargs), model(*args, **kwargs)
    runs: dict[str, Run] = {}
    results: dict[str, Tensor] = {}
    calls: dict[str, Calls] = {}
    held: dict[str, int] = {}
    written: list[str] = []
    torch._dynamo.reset()
    for backend in BACKENDS:
        before = held_bytes()
        options = {"xductor.on_error": "raise", "xductor.numerics": numerics}
        compiled = torch.compile(
            model, backend=backend, options=options if backend == "xductor" else {}
        )
        given = copy.deepcopy((args, kwargs))  # stock may write to what it is given
        results[backend], codes = run_and_get_code(compiled, *given[0], **given[1])
        held[backend] = held_bytes() - before
        calls[backend] = Calls.of(codes)
        runs[backend] = lambda compiled=compiled, given=given: compiled(*given[0], **given[1])
        same = pytree.tree_map(torch.equal, given, (args, kwargs))
        if not all(pytree.tree_leaves(same)):
            written.append(backend)
    far = [distance(one, wanted) for one in (eager, *results.values())]
    speed = in_turns(runs["inductor"], runs["xductor"], rounds)
    peaks = {backend: peak_bytes(run) for backend, run in runs.items()}
    torch._dynamo.reset()
    return Report(name, Distances(*far), speed, calls, held, peaks, state.changes(), written)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; 1 if something fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="names of models, with commas")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--numerics", default="default", choices=("strict", "default", "fast"))
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    print(_row(COLUMNS), _row(["---"] * len(COLUMNS)), sep="\n", flush=True)
    reports: list[Report] = []
    for name in args.only.split(",") if args.only else frozen_models.names():
        package = frozen_models.META[name]["needs"]
        if package is not None and importlib.util.find_spec(package) is None:
            print(_row([name, f"not run: there is no {package}"]), flush=True)
            continue
        with inductor_config.patch(freezing=True, force_disable_caches=True):
            reports.append(report_on(name, args.layers, args.rounds, args.numerics))
        print(_row(reports[-1].cells()), flush=True)
    ratios = [one.speed.ratio for one in reports]
    if ratios:
        print(f"\nspeed, geomean of {len(ratios)}: {statistics.geometric_mean(ratios):.3f}")
    return int(any(one.trouble for one in reports))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
