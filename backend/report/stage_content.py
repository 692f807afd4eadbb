"""What was collected of a stage as content of JSON, for the trace that `TORCH_TRACE` writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from xductor.backend.report.compile_data import StageData, StepData
from xductor.backend.report.side_by_side import Differs


def stage_content(stage: StageData) -> dict[str, Any]:
    """The stage with its steps, in order: times, applications, refusals, failures, changed lines;
    and what nearly matched.

    Steps that changed nothing, and have nothing to tell, are there with their times.
    """
    return {
        "stage": stage.stage,
        "direction": stage.direction,
        "graph": stage.graph,
        "nodes": [stage.nodes_before, stage.nodes_after],
        "ms": stage.ns / 1e6,
        "degraded": stage.degraded,
        "failures": [asdict(one) for one in stage.failures],
        "raised": stage.raised,
        "near_misses": [asdict(one) for one in stage.near],
        "steps": [_step_content(one) for one in stage.steps],
    }


def _step_content(step: StepData) -> dict[str, Any]:
    content: dict[str, Any] = {"name": step.name, "kind": step.kind, "ms": step.ns / 1e6}
    if step.is_idle:
        return content
    return {
        **content,
        "applied": step.applied,
        "undone": step.undone,
        "failure": step.failure,
        "applications": [asdict(one) for one in step.applications],
        "refusals": [asdict(one) for one in step.refusals.values()],
        "changes": list(_changes(step)),
    }


def _changes(step: StepData) -> Iterator[str]:
    """The lines that differ: `- ` before the old, `+ ` before the new."""
    for row in step.rows:
        if not isinstance(row, Differs):
            continue
        for sign, text, place in (("-", step.before, row.left), ("+", step.after, row.right)):
            if text is not None and place is not None:
                line = text.lines[place]
                types = f" : {', '.join(line.types)}" if line.types else ""
                yield f"{sign} {line.text}{types}"


__all__ = ["stage_content"]
