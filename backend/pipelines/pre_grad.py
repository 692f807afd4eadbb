"""The pre-grad stage: Dynamo's torch-level graph, neither functional nor normalized.

With `is_predispatch` the graph is pre-dispatch ATen, and another list of passes runs
(`predispatch.py`).
"""

from __future__ import annotations

from typing import Any

from xductor.backend.config.versions import inductor_version
from xductor.backend.options import group_batch_fusion
from xductor.backend.options.fusion_options import fusion_option_passes
from xductor.backend.options.pre_grad_fusion_options import check, options_of
from xductor.backend.pipelines import predispatch
from xductor.backend.pipelines.fuse_fx import FUSE_FX
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock, stock_node_counts
from xductor.backend.steps.bridge import (
    BridgedStep,
    Condition,
    unobserved,
    when_flag,
)
from xductor.backend.steps.typed_steps import (
    CoveringStep,
    OwnStep,
    TableStep,
    TypedStep,
)
from xductor.backend.steps.user_patterns import own_table
from xductor.backend.user_passes.user_hooks import user_hook
from xductor.backend.user_passes.user_rewrites import first_rewrites, user_rewrites
from xductor.transforms.before_autograd.enclosing_graphs import entered_graphs

_pattern_matcher = when_flag("pattern_matcher", True)


def _torch_level(run: StageRun) -> bool:
    return _pattern_matcher(run) and not stock.flag("is_predispatch")


def _checks_numerics(run: StageRun) -> bool:
    return _pattern_matcher(run) and bool(
        stock.flag("fx_passes_numeric_check", {}).get("pre_grad", False)
    )


def _fuses_attention(run: StageRun) -> bool:
    """Whether attention may be fused here.

    Not within a checkpoint that chooses what to save: it names ops of its body, and of bodies
    inside.
    """
    return _pattern_matcher(run) and all(
        gm.meta.get("_checkpoint_context_fn") is None for gm in (*entered_graphs(), run.gm)
    )


def _lazy_init(_: StageRun) -> None:
    stock.lookup("pre_grad:lazy_init")()


def _snapshot(run: StageRun) -> None:
    run.kept["before"] = run.gm.__copy__()


def _numeric_check(run: StageRun) -> None:
    """Compare the graph before and after on the example inputs, as the option asks."""
    options = stock.flag("fx_passes_numeric_check", {})
    stock.lookup("numeric_utils:numeric_check_if_enabled")(
        run.kept["before"],
        run.gm.__copy__(),
        run.example_inputs,
        options.get("num_iterations", 1),
        options.get("precision", 1e-4),
    )


def _numpy_compat(place: str) -> TypedStep:
    """Normalize NumPy's keyword names, at this place before or after Inductor's fusions."""
    name, function = "numpy_compat_normalization", "pre_grad:numpy_compat_normalization"
    step = unobserved(
        name,
        function,
        when=lambda run: _torch_level(run) and inductor_version().numpy_compat == place,
        values=False,
    )
    return TypedStep(name, step, function)


_NORMALIZATION = "normalization_pass"


def _group_batch_fusions(run: StageRun) -> None:
    if _torch_level(run):
        group_batch_fusion.run_pre_grad(run)


#: Options whose tables have entries that passes of ours replace.
_TYPED_OPTIONS = (
    "remove_split_with_size_one_pass",
    "merge_getitem_cat_pass",
    "merge_splits_pass",
    "mutate_cat_pass",
    "split_cat_pass",
    "unbind_stack_pass",
    "split_cat_to_slices_pass",
    "unbind_cat_to_view_pass",
    "split_stack_to_cats_pass",
    "unbind_stack_to_slices_pass",
    "move_reshape_out_of_split_stack_pass",
    "einsum_to_pointwise_pass",
)

#: Tables of options that are empty in Inductor; passes of ours have the meaning of the name.
_EMPTY_OPTIONS = ("merge_stack_tahn_unbind_pass",)


