"""What freezing runs on a graph whose parameters became constants, before the post-grad stage."""

from __future__ import annotations

from typing import Any

from xductor.backend.steps import stock
from xductor.backend.steps.bridge import BridgedStep, flush, unobserved
from xductor.backend.steps.stage_run import StageRun
from xductor.backend.steps.typed_steps import CoveringStep, TableStep
from xductor.transforms.rows.registry import in_table

_PATTERNS = "freezing_patterns"
_FOLDING = "binary_folding"
_TABLE = "binary_folding_pass"

#: A sum, product or normalisation behind a folded one is folded in the next round.
_ROUNDS = 4


def _propagate(run: StageRun) -> None:
    """Give each node the value that it has now that parameters are constants."""
    stock.lookup(f"{_PATTERNS}:fake_tensor_prop")(run.gm, run.example_inputs, True)


def _constant_fold(run: StageRun) -> None:
    stock.lookup("torch._inductor.freezing:constant_fold")(run.gm)
    _propagate(run)


def _pass_patterns(run: StageRun) -> None:
    for table in stock.lookup(f"{_PATTERNS}:pass_patterns"):
        table.apply(run.gm.graph)


def _packs_weights(_: StageRun) -> bool:
    import torch

    flags = ("cpp.weight_prepack", "layout_optimization")
    return torch._C._has_mkldnn and all(bool(stock.flag(one)) for one in flags)


def _sort(run: StageRun) -> None:
    stock.lookup(f"{_PATTERNS}:stable_topological_sort")(run.gm.graph)
    run.recompile()
    run.gm.graph.lint()


def _bridged(name: str, call: Any, **given: Any) -> BridgedStep:
    return BridgedStep(name, call, required=True, values=False, **given)


_CONSTANT_FOLD = _bridged("constant_fold", _constant_fold)
_BINARY_FOLDING = TableStep(
    _TABLE,
    lambda: stock.lookup(f"{_PATTERNS}:{_TABLE}"),
    in_table("post_grad", _TABLE),
)


def _fold(run: StageRun) -> None:
    """Fold arithmetic into weights, and compute the weights, for as long as there is some."""
    for _ in range(_ROUNDS):
        _CONSTANT_FOLD(run)
        before = run.count
        _BINARY_FOLDING(run)
        flush(run)
        if run.count == before:
            break


STEPS = (
    _bridged("freezing_lazy_init", lambda _: stock.lookup(f"{_PATTERNS}:lazy_init")()),
    _bridged("fake_tensor_prop", _propagate),
    unobserved(
        "mark_mixed_dtype_allowed_computation_ops",
        f"{_FOLDING}:mark_mixed_dtype_allowed_computation_ops",
        over="gm",
    ),
    CoveringStep(_fold, (_TABLE, *in_table("post_grad", _TABLE))),
    unobserved(
        "recover_original_precision_folded_computation_ops",
        f"{_FOLDING}:recover_original_precision_folded_computation_ops",
        over="gm",
    ),
    _CONSTANT_FOLD,
    _bridged("freezing_pass_patterns", _pass_patterns),
    unobserved(
        "eliminate_duplicate_packed_nodes",
        "mkldnn_fusion:_eliminate_duplicate_packed_nodes",
        over="gm",
        when=_packs_weights,
    ),
    _bridged("stable_topological_sort", _sort),
)
