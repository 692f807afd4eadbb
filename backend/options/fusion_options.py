"""Fusions that a user enables by name in `pre_grad_` and `post_grad_fusion_options`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xductor.backend.stage_runs.ir_logging import is_traced
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import flush


@contextmanager
def fusion_option_passes(run: StageRun, table: Any) -> Iterator[None]:
    """Write Inductor's trace artifact of the graph if the table that is applied inside fires.

    Only where a trace is written is the graph raised for it.
    """
    if not is_traced():
        yield
        return
    name = table.pass_name
    before = _fired(name)
    yield
    flush(run)  # changes of typed passes are counted and visible once raised
    if _fired(name) != before:
        suffix = "pre_grad" if run.stage == "pre_grad" else "post_grad"
        stock.lookup("torch._logging:trace_structured")(
            "artifact",
            metadata_fn=lambda: {"name": f"{name}_{suffix}", "encoding": "string"},
            payload_fn=lambda: run.gm.print_readable(
                print_output=False, include_stride=True, include_device=True
            ),
        )


def _fired(name: str) -> int:
    from torch._dynamo.utils import counters

    return counters["inductor"].get(name, 0)
