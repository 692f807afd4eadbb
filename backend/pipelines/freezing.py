"""What freezing runs on a graph whose parameters became constants, before the post-grad stage."""

from __future__ import annotations

from typing import Any

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import late_constants, stock, value_updates
from xductor.backend.steps.bridge import BridgedStep, flush, unobserved
from xductor.backend.steps.typed_steps import (
    CoveringStep,
    OwnStep,
    TableStep,
    TypedStep,
    is_all_bridged,
)
from xductor.transforms.rows.registry import in_table

_PATTERNS = "freezing_patterns"
_FOLDING = "binary_folding"
_TABLE = "binary_folding_pass"
_LISTS = "freezing_pass_patterns"
_CONSTANT_FOLDING = "torch._inductor.freezing:constant_fold"

#: A sum, product or normalisation behind a folded one is folded in the next round.
_ROUNDS = 4


def _propagate(run: StageRun) -> None:
    """Give each node the value that it has now that parameters are constants."""
    propagate = stock.lookup(f"{_PATTERNS}:fake_tensor_prop")
    ours = stock.is_stock(propagate) and not is_all_bridged()
    if not ours or not value_updates.renew(run):
        propagate(run.gm, run.example_inputs, True)


def _check_channels(run: StageRun) -> None:
    """Raises RuntimeError for scales of channels that are not as many as the channels.

    Eager raises, and Inductor while it folds constants: what it compiles reads past their end.
    """
    import torch

    calls = getattr(torch.ops.quantized_decomposed, "dequantize_per_channel", None)
    if calls is None:  # nobody loaded the library
        return
    for node in run.gm.graph.find_nodes(op="call_function", target=calls.default):
        data, scales, zeros, axis = node.args[:4]
        channels = data.meta["val"].shape[axis]
        for one in (scales, zeros):
            count = None if one is None else one.meta["val"].numel()
            if isinstance(count, int) and count not in (1, channels):
                raise RuntimeError(f"{node}: {count} scales or zero points, {channels} channels")


def _stock_constant_fold(run: StageRun) -> None:
    stock.lookup(_CONSTANT_FOLDING)(run.gm)
    stock.lookup(f"{_PATTERNS}:fake_tensor_prop")(run.gm, run.example_inputs, True)


def _packs_weights(_: StageRun) -> bool:
    import torch

    flags = ("cpp.weight_prepack", "layout_optimization")
    return torch._C._has_mkldnn and all(bool(stock.flag(one)) for one in flags)


def _has_mixed_dtypes(run: StageRun) -> bool:
    """Whether something is computed in 16 bits, beside which float32 may stand."""
    import torch

    aten = torch.ops.aten
    for target in (aten.convolution.default, aten.addmm.default, aten.mm.default):
        for node in run.gm.graph.find_nodes(op="call_function", target=target, sort=False):
            if getattr(node.meta.get("val"), "dtype", None) in (torch.float16, torch.bfloat16):
                return True
    return False


def _sort(run: StageRun) -> None:
    stock.lookup(f"{_PATTERNS}:stable_topological_sort")(run.gm.graph)
    run.recompile()
    run.gm.graph.lint()


def _bridged(name: str, call: Any, **given: Any) -> BridgedStep:
    return BridgedStep(name, call, required=True, values=False, **given)


def _of_mixed_dtypes(function: str) -> BridgedStep:
    return _bridged(
        function,
        lambda run: stock.lookup(f"{_FOLDING}:{function}")(run.gm),
        acts=_has_mixed_dtypes,
        reads=_has_mixed_dtypes,
    )


_CONSTANT_FOLD = TypedStep(
    "constant_fold", _bridged("constant_fold", _stock_constant_fold), _CONSTANT_FOLDING
)
#: What only dead code reads is computed for nobody. Inductor's folding begins with it too.
_DEAD_CODE = OwnStep("dead_code_elimination", lambda run: not run.degraded)
_BINARY_FOLDING = TableStep(
    _TABLE,
    lambda: stock.lookup(f"{_PATTERNS}:{_TABLE}"),
    in_table("post_grad", _TABLE),
)


def _fold(run: StageRun) -> None:
    """Fold arithmetic into weights, and compute the weights, for as long as there is some."""
    _DEAD_CODE(run)
    for _ in range(_ROUNDS):
        _CONSTANT_FOLD(run)
        before = run.count
        _BINARY_FOLDING(run)
        if run.count == before:
            break


def _pass_patterns(run: StageRun) -> None:
    """Inductor's list of tables, of whatever length it has by now."""
    tables: list[Any] = stock.lookup(f"{_PATTERNS}:pass_patterns")
    for i, table in enumerate(tables):
        typed = in_table("post_grad", f"{_LISTS}[{i}]")
        TableStep(
            f"{_LISTS}_{i}",
            lambda table=table: table,
            typed,
            elsewhere=in_table("post_grad", _LISTS),
        )(run)


def _remember_constants(run: StageRun) -> None:
    run.kept[_LISTS] = late_constants.read_by(run.gm)


def _settle_constants(run: StageRun) -> None:
    """Let the module forget the constants that are no longer read, and mark those that are new.

    The cache of compiled graphs takes constants that are marked for parameters: their types are
    part of its keys, and not their elements.
    """
    flush(run)
    late_constants.settle(run.gm, run.kept[_LISTS])
    ours = stock.is_stock(stock.lookup(_CONSTANT_FOLDING)) and not is_all_bridged()
    if ours and not run.degraded:
        late_constants.leave_alone(run.gm)
    _remember_constants(run)


def _settle_packed(run: StageRun) -> None:
    """Let the module forget weights that were packed, and mark the packed ones."""
    flush(run)
    late_constants.settle(run.gm, run.kept[_LISTS])


STEPS = (
    _bridged(
        "freezing_lazy_init",
        lambda _: stock.lookup(f"{_PATTERNS}:lazy_init")(),
        edits=False,
    ),
    _bridged("fake_tensor_prop", _propagate, edits=False),
    CoveringStep(_remember_constants),
    CoveringStep(_check_channels),
    OwnStep("quantization_parameters", lambda run: not run.degraded),
    _of_mixed_dtypes("mark_mixed_dtype_allowed_computation_ops"),
    CoveringStep(_fold, ("constant_fold", _TABLE, *in_table("post_grad", _TABLE))),
    _of_mixed_dtypes("recover_original_precision_folded_computation_ops"),
    _CONSTANT_FOLD,
    CoveringStep(_settle_constants),
    CoveringStep(_pass_patterns, (_LISTS, *in_table("post_grad", _LISTS))),
    unobserved(
        "eliminate_duplicate_packed_nodes",
        "mkldnn_fusion:_eliminate_duplicate_packed_nodes",
        over="gm",
        when=_packs_weights,
    ),
    CoveringStep(_settle_packed),
    _bridged("stable_topological_sort", _sort),
)
