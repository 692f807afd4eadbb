"""The first step of the joint stage: puts calls from AOTAutograd into a canonical form."""

from __future__ import annotations

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import runner
from xductor.backend.steps.bridge import flush, unobserved
from xductor.backend.steps.typed_steps import TypedStep, is_all_bridged, make

_PASS = "canonicalize_quant_mapping"
_FUNCTION = "joint_graph:canonicalize_aten_ir_passes"


class CanonicalizationStep(TypedStep):
    """The typed pass, instead of Inductor's `canonicalize_aten_ir_passes`.

    It makes new bodies of subgraphs, so the graph is lowered together with its subgraphs for this
    step. Code generation needs the result, so Inductor's own function runs after a failure, and if
    the typed pass leaves calls.
    """

    def __call__(self, run: StageRun) -> None:
        one = make(_PASS, run)
        if _PASS in run.settings.disabled_passes or is_all_bridged() or not self._is_stock():
            self.stock_step(run)
        elif one.may_fire(run.gm.graph):
            if not run.degraded and runner.lowered(run, "bodies") is not None:
                runner.run_pass(run, one)
                flush(run)
                run.group = None
            if one.may_fire(run.gm.graph):
                self.stock_step(run)


canonicalize_aten_ir_passes = CanonicalizationStep(
    "canonicalize_aten_ir_passes",
    unobserved("canonicalize_aten_ir_passes", _FUNCTION, over="gm", required=True),
    _FUNCTION,
    then=(_PASS,),
)

__all__ = ["CanonicalizationStep", "canonicalize_aten_ir_passes"]
