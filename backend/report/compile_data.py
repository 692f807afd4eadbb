"""What a page shows of a compile: text and numbers, which keep no graph alive."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from xductor.backend.records.application_records import ApplicationRecord
from xductor.backend.records.stage_records import stage_title
from xductor.backend.report.near_misses import NearMisses
from xductor.backend.report.op_lines import GraphText
from xductor.backend.report.side_by_side import Differs, Same, side_by_side
from xductor.backend.stage_runs.step_watch import StepKind


@dataclass
class Refusals:
    """Ops at which a rewrite was not applied for the same reason: how many, and where."""

    rewrite: str
    op: str
    reason: str
    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


@dataclass(frozen=True)
class AppliedAlike:
    """Applications of a step that read the same but for their numbers, which ascend."""

    first: ApplicationRecord
    numbers: tuple[int, ...]

    @property
    def shown_numbers(self) -> str:
        """The numbers as text: `#3`, `#3 to #7`; empty if they are not known."""
        known = [number for number in self.numbers if number]
        if not known:
            return ""
        return f"#{known[0]}" if len(known) == 1 else f"#{known[0]} to #{known[-1]}"


@dataclass
class StepData:
    """A step of a stage.

    - `ns`: how long it took, by the clock. `applied`: how often a typed pass was applied.
    - `before`, `after`: the graph, if the step changed it.
    - `failure`: what it raised; `undone`: its work was lost, by its own fault or another's.
    """

    name: str
    kind: StepKind
    ns: int = 0
    applied: int = 0
    before: GraphText | None = None
    after: GraphText | None = None
    applications: list[ApplicationRecord] = field(default_factory=list[ApplicationRecord])
    refusals: dict[tuple[str, str, str], Refusals] = field(
        default_factory=dict[tuple[str, str, str], Refusals]
    )
    failure: str = ""
    undone: bool = False

    @property
    def changed(self) -> bool:
        return self.after is not None

    @cached_property
    def rows(self) -> list[Same | Differs]:
        """The graphs side by side. Made once: a page is written anew after each stage."""
        return _rows(self.before, self.after)

    def alike(self) -> list[AppliedAlike]:
        """The applications, with those that read the same put together."""
        found: dict[str, list[ApplicationRecord]] = {}
        for one in self.applications:
            found.setdefault(repr(replace(one, number=0)), []).append(one)
        return [
            AppliedAlike(group[0], tuple([one.number for one in group])) for group in found.values()
        ]

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to tell of it but its time."""
        return not (self.changed or self.applied or self.refusals or self.failure)


def _rows(before: GraphText | None, after: GraphText | None) -> list[Same | Differs]:
    if before is None or after is None:
        return []
    return side_by_side(before.lines, after.lines)


@dataclass
class Failed:
    """Something that failed: the culprit, why, whether the stage lost its optional passes, and the
    file that reproduces it.
    """

    culprit: str
    reason: str
    degraded: bool
    reproducer: str


@dataclass
class StageData:
    """A call of a stage.

    - `ns`: how long it took, without what the report took itself.
    - `nodes_before`, `nodes_after`: nodes of the FX graph.
    - `near`: what rewrites did not match, in the order in which they ran.
    - `raised`: the exception that ended it, if one did.
    """

    stage: str
    graph: str
    direction: str
    verify: str
    numerics: str
    nodes_before: int
    nodes_after: int = 0
    ns: int = 0
    before: GraphText | None = None
    after: GraphText | None = None
    steps: list[StepData] = field(default_factory=list[StepData])
    near: list[NearMisses] = field(default_factory=list[NearMisses])
    failures: list[Failed] = field(default_factory=list[Failed])
    raised: str = ""

    @cached_property
    def rows(self) -> list[Same | Differs]:
        """The graphs before and after the stage side by side."""
        return _rows(self.before, self.after)

    @property
    def degraded(self) -> bool:
        """Whether it fell back to the required steps."""
        return any(one.degraded for one in self.failures)

    @property
    def applied(self) -> int:
        """How many applications came to stay."""
        return sum(one.applied for one in self.steps if not one.undone)

    @property
    def rest_ns(self) -> int:
        """The time outside of the steps: imports at first use, and what the stage itself does."""
        return max(self.ns - sum(step.ns for step in self.steps), 0)

    @property
    def title(self) -> str:
        return stage_title(self.stage, self.direction)


@dataclass(eq=False)
class CompileData:
    """A compile: its stage calls so far, in the order in which they ended.

    - `ident`: Dynamo's id of the compile, if it has one. `started`: seconds since the epoch.
    """

    number: int
    ident: str
    process: int
    started: float
    rank: int | None = None
    command: str = ""
    versions: dict[str, str] = field(default_factory=dict[str, str])
    stages: list[StageData] = field(default_factory=list[StageData])
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def steps(self) -> Iterator[tuple[StageData, StepData]]:
        """Every step with its stage."""
        for stage in self.stages:
            for step in stage.steps:
                yield stage, step


__all__ = ["AppliedAlike", "CompileData", "Failed", "Refusals", "StageData", "StepData"]
