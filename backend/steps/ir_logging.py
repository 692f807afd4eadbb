"""Logs the typed IR of each stage's graph, before and after: `TORCH_LOGS="+xductor"`.

The same text goes to `TORCH_TRACE` as artifacts such as `xductor_before_joint`, for tlparse.
Nothing is lowered or printed for the log unless it is on.
"""

from __future__ import annotations

import logging
from typing import Literal

from xductor.backend.steps.stage_run import StageRun

_log = logging.getLogger(__name__)


def log_ir(run: StageRun, when: Literal["before", "after"]) -> None:
    """Log the graph of `run` as IR at level DEBUG, or why it cannot be lowered."""
    if not _log.isEnabledFor(logging.DEBUG):
        return
    from torch._logging._internal import trace_structured

    text = _text(run)
    record = run.record
    _log.debug(
        "%s the %s stage of %s (%s)\n%s", when, run.stage, record.graph, record.direction, text
    )
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": f"xductor_{when}_{run.stage}", "encoding": "string"},
        payload_fn=lambda: text,
    )


def _text(run: StageRun) -> str:
    from xductor.frontend import from_fx
    from xductor.ir import print_ir

    try:
        module = from_fx(run.gm, run.stage, example_inputs=run.example_inputs, subgraphs="declare")
        return print_ir(module)
    except Exception as error:  # the log must not decide how a compile goes on
        return f"(no IR: {type(error).__name__}: {error})"