def _check_options(run: StageRun) -> None:
    """Check what the user may have set wrongly, before anything is changed."""
    if _pattern_matcher(run):
        check(options_of(run))
        predispatch.check(run)


def _fusion_options(run: StageRun) -> None:
    """Run the tables that the user enabled, in the user's order, each as often as asked for."""
    if not _torch_level(run):
        return
    tables = stock.lookup("pre_grad:PRE_GRAD_PATTERNS")
    fusions = stock.lookup("pre_grad:PRE_GRAD_FUSIONS")
    options = options_of(run)
    for name, option in options.items():
        if name in fusions or name not in tables or name == "normalization_pass":
            continue
        table = tables[name]
        step = _option_step(name, table)
        with fusion_option_passes(run, table):
            for _ in range(option.get("counter", 1)):
                step(run)


def _option_step(name: str, table: Any) -> TableStep | OwnStep:
    """A table of Inductor's; a pass of ours in the place of one that nobody filled."""
    own = own_table(f"pre_grad:{name}", table)
    if name in _EMPTY_OPTIONS and own and not table.patterns:
        return OwnStep(name)
    return TableStep(name, lambda: table, (name,) if name in _TYPED_OPTIONS else ())


def _normalizes_weights(_: StageRun) -> bool:
    return bool(stock.flag("efficient_conv_bn_eval_fx_passes")) and not stock.flag("freezing")


def _table(name: str, asked: Condition) -> TableStep:
    """One of Inductor's tables that is always on, with our pass of the same name."""
    table = f"pre_grad:{name}"
    return TableStep(name, lambda: stock.lookup(table), (name,), name, _torch_level, {name: asked})


def _with(condition: Condition, name: str, call: Any) -> BridgedStep:
    return BridgedStep(name, call, condition, values=False)


_SORT, _SORTS = "stable_topological_sort", "pre_grad:stable_topological_sort"
_LIFT, _LIFTS = "quant_lift_up", "quantization:quant_lift_up"

STEPS = (
    _with(_pattern_matcher, "lazy_init", _lazy_init),
    CoveringStep(_check_options),
    _with(_checks_numerics, "snapshot", _snapshot),
    first_rewrites,
    OwnStep("fuse_attention", _fuses_attention, stock_node_counts.noted),
    OwnStep("contiguous_attn_mask", _fuses_attention),
    CoveringStep(predispatch.run_passes, ("pre_dispatch_passes", *predispatch.typed_names())),
    _numpy_compat("before"),
    *FUSE_FX,
    _numpy_compat("after"),
    TableStep(
        _NORMALIZATION,
        lambda: stock.lookup("pre_grad:PRE_GRAD_PATTERNS")[_NORMALIZATION],
        (_NORMALIZATION,),
        when=lambda run: _torch_level(run) and _NORMALIZATION in options_of(run),
    ),
    CoveringStep(
        _group_batch_fusions,
        ("group_batch_fusion_passes", *group_batch_fusion.fusion_names("pre_grad")),
    ),
    CoveringStep(_fusion_options, ("pre_grad_fusion_options", *_TYPED_OPTIONS, *_EMPTY_OPTIONS)),
    _table("efficient_conv_bn_eval_pass", _normalizes_weights),
    _table("apply_gumbel_max_trick_pass", when_flag("apply_gumbel_max_trick")),
    user_rewrites,
    user_hook("pre_grad_custom_pass"),
    TypedStep(_SORT, unobserved(_SORT, _SORTS, required=True, values=False), _SORTS),
    TypedStep(_LIFT, unobserved(_LIFT, _LIFTS, over="gm", values=False), _LIFTS),
    BridgedStep("lint_and_recompile", StageRun.lint_and_recompile, required=True, values=False),
    _with(
        lambda run: _checks_numerics(run) and run.example_inputs is not None,
        "numeric_check",
        _numeric_check,
    ),
)
