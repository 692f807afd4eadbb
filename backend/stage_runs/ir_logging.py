"""Shows the typed IR of each stage's graph, before and after, in logs and traces.

`TORCH_LOGS="+xductor"` logs it. Under `TORCH_TRACE` it becomes artifacts for tlparse, such as
`xductor_before_joint`, and so does the record of the stage: `xductor_record_joint`. Nothing is
lowered or printed for either unless it is on.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Literal

from torch._logging._internal import LazyTraceHandler, trace_log, trace_structured

from xductor.backend.records.record_content import stage_content
from xductor.backend.stage_runs.stage_run import StageRun

_log = logging.getLogger(__name__)


def log_ir(run: StageRun, when: Literal["before", "after"]) -> None:
    """Log the graph of `run` as IR at level DEBUG, or why it cannot be lowered."""
    logged = _log.isEnabledFor(logging.DEBUG)
    if not (logged or is_traced()):
        return
    text, record = _text(run), run.record
    if logged:
        _log.debug("%s the %s stage of %s\n%s", when, record.title, record.graph, text)
    trace_artifact(f"xductor_{when}_{run.stage}", text)
    if when == "after":
        content = {**stage_content(record), "nodes_after": len(run.gm.graph.nodes)}
        trace_artifact(f"xductor_record_{run.stage}", content)


def is_traced() -> bool:
    """Whether a trace is written: torch's handler, which is there anyway until the first compile,
    has a folder or a file. Handlers of others, such as pytest's, are no trace.
    """
    return any(
        isinstance(handler, LazyTraceHandler) and (handler.root_dir or handler.stream) is not None
        for handler in trace_log.handlers
    )


def trace_artifact(name: str, content: str | dict[str, Any]) -> None:
    """Add text, or content of JSON, to the trace."""
    is_text = isinstance(content, str)
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": name, "encoding": "string" if is_text else "json"},
        payload_fn=lambda: content if is_text else json.dumps(content),
    )


def _text(run: StageRun) -> str:
    from xductor.frontend import from_fx
    from xductor.ir import print_ir

    try:
        module = from_fx(run.gm, run.stage, example_inputs=run.example_inputs, subgraphs="declare")
        return print_ir(module)
    except Exception as error:  # the log must not decide how a compile goes on
        return f"(no IR: {type(error).__name__}: {error})"


__all__ = ["is_traced", "log_ir", "trace_artifact"]
