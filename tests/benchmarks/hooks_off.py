"""What reports, `explain`, overrides and records cost when nobody asks for them.

    python -m tests.benchmarks.hooks_off --model gpt2 --layers 4

Every stage call of a compile is run on copies of its graph, in turns: as it is, and with something
taken out. First that is what serves reports, captures, explanations and overrides: their events are
neither made nor told, and nobody is asked who listens. Then it is records too, which cannot be
switched off, since `last_compile()` shows them: applications are neither followed nor noted.

Thread CPU time is taken in one process, in the thread and the fake mode of the compile. Who begins
changes from turn to turn, and the first turn does not count. Shown is the least time of both, and
the median of the turns' ratios. All make the same graph, which is checked.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, get_args
from unittest.mock import patch

from tests.benchmarks.stage_ratios import seconds_of, step_of
from tests.corpus import models
from tests.corpus.capture import StageCall, capture
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import cached_records, stage_records
from xductor.backend.seam import dispatch
from xductor.backend.stage_runs import applications, stage_watch, step_watch
from xductor.backend.steps import overrides
from xductor.transforms.passes import events

#: How much longer stages may take for what is off.
LIMIT = 1.01

#: Made to be told, in the modules that tell them.
_EVENTS = (
    stage_watch.StageBegins,
    stage_watch.StageEnds,
    step_watch.StepBegins,
    step_watch.StepEnds,
    applications.AboutToApply,
    applications.Changed,
    applications.PassAsked,
    applications.Passed,
)
_tell = events.tell
#: What each name stands for when the features are taken out.
_INSTEAD: dict[Any, Callable[..., Any]] = {
    events.tell: lambda event: None if event is None else _tell(event),
    events.listeners_of: lambda _: (),
    overrides.take: lambda run, when: None,
    overrides.take_pass: lambda run, name: None,
    stages.log_ir: lambda run, when: None,
    stages.__dict__["_reported"]: lambda run: nullcontext(),
    **{event: lambda *_, **__: None for event in _EVENTS},
}
#: The same for what records are made of.
_INSTEAD_OF_RECORDS: dict[Any, Callable[..., Any]] = {
    events.tell: lambda _: None,
    cached_records.made: lambda record: None,
    applications.followed: lambda *_: nullcontext(applications.Followed()),
}
What = Literal["off", "records"]
_TAKEN_OUT = {"off": "hooks for what is off", "records": "these hooks and without records"}


@dataclass
class Paired:
    """A stage call, measured: the least seconds as it is and without, and the median ratio."""

    stage: str
    nodes: int
    whole: float
    bare: float
    ratio: float
    hooks: int


@contextmanager
def without(what: What) -> Iterator[None]:
    """Take out what serves reports, explanations and overrides, and records too if that is said."""
    taken_out = {**_INSTEAD, **(_INSTEAD_OF_RECORDS if what == "records" else {})}
    named = {id(held): instead for held, instead in taken_out.items()}
    with ExitStack() as stack:
        for module in (one for one in _modules() if one is not events):
            for name, held in list(vars(module).items()):
                if id(held) in named:
                    stack.enter_context(patch.object(module, name, named[id(held)]))
        for name in _RECORD if what == "records" else ():
            stack.enter_context(patch.object(stage_records.StageRecord, name, _RECORD[name]))
        yield


def _bridged(self: Any, name: str, gm: Any, step: Callable[[], object]) -> None:
    step()


_RECORD: dict[str, Callable[..., None]] = {"typed": lambda *_, **__: None, "bridged": _bridged}


def _modules() -> list[ModuleType]:
    return [one for name, one in list(sys.modules.items()) if name.startswith("xductor.")]


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How often events were told, and how often was asked who listens."""
    found: Counter[str] = Counter()

    def told(event: object) -> None:
        found[type(event).__name__] += 1
        real_tell(event)

    def asked(kind: type) -> Any:
        found[f"{kind.__name__}?"] += 1
        return real_listeners(kind)

    real_tell, real_listeners = events.tell, events.listeners_of
    with ExitStack() as stack:
        for module in (one for one in _modules() if one is not events):
            for name, instead in (("tell", told), ("listeners_of", asked)):
                if any(vars(module).get(name) is one for one in (real_tell, real_listeners)):
                    stack.enter_context(patch.object(module, name, instead))
        yield found


def paired(call: StageCall, turns: int, what: What = "off") -> Paired:
    """Measure a stage call with the features and without. Raises AssertionError if they differ."""
    name = "joint_graph_passes" if call.stage == "joint" else f"{call.stage}_passes"
    ours = stages.__dict__[name]

    def work(gm: Any) -> Any:
        return ours(gm, *call.args, **call.kwargs) or gm

    with settings.use(settings.current().replace(on_error="raise")):
        with counted() as hooks:
            whole_text = str(work(call.copy()).graph)
        with without(what):
            assert str(work(call.copy()).graph) == whole_text
        gc.collect()
        gc.freeze()
        try:
            spent = [_turn(work, call, what, first=bool(turn % 2)) for turn in range(turns + 1)][1:]
        finally:
            gc.unfreeze()
    ratio = statistics.median(whole / bare for whole, bare in spent)
    whole, bare = (min(times) for times in zip(*spent, strict=True))
    return Paired(call.stage, len(call.gm.graph.nodes), whole, bare, ratio, hooks.total())


def _turn(
    work: Callable[[Any], Any], call: StageCall, what: What, *, first: bool
) -> tuple[float, float]:
    whole = seconds_of(work, call.copy()) if first else 0.0
    with without(what):
        bare = seconds_of(work, call.copy())
    return (whole if first else seconds_of(work, call.copy())), bare


def measure(model: str, layers: int, turns: int, what: What = "off") -> list[Paired]:
    """All stage calls of a compile of a model of the corpus for training."""
    dispatch.attach()
    found: list[Paired] = []
    capture(
        step_of(models, model, True, layers),
        lambda call: found.append(paired(call, turns, what)),
    )
    return found


def total_ratio(found: Sequence[Paired]) -> float:
    """The ratio of all stage calls together, each by its median."""
    return sum(one.bare * one.ratio for one in found) / sum(one.bare for one in found)


def main(argv: Sequence[str] | None = None) -> int:
    """Print what each stage call costs with the features and without."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="gpt2", choices=models.names())
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--turns", type=int, default=31)
    args = parser.parse_args(argv)
    for what in get_args(What):
        found = measure(args.model, args.layers, args.turns, what)
        print(f"\nagainst stages without {_TAKEN_OUT[what]}\n")
        print("| stage | nodes | events and questions | as it is ms | without ms | median ratio |")
        print("| --- | --- | --- | --- | --- | --- |")
        for one in found:
            times = f"{one.whole * 1e3:.2f} | {one.bare * 1e3:.2f}"
            print(f"| {one.stage} | {one.nodes} | {one.hooks} | {times} | {one.ratio:.4f} |")
        print(f"\nall stages together: {total_ratio(found):.4f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
