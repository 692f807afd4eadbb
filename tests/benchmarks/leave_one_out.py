"""Each pass's share in what a step costs: models compiled without one pass after the other.

    python -m tests.benchmarks.leave_one_out --models-file models.py --jobs 16 --minutes 5

A model of a file (`gpu_corpus` says what that has, and most options) is compiled in one process by
stock, by us, and by us without each pass that was applied in it; all take turns. A row for each
pass: how often it was applied, the milliseconds of a step without it and with all, and their ratio,
which is above one where the pass makes the model faster. The row `stock` has what stock takes. Then
for each pass the geomean over the models in which it was applied.

Passes that every compile needs are not left out. Those of `--together`, which only make graphs
smaller, are left out all at once, in one row. With `--minutes M` nothing is compiled after so many,
and what is not measured says so. Dynamo looks through all variants at each call, which adds some
microseconds to all of them.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from tests.benchmarks.compiled_apart import say, tuning_alone, wait_for_turn
from tests.benchmarks.gpu_corpus import (
    MODES,
    Works,
    apart,
    arguments,
    cases,
    command_of,
    first_loss,
    flags_of,
    geomean,
    here,
    prepared,
    sizes_of,
)
from tests.benchmarks.gpu_timing import BACKENDS, alternating
from tests.benchmarks.stage_ratios import load
from xductor.backend.pipelines import disabled_passes
from xductor.backend.records import stage_records
from xductor.backend.records.stage_records import StageRecord

TOGETHER = (
    *("dead_code_elimination", "remove_assert_ops", "remove_profiler_ops"),
    *("remove_noop_ops", "remove_noop_pass", "remove_no_ops", "remove_redundant_views"),
    *("pointless_view", "pointless_view_pair", "pointless_permute_pair", "pointless_convert"),
    *("normalize_node_kwargs_pass", "numpy_compat_normalization"),
)
_AT_ONCE = "together"
_MODULE = "tests.benchmarks.leave_one_out"
#: Dynamo keeps the code of each variant; beyond its limit it would run a model as eager does.
_MANY_VARIANTS = {
    "recompile_limit": 256,
    "accumulated_recompile_limit": 256,
    "fail_on_recompile_limit_hit": True,
}
#: Kernels without numbers in their names are found again where another one is missing.
_SAME_NAMES = {"triton.unique_kernel_names": False}
#: What a compile may take that was begun in time.
_LAST_MINUTES = 1.5
_NO_TIME = "no time left"


@dataclass
class Shares:
    """What was measured of a model in one mode, by `stock`, `ours`, and by what is left out.

    - `applied`: how often each pass was applied in the compile of all.
    - `times`: milliseconds of a step.
    - `not_measured`: why there is no time of what should be left out.
    """

    applied: dict[str, int]
    times: dict[str, float]
    losses: dict[str, float]
    not_measured: dict[str, str]

    def ratios(self) -> dict[str, float]:
        """The time without each pass over the time with all, and so for stock."""
        return {who: ms / self.times["ours"] for who, ms in self.times.items() if who != "ours"}

    def lines(self) -> Iterator[str]:
        """The cells of a row for stock, and for all that was left out."""
        for who, ratio in self.ratios().items():
            cells = [who, str(self.applied.get(who, ""))]
            cells += [f"{self.times[one]:.3f}" for one in (who, "ours")] + [f"{ratio:.3f}"]
            yield " | ".join([*cells, *(f"{self.losses[one]:.6g}" for one in (who, "ours"))])
        for who, why in self.not_measured.items():
            yield f"{who} | {self.applied.get(who, '')} | {why}"


def applied(records: Iterable[StageRecord]) -> dict[str, int]:
    """How often each pass was applied that can be left out."""
    found: Counter[str] = Counter()
    for one in (one for stage in records for one in stage.passes):
        if one.applications and one.name in disabled_passes.names():
            found[one.name] += one.applications
    return dict(found)


def _is_late(options: argparse.Namespace) -> bool:
    return options.until is not None and time.time() > options.until


def left_out(names: Iterable[str], together: Collection[str]) -> dict[str, list[str]]:
    """What is left out, by the name of its row: each pass alone, then those that go together."""
    names = list(names)
    alone = {name: [name] for name in names if name not in together}
    at_once = [name for name in names if name in together]
    return {**alone, **({_AT_ONCE: at_once} if at_once else {})}


def compiled(
    models: Any, name: str, mode: str, options: argparse.Namespace
) -> tuple[Works, Shares]:
    """The steps of all variants that there was time for, and what is known before they run."""
    model, step = prepared(models, name, mode, sizes_of(name, options), options.device)
    asked = {"triton.cudagraphs": options.cudagraphs, **_SAME_NAMES}

    def variant(backend: str, more: Mapping[str, Any]) -> Any:
        dynamic = options.dynamic or None
        return step(
            torch.compile(model, backend=backend, options={**asked, **more}, dynamic=dynamic)
        )

    works = {who: variant(backend, {}) for who, backend in BACKENDS.items()}
    losses: dict[str, float] = {}
    with stage_records.record(detailed=False, cached=True) as records:
        for who, work in works.items():
            if _is_late(options):
                raise TimeoutError(_NO_TIME)
            losses[who] = first_loss(work)
    found = Shares(applied(records), {}, losses, {})
    for row, names in left_out(found.applied, options.together).items():
        if _is_late(options):
            found.not_measured[row] = _NO_TIME
            continue
        work = variant(BACKENDS["ours"], {"xductor.disabled_passes": names})
        try:
            losses[row] = first_loss(work)
        except Exception as error:  # the other passes are left out all the same
            words = (str(error).splitlines() or [""])[0]
            found.not_measured[row] = f"{type(error).__name__}: {words}"
        else:
            works[row] = work
    if at_once := [one for one in found.applied if one in options.together]:
        found.applied[_AT_ONCE] = sum(found.applied[one] for one in at_once)
    return works, found


def one(models: Any, name: str, mode: str, options: argparse.Namespace) -> Shares:
    """Compile all variants of a model, wait for the turn if there are others, and measure."""
    with flags_of(models, name, options), torch._dynamo.config.patch(_MANY_VARIANTS):
        with tuning_alone():
            works, found = compiled(models, name, mode, options)
        if options.child:
            wait_for_turn()
        found.times = alternating(works, options.rounds, options.device, options.in_a_row)
    return found


def rows(
    models: Any, options: argparse.Namespace
) -> Iterator[tuple[tuple[str, str], Shares | str]]:
    """What was measured of each case, or what went wrong."""
    if not options.jobs:
        yield from here(models, options, one)
        return
    command = [*command_of(_MODULE, options), "--together", *options.together]
    command += [] if options.until is None else ["--until", str(options.until)]
    minutes = None if options.minutes is None else options.minutes + _LAST_MINUTES
    for case, found in apart(models, options, command, minutes):
        yield case, found if isinstance(found, str) else Shares(**found)


def show(found: Iterable[tuple[tuple[str, str], Shares | str]]) -> None:
    """Print the rows of each case as soon as it is measured, then the geomeans by pass."""
    columns = ("model", "mode", "left out", "applied", "ms without", "ms with", "ratio")
    print(f"| {' | '.join((*columns, 'loss without', 'loss with'))} |")
    print("| --- " * (len(columns) + 2) + "|", flush=True)
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (name, mode), shares in found:
        for line in [shares] if isinstance(shares, str) else shares.lines():
            print(f"| {name} | {mode} | {line} |", flush=True)
        if isinstance(shares, Shares):
            for who, ratio in shares.ratios().items():
                ratios[who, mode].append(ratio)
    print("\n| left out | mode | models | geomean | least | most |")
    print("| --- " * 6 + "|")
    for who in dict.fromkeys(who for who, _ in ratios):
        for mode in (mode for mode in MODES if (who, mode) in ratios):
            each = ratios[who, mode]
            numbers = f"{geomean(each):.3f} | {min(each):.3f} | {max(each):.3f}"
            print(f"| {who} | {mode} | {len(each)} | {numbers} |", flush=True)


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument(
        "--together",
        nargs="*",
        default=TOGETHER,
        metavar="PASS",
        help="passes that are left out at once; none: each alone",
    )
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.minutes is not None:
        options.until = time.time() + 60 * options.minutes
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Print each pass's share in each model, then in all."""
    options = options_of(argv)
    models = load(options.models_file)
    if options.child:
        try:
            say(asdict(one(models, *next(cases(models, options)), options)))
        except TimeoutError as error:
            print(error)
        return 0
    if options.together:
        print(f"`{_AT_ONCE}` leaves out at once those applied of {', '.join(options.together)}.\n")
    show(rows(models, options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
