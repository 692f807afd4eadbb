"""Events of the steps of a stage call, for whoever shows a compile.

Nothing is printed, lowered or kept for them: without a listener an event costs a look-up. Whoever
listens must not change a graph or a module, and must not keep one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.records.application_records import ApplicationRecord
from xductor.backend.records.stage_records import StageRecord

if TYPE_CHECKING:
    from torch.fx import GraphModule

#: A typed pass, a step on the FX graph, or the work between the two.
StepKind = Literal["typed", "bridged", "lowering", "raising"]


class StepBegins(NamedTuple):
    """A step is about to run, on `module` if it is a typed pass, else on `gm`."""

    record: StageRecord
    name: str
    kind: StepKind
    gm: GraphModule
    module: ModuleOp | None = None


class StepEnds(NamedTuple):
    """The step that began last is done, and its result is not checked yet.

    - `applied`: how often a typed pass was applied; `made`: the applications that it recorded.
    """

    record: StageRecord
    gm: GraphModule
    module: ModuleOp | None = None
    applied: int = 0
    made: Sequence[ApplicationRecord] = ()


class Refusal(NamedTuple):
    """A rewrite whose pattern matched, or nearly, was not applied at an op, for a reason."""

    record: StageRecord
    rewrite: str
    op: str
    location: tuple[str, int] | None
    reason: str


class StepFailed(NamedTuple):
    """Something failed and was undone.

    - `culprit`: a pass by name, `"from_fx"`, `"verification"` or `"to_fx"`.
    - `undone`: the passes whose work on the lowered graph is lost, in order.
    - `degraded`: whether the stage goes on without all of its optional passes.
    - `reproducer`: the file that was written to reproduce it.
    """

    record: StageRecord
    culprit: str
    reason: str
    undone: tuple[str, ...]
    degraded: bool
    reproducer: str


__all__ = ["Refusal", "StepBegins", "StepEnds", "StepFailed", "StepKind"]
