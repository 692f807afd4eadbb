"""The first step of the joint stage: one form for what AOTAutograd leaves in several."""

from __future__ import annotations

from xductor.backend import ledger
from xductor.backend.pipelines import failures, runner
from xductor.backend.pipelines.bridge import flush, unobserved
from xductor.backend.pipelines.stage_run import StageRun
from xductor.backend.pipelines.typed_steps import TypedStep, is_all_bridged, make

_PASS = "canonicalize_quant_mapping"
_FUNCTION = "joint_graph:canonicalize_aten_ir_passes"


class CanonicalizationStep(TypedStep):
    """The typed pass in the place of Inductor's `canonicalize_aten_ir_passes`.

    It makes new bodies of subgraphs, so the graph is lowered with them for this step. Code
    generation needs what it does: Inductor's own runs after a failure, and where calls are left
    that the typed pass does not take.
    """

    def __call__(self, run: StageRun) -> None:
        one = make(_PASS, run)
        if _PASS in run.settings.disabled_passes or is_all_bridged() or not self._is_stock():
            self.stock_step(run)
        elif one.may_fire(run.gm.graph):
            if not run.degraded and _lowered(run):
                runner.run_pass(run, one)
                flush(run)
                run.group = None
            if one.may_fire(run.gm.graph):
                self.stock_step(run)


def _lowered(run: StageRun) -> bool:
    """Lower the graph with the bodies of its subgraphs; False after a failure."""
    from xductor import frontend

    try:
        module = frontend.from_fx(run.gm, run.stage)
        run.group = runner.TypedGroup(run, module, ledger.fingerprint(run.gm))
    except Exception as error:
        failures.handle(run, failures.Failure("from_fx", error))
        return False
    return True


canonicalize_aten_ir_passes = CanonicalizationStep(
    "canonicalize_aten_ir_passes",
    unobserved("canonicalize_aten_ir_passes", _FUNCTION, over="gm", required=True),
    _FUNCTION,
    then=(_PASS,),
)

__all__ = ["CanonicalizationStep", "canonicalize_aten_ir_passes"]
