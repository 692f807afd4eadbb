"""The steps of Inductor's `fuse_fx`: sink cats, fuse permutes into products, fold norms.

If one of its functions was replaced by a user's, `fuse_fx` runs as a whole.
"""

from __future__ import annotations

import torch

from xductor.backend.fx.module_calls import spell_module_calls
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import BridgedStep
from xductor.backend.steps.typed_steps import OwnStep, is_all_bridged

_PERMUTES = ("linear_permute_fusion", "permute_linear_fusion", "permute_matmul_fusion")
_FUNCTIONS = (
    "fuse_fx",
    "sink_cat_after_pointwise",
    *_PERMUTES,
    "remove_identity",
    "fuse_conv_bn",
)


def _fuses(run: StageRun) -> bool:
    return (
        bool(stock.flag("pattern_matcher", True))
        and not stock.flag("is_predispatch")
        and run.example_inputs is not None
    )


def _is_stock() -> bool:
    functions = [stock.lookup(f"pre_grad:{name}") for name in _FUNCTIONS]
    return all(one is not None and stock.is_stock(one) for one in functions)


def _is_on_cpu(run: StageRun) -> bool:
    return bool(stock.lookup("pre_grad:is_cpu_device")(run.example_inputs))


def _whole(run: StageRun) -> bool:
    return _fuses(run) and (is_all_bridged() or not _is_stock())


def _permutes(run: StageRun) -> bool:
    flag = bool(stock.flag("permute_fusion"))
    return flag and _fuses(run) and _is_stock() and not _is_on_cpu(run)


def _folds(run: StageRun) -> bool:
    """Whether gradients are off, parameters are frozen, and the graph runs on CPU."""
    if not stock.flag("freezing") or torch.is_grad_enabled():
        return False
    return _fuses(run) and _is_stock() and _is_on_cpu(run)


def _spells(run: StageRun) -> bool:
    if is_all_bridged() or not run.gm.graph.find_nodes(op="call_module", sort=False):
        return False
    return _folds(run) or (bool(stock.flag(_NORMALIZES)) and _fuses(run))


def _spell(run: StageRun) -> None:
    run.count += spell_module_calls(run.gm, run.example_inputs or ())


def _fuse(run: StageRun) -> None:
    run.gm = stock.lookup("pre_grad:fuse_fx")(run.gm, run.example_inputs)


_NORMALIZES = "efficient_conv_bn_eval_fx_passes"


FUSE_FX = (
    BridgedStep("fuse_fx", _fuse, _whole, values=False),
    OwnStep("sink_cat_after_pointwise", lambda run: _fuses(run) and _is_stock()),
    *[OwnStep(name, _permutes) for name in _PERMUTES],
    BridgedStep("module_calls", _spell, _spells, values=False),
    OwnStep("efficient_conv_bn_eval_pass", _folds),
)

__all__ = ["FUSE_FX"]
