"""Watchers of stage calls, which see each graph right before and after its stage, in any thread.

The stages of stock Inductor are watched too, from the time that the seam is attached. Watchers run
inside the compile, with the fake mode, tracing context and metadata that the stage sees. A stage
that raises has no "after".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.transforms import Stage
from xductor.transforms.passes.events import listeners_of, listening, tell


class StageBegins(NamedTuple):
    """A stage is about to work on `run.gm`."""

    run: StageRun


class StageEnds(NamedTuple):
    """A stage is done; `run.record` has the passes that ran."""

    run: StageRun


class StageWatcher(Protocol):
    """Is called before and after stage calls. It must not change the graph; what it raises is
    raised in the compile.
    """

    def before(self, run: StageRun) -> None:
        """The stage is about to work on `run.gm`."""
        ...

    def after(self, run: StageRun) -> None:
        """The stage is done; `run.record` has the passes that ran."""
        ...


@contextmanager
def watching(watcher: StageWatcher) -> Iterator[None]:
    """Call `watcher` for every stage call of the process while the block runs."""
    with (
        listening(StageBegins, lambda event: watcher.before(event.run), everywhere=True),
        listening(StageEnds, lambda event: watcher.after(event.run), everywhere=True),
    ):
        yield


def run_stock(stage: Stage, stock: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call stock's function for a stage, with the watchers called before and after."""
    if not (listeners_of(StageBegins) or listeners_of(StageEnds)):
        return stock(*args, **kwargs)
    gm = args[0] if args else kwargs["gm"]
    is_inference = stage == "post_grad" and bool((*args[1:2], kwargs.get("is_inference"))[0])
    now = settings.current()
    with stage_records.stage_record(
        stage, gm, stage_records.direction(stage, is_inference), now.verify
    ) as record:
        inputs = (*args[1:2], kwargs.get("example_inputs"))[0] if stage == "pre_grad" else None
        run = StageRun(stage, gm, now, record, inputs, is_inference=is_inference)
        tell(StageBegins(run))
        result = stock(*args, **kwargs)
        run.gm = gm if result is None else result
        record.nodes_after = len(run.gm.graph.nodes)
        tell(StageEnds(run))
    return result
