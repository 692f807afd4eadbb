"""Lowers the graph of a stage call to the typed IR for inspection, without changing the graph."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.stage_runs.stage_run import StageRun


def lowered(run: StageRun) -> ModuleOp:
    """The graph of `run` as a module. Raises what lowering raises."""
    from xductor.frontend import from_fx

    return from_fx(run.gm, run.stage, example_inputs=run.example_inputs)
