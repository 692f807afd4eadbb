"""The state of one stage call, shared by its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from xductor.backend.config.settings import Settings, VerifyLevel
from xductor.backend.records.stage_records import StageRecord
from xductor.backend.stage_runs.step_watch import StepBegins, StepEnds
from xductor.transforms import Stage, TypedPass
from xductor.transforms.passes import debug_counters
from xductor.transforms.passes.events import tell

if TYPE_CHECKING:
    import torch
    from torch.fx import GraphModule
    from xdsl.dialects.builtin import ModuleOp

#: Inductor's names for the stages, by which it logs, bisects and disables passes.
SUBSYSTEMS: dict[Stage, str] = {
    "pre_grad": "pre_grad_passes",
    "joint": "joint_graph_passes",
    "post_grad": "post_grad_passes",
}


class LoweredGraph(Protocol):
    """The graph of a stage call in the typed IR, as the steps see it; `runner` makes it."""

    run: StageRun
    module: ModuleOp
    changed: bool
    passes: list[TypedPass]
    #: What was followed of each pass (`applications.Followed`).
    followed: list[Any]

    def current(self) -> bool:
        """Whether the module still represents the FX graph, apart from our own changes."""
        ...

    def apply(self, one: TypedPass) -> int:
        """Run one pass and return the number of applications."""
        ...

    def undo(self) -> Any:
        """Forget the module with what the last pass made; returns what was followed of it."""
        ...

    def flush(self) -> None:
        """Raise the module into the FX graph if a pass changed it."""
        ...


@dataclass
class StageRun:
    """One call of a stage: the graph, the arguments Inductor gave, and what happened so far.

    Raises CounterError if the debug counters of the environment cannot be parsed.
    """

    stage: Stage
    gm: GraphModule
    settings: Settings
    record: StageRecord
    example_inputs: Sequence[Any] | None = None
    add_passes: str | None = None
    remove_passes: str | None = None
    input_device: torch.device | None = None
    is_inference: bool = False
    #: Matches so far, as the joint stage counts them to decide on a final sort and recompile.
    count: int = 0
    #: A typed group failed: from here on only the required steps run.
    degraded: bool = False
    #: No call of the graph has a value: the graph comes from an earlier level.
    untyped: bool = False
    #: The lowered graph, while it stands for `gm`.
    group: LoweredGraph | None = None
    #: What one step leaves for a later one (Inductor's FakeTensorUpdater, a snapshot).
    kept: dict[str, Any] = field(default_factory=dict[str, Any])
    #: Called before the first step that runs on the FX graph and may edit it.
    before_edit: Callable[[StageRun], None] | None = None
    #: A pass let ops write to arguments, as the end of the post-grad stage does.
    writes_back: bool = False
    #: A graph was raised into `gm`, and its Python code has not been regenerated since.
    stale_code: bool = False

    def __post_init__(self) -> None:
        # Read before any pass asks: an error in the variable is no fault of a pass.
        debug_counters.active()

    def bridged(self, name: str, call: Callable[[], object], *, edits: bool = True) -> None:
        """Run a step on the FX graph and record it.

        - `edits`: whether it may change what the graph computes, and leave values stale.
        """
        if edits and self.before_edit is not None:
            before_edit, self.before_edit = self.before_edit, None
            before_edit(self)
        tell(StepBegins(self.record, name, "bridged", self.gm))
        self.record.bridged(name, self.gm, call)
        tell(StepEnds(self.record, self.gm))

    def recompile(self) -> None:
        """Regenerate the Python code of `gm`."""
        self.gm.recompile()
        self.stale_code = False

    def lint_and_recompile(self) -> None:
        """Check the graph as Inductor does at the end of a stage, and regenerate its code."""
        self.gm.graph.lint()
        self.recompile()

    def recompile_if_stale(self) -> None:
        """Regenerate the Python code of `gm` if it is stale, before somebody runs it.

        Inductor's own steps edit graphs without regenerating code, so they never need it.
        """
        if self.stale_code:
            self.recompile()

    @property
    def verify_level(self) -> VerifyLevel:
        """How much is checked: the rules of the stage hold until a pass lets ops write."""
        level = self.settings.verify
        return "types" if level == "stage" and self.writes_back else level

    @property
    def subsystem(self) -> str:
        return SUBSYSTEMS[self.stage]


def lacks_values(gm: GraphModule) -> bool:
    """Whether `gm` has calls with results, and none of them carries a fake value.

    Such a graph comes from an earlier level, where at most the placeholders have values.
    """
    lacking = False
    for node in gm.graph.nodes:
        if node.op.startswith("call_"):
            if "val" in node.meta:
                return False
            schema = getattr(node.target, "_schema", None)
            lacking = lacking or schema is None or bool(schema.returns)
    return lacking
