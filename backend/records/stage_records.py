"""Records of what the stages did: for the demo, for tests, and to find out why a pass fired.

Each stage call leaves one `StageRecord` in a short history of the process. Inside
`with stage_records.record() as records:` the records of every stage call, in any thread, are
collected, and bridged steps are watched for changes (which costs a walk over the graph each).
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from xductor.backend.records.application_records import ApplicationRecord, Applications, Note
from xductor.backend.records.counts import Counts

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

Direction = Literal["forward", "backward", "inference", "joint", "unknown"]

_HISTORY = 256


@dataclass(frozen=True)
class PassRecord:
    """One pass that ran: typed (`applications`) or bridged (`changed`, `counters`).

    `changed` and `counters` are None for a bridged step if nobody listened. `numbers` are those of
    the applications (`debug_counters`); `made` holds those that were recorded one by one.
    `unconverged` names rewrites that were given up because they match what they make.
    """

    name: str
    kind: Literal["typed", "bridged"]
    applications: int | None = None
    changed: bool | None = None
    counters: dict[str, int] | None = None
    numbers: tuple[int, ...] = ()
    made: Applications = field(default_factory=Applications)
    unconverged: tuple[str, ...] = ()

    def counts(self) -> Counter[str]:
        """How often each rewrite, or else the pass itself, was applied: each application once."""
        found = Counter([one.rewrite for one in self.made])
        if rest := (self.applications or 0) - len(self.made):
            found[self.name] += max(rest, 0)
        return found


@dataclass(repr=False)
class StageRecord:
    """One call of a stage.

    `compile` is the number of the compile that it belongs to, which all its stages share, the
    backward included. `cpu_ns` is thread CPU time spent in the stage. `lowered` counts how often
    the graph was lowered to the typed IR; `fallback` is the reason why optional steps were left
    out, if they were. `cached` says that no stage ran: the result came out of a cache of
    Inductor's, and this is the record of the compile that put it there.
    """

    stage: str
    graph: str
    direction: Direction
    verify_level: str
    nodes_before: int
    nodes_after: int = 0
    cpu_ns: int = 0
    lowered: int = 0
    fallback: str | None = None
    passes: list[PassRecord] = field(default_factory=list[PassRecord])
    detailed: bool = False
    compile: int = 0
    cached: bool = False

    def __repr__(self) -> str:
        """A line: `last_compile()` shows passes and applications as a table."""
        done = ", ".join(self.fired()) or "nothing applied"
        fell_back = ", fell back" if self.fallback else ""
        return (
            f"<StageRecord {self.title} of {self.graph}: {self.nodes_before} -> "
            f"{self.nodes_after} nodes, {done}{fell_back}>"
        )

    @property
    def title(self) -> str:
        """Stage and direction, as in `post_grad forward`."""
        return stage_title(self.stage, self.direction)

    def typed(
        self,
        name: str,
        applications: int,
        numbers: Iterable[int] = (),
        made: Iterable[Note] = (),
        unconverged: Iterable[str] = (),
    ) -> None:
        """Record that the typed pass `name` ran, and how often it was applied."""
        self.passes.append(
            PassRecord(
                name,
                "typed",
                applications,
                applications > 0,
                numbers=tuple(numbers),
                made=Applications(made),
                unconverged=tuple(unconverged),
            )
        )

    @property
    def applications_made(self) -> list[ApplicationRecord]:
        """The applications that were recorded one by one, in order."""
        return [made for one in self.passes for made in one.made]

    def counts(self) -> Counts:
        """How often each rewrite and each procedural pass was applied: each application once."""
        found: Counter[str] = Counter()
        for one in self.passes:
            found += one.counts()
        return Counts(found, {one.name for one in self.passes})

    def bridged(self, name: str, gm: GraphModule, step: Callable[[], object]) -> None:
        """Run `step` on `gm` and record it, with its effect if somebody listens."""
        if not self.detailed:
            step()
            self.passes.append(PassRecord(name, "bridged"))
            return
        before, counted = fingerprint(gm), _counters()
        step()
        delta = _counters()
        delta.subtract(counted)
        self.passes.append(
            PassRecord(
                name,
                "bridged",
                changed=not is_unedited(gm, before),
                counters={key: count for key, count in delta.items() if count},
            )
        )

    def fired(self) -> list[str]:
        """The passes that changed the graph: ours with counts, Inductor's own steps with a star.

        Inductor's are known only if somebody listened.
        """
        typed = [f"{p.name} x{p.applications}" for p in self.passes if p.applications]
        return typed + [f"{p.name}*" for p in self.passes if p.kind == "bridged" and p.changed]

    def applications(self, name: str) -> int:
        """How often the rewrite or typed pass `name` was applied in this call.

        Raises UnknownPass for a name that does not exist.
        """
        if not self.counts()[name]:
            return sum(one.applications or 0 for one in self.passes if one.name == name)
        others = sum(p.counts()[name] for p in self.passes if p.name != name)
        return others + sum(p.applications or 0 for p in self.passes if p.name == name)


Fingerprint = list[tuple["Node", Any, Any, Any, Any]]


def fingerprint(gm: GraphModule) -> Fingerprint:
    """The nodes in order with the very objects they hold; equal means that nothing was edited.

    FX replaces the argument tuples of a node whenever an argument changes, so identity is enough.
    """
    return [
        (node, node.target, node._args, node._kwargs, node.meta.get("val"))
        for node in gm.graph.nodes
    ]


def is_unedited(gm: GraphModule, known: Fingerprint) -> bool:
    """Whether a graph has the fingerprint that it had."""
    for node, was in zip(gm.graph.nodes, known, strict=False):
        if (
            node is not was[0]
            or node.target is not was[1]
            or node._args is not was[2]
            or node._kwargs is not was[3]
            or node.meta.get("val") is not was[4]
        ):
            return False
    return len(gm.graph.nodes) == len(known)


def _counters() -> Counter[str]:
    from torch._dynamo.utils import counters

    return Counter(counters["inductor"])


class _Listener(NamedTuple):
    """Who collects records: with a look at what bridged steps change, and those from caches."""

    records: list[StageRecord]
    detailed: bool
    cached: bool


_lock = threading.Lock()
_history: deque[StageRecord] = deque(maxlen=_HISTORY)
_listeners: list[_Listener] = []
_compiles: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
_next_compile = itertools.count(1)


@contextmanager
def record(*, detailed: bool = True, cached: bool = False) -> Iterator[list[StageRecord]]:
    """Collect the records of every stage call that ends inside the block, in any thread.

    - `detailed`: whether bridged steps are watched for changes.
    - `cached`: whether to collect the records of results that came out of a cache too.
    """
    listener = _Listener([], detailed, cached)
    with _lock:
        _listeners.append(listener)
    try:
        yield listener.records
    finally:
        with _lock:
            _listeners[:] = [one for one in _listeners if one is not listener]


def recent() -> tuple[StageRecord, ...]:
    """The last stage calls of this process, oldest first."""
    with _lock:
        return tuple(_history)


def clear() -> None:
    """Forget the history (listeners keep what they have)."""
    with _lock:
        _history.clear()


def publish_cached(records: Iterable[StageRecord]) -> None:
    """Put records that came out of a cache into the history, as those of the current compile.

    Listeners to stage calls get them only if they asked for them: there were no calls.
    """
    number = _compile_number()
    found = [replace(one, compile=number, cached=True) for one in records]
    with _lock:
        _history.extend(found)
        for listener in _listeners:
            if listener.cached:
                listener.records.extend(found)


@contextmanager
def stage_record(
    stage: str, gm: GraphModule, direction: Direction, verify_level: str
) -> Iterator[StageRecord]:
    """The record of one stage call; published when the block ends, however it ends."""
    entry = StageRecord(
        stage,
        _graph_name(gm),
        direction,
        verify_level,
        nodes_before=len(gm.graph.nodes),
        detailed=any(one.detailed for one in _listeners),
        compile=_compile_number(),
    )
    start = time.thread_time_ns()
    try:
        yield entry
    finally:
        entry.cpu_ns = time.thread_time_ns() - start
        with _lock:
            _history.append(entry)
            for listener in _listeners:
                listener.records.append(entry)


def _compile_number() -> int:
    """The number of the current compile in this thread: that of its tracing context, which the
    backward shares. A stage that is called outside a compile counts as a compile of its own.
    """
    from torch._guards import TracingContext

    context = TracingContext.try_get()
    with _lock:
        number = _compiles.get(context) if context is not None else None
        if number is None:
            number = next(_next_compile)
            if context is not None:
                _compiles[context] = number
        return number


def _graph_name(gm: GraphModule) -> str:
    """AOTAutograd's name for the graph being compiled, or else the class of the module."""
    from torch._functorch._aot_autograd import logging_utils

    if getattr(logging_utils, "graph_being_compiled", None):
        return logging_utils.get_aot_graph_name()
    return type(gm).__name__


def stage_title(stage: str, direction: str) -> str:
    """Stage and direction, as in `post_grad forward`; the stage alone where it has no direction:
    before autograd there is none, and the joint graph is both.
    """
    return stage if direction in ("unknown", stage) else f"{stage} {direction}"


def direction(stage: str, is_inference: bool) -> Direction:
    """The direction of the graph of a stage call, as far as AOTAutograd's name tells."""
    from torch._functorch._aot_autograd import logging_utils

    if is_inference:
        return "inference"
    if stage == "joint":
        return "joint"
    name = "_".join(getattr(logging_utils, "graph_being_compiled", None) or ())
    if "backward" in name:
        return "backward"
    return "forward" if "forward" in name else "unknown"
