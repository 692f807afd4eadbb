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
import functools
import gc
import importlib.util
import re
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch._functorch import config as functorch_config
from torch._inductor import config as inductor_config
from torch._inductor.utils import fresh_cache, run_and_get_code
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

    @classmethod
    def of(cls, compiles: Sequence[Sequence[tuple[float, float]]]) -> Speed:
        """The least of stock's seconds, and the median of its seconds divided by ours: the geomean
        over compiles, of which each gave seconds of both."""
        least = min(theirs for pairs in compiles for theirs, _ in pairs)
        medians = [statistics.median(theirs / own for theirs, own in pairs) for pairs in compiles]
        return cls(least * 1e3, statistics.geometric_mean(medians))


def in_turns(
    stock: Run, ours: Run, rounds: int, seconds: float = 0.02
) -> Iterator[tuple[float, float]]:
    """Seconds of a run of both, from rounds in which both run; who begins changes each time."""
    once = min(_spent(stock, 1) for _ in range(5))
    times = max(1, round(seconds / once))
    _spent(ours, times)
    gc.collect()
    gc.freeze()
    try:
        for index in range(rounds):
            order = (stock, ours) if index % 2 else (ours, stock)
            spent = {run: _spent(run, times) / times for run in order}
            yield spent[stock], spent[ours]
    finally:
        gc.unfreeze()


def _spent(run: Run, times: int) -> float:
    start = time.thread_time()
    for _ in range(times):
        run()
    return time.thread_time() - start


# ------------------------------------------------------------------- models


@dataclass(frozen=True)
class Compiled:
    """A model as one backend compiled it, and what came of its first run."""

    run: Run
    result: Tensor
    calls: Calls
    held: int
    writes_to_inputs: bool


def compiled_with(
    backend: str, model: nn.Module, args: Any, kwargs: Any, numerics: str
) -> Compiled:
    """Compile and run a model; stock may write to what it is given."""
    given = copy.deepcopy((args, kwargs))
    before = held_bytes()
    options: Any = {}
    if backend == "xductor":
        options = {"xductor.on_error": "raise", "xductor.numerics": numerics}
    compiled = torch.compile(model, backend=backend, options=options)
    result, codes = run_and_get_code(compiled, *given[0], **given[1])
    held = held_bytes() - before
    same = pytree.tree_leaves(pytree.tree_map(torch.equal, given, (args, kwargs)))
    run = functools.partial(compiled, *given[0], **given[1])
    return Compiled(run, result, Calls.of(codes), held, not all(same))


@dataclass
class Report:
    """All about one model; first stock's, then ours."""

    name: str
    distances: Distances
    speed: Speed
    compiled: tuple[Compiled, ...]
    peaks: tuple[int, ...]
    changes: list[str]
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.distances.are_near(frozen_models.META[self.name]["kind"]):
            self.trouble.append("numbers")
        if self.speed.ratio < SLOWEST:
            self.trouble.append("speed")
        if self.changes:
            self.trouble.append("state: " + "; ".join(self.changes[:3]))
        if self.compiled[1].writes_to_inputs:
            self.trouble.append("ours writes to its input")

    def cells(self) -> list[str]:
        """A row of the table."""
        far = self.distances
        held = " / ".join(f"{one.held / 2**20:.2f}" for one in self.compiled)
        peaks = " / ".join(f"{one / 2**20:.2f}" for one in self.peaks)
        result = "; ".join(self.trouble) or "ok"
        if self.compiled[0].writes_to_inputs:
            result += ", stock writes to its input"
        return [
            self.name, f"{far.eager:.1e}", f"{far.stock:.1e}", f"{far.ours:.1e}",
            f"{self.speed.milliseconds:.2f}", f"{self.speed.ratio:.3f}", held, peaks,
            *(str(one.calls) for one in self.compiled), result,
        ]  # fmt: skip


COLUMNS = (
    "model", "eager", "stock", "ours", "stock ms", "speed", "held MiB", "peak MiB",
    "calls: stock", "ours", "result",
)  # fmt: skip


@torch.no_grad()
def report_on(name: str, args: argparse.Namespace) -> Report:
    """Compile a model with both, a few times, and compare.

    Of the same code, that which was compiled first runs up to 3% faster, by where its weights came
    to lie: each backend is the first as often as the other.
    """
    model, given, named = frozen_models.build(name, layers=args.layers)
    state, kind = HeldState(model), frozen_models.META[name]["kind"]
    wanted, eager = reference(kind, model, given, named), model(*given, **named)
    seconds: list[list[tuple[float, float]]] = []
    sides: dict[str, Compiled] = {}
    for index in range(2 * args.pairs):
        torch._dynamo.reset()
        for backend in BACKENDS if index % 2 == 0 else reversed(BACKENDS):
            sides[backend] = compiled_with(backend, model, given, named, args.numerics)
        seconds.append([*in_turns(sides["inductor"].run, sides["xductor"].run, args.rounds)])
    both = tuple(sides[backend] for backend in BACKENDS)
    peaks = tuple(peak_bytes(one.run) for one in both)
    torch._dynamo.reset()
    far = Distances(*(distance(one, wanted) for one in (eager, *(side.result for side in both))))
    return Report(name, far, Speed.of(seconds), both, peaks, state.changes())


@contextmanager
def frozen() -> Iterator[None]:
    """Models are frozen and each is compiled; kernels alone are built once."""
    with (
        fresh_cache(),
        inductor_config.patch(freezing=True, fx_graph_cache=False),
        functorch_config.patch(enable_autograd_cache=False),
    ):
        yield


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; 1 if something fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="names of models, with commas")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=2, help="of compiles, in either order")
    parser.add_argument("--rounds", type=int, default=20, help="of both, after each compile")
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
        with frozen():
            reports.append(report_on(name, args))
        print(_row(reports[-1].cells()), flush=True)
    ratios = [one.speed.ratio for one in reports]
    if ratios:
        print(f"\nspeed, geomean of {len(ratios)}: {statistics.geometric_mean(ratios):.3f}")
    return int(any(one.trouble for one in reports))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
