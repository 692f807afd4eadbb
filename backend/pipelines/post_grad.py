"""The post-grad stage: forward or backward as functional ATen; the last steps restore mutation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

from xductor.backend import lowerings
from xductor.backend.fx.copied_sources import realize_sources
from xductor.backend.fx.overlapping_writes import separate_reads
from xductor.backend.fx.shared_results import keep_results_shared
from xductor.backend.options import group_batch_fusion, post_grad_fusion_options
from xductor.backend.pipelines import collectives
from xductor.backend.pipelines.row_loops import row_loop_step
from xductor.backend.stage_runs import nested_graphs
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import (
    cpu_libraries,
    in_place,
    operand_layouts,
    step_targets,
    stock,
    value_updates,
)
from xductor.backend.steps.bridge import (
    BridgedStep,
    flush,
    observed,
    stock_pass,
    unobserved,
    when_flag,
)
from xductor.backend.steps.typed_steps import (
    CoveringStep,
    OwnStep,
    TableStep,
    TypedStep,
    typed_step,
    user_noop_ops,
)
from xductor.backend.user_passes.user_hooks import Hook, HookStep, user_hook
from xductor.backend.user_passes.user_rewrites import first_rewrites, user_rewrites
from xductor.transforms.rows.registry import in_table

_pattern_matcher = when_flag("pattern_matcher", True)

#: Entries of Inductor's tables that the joint stage has too, and that passes of ours replace.
_TYPED = ("randperm_index_add", "randperm_index")


def _tunes_products(_: StageRun) -> bool:
    return bool(stock.flag("max_autotune") or stock.flag("max_autotune_gemm"))


#: The config flags that enable passes of ours which replace entries of a table.
_ASKED = {"mm_plus_mm": _tunes_products, "prepare_softmax": when_flag("online_softmax")}


def _reorders(run: StageRun) -> bool:
    """Whether to reorder: in inference, and since 2.14 in training behind its own flag."""
    return bool(stock.flag("reorder_for_locality")) and (
        run.is_inference or bool(stock.flag("reorder_for_locality_in_training"))
    )


def _infers(run: StageRun) -> bool:
    return run.is_inference and _pattern_matcher(run)


def _before_edit(run: StageRun) -> None:
    """Record what the nodes call and what kernels get, before a step first edits the graph."""
    value_updates.watch(run)
    operand_layouts.watch(run)


def _fake_tensor_updater(run: StageRun) -> None:
    """Where Inductor starts to watch values; we need it only once a step edits the FX graph."""
    if not run.untyped:
        run.before_edit = _before_edit


def _incremental_update(run: StageRun) -> None:
    """Update the values of nodes, if a step edited the FX graph."""
    if value_updates.is_watched(run):
        flush(run)
        run.record.bridged("incremental_update", run.gm, lambda: _update(run))


def _update(run: StageRun) -> None:
    value_updates.update(run)
    operand_layouts.restore(run)


def _lazy_init(_: StageRun) -> None:
    stock.lookup("post_grad:lazy_init")()


def _has_mkldnn(_: StageRun) -> bool:
    import torch

    return torch._C._has_mkldnn


def _calls_onednn(run: StageRun) -> bool:
    """Whether oneDNN may be faster than ATen here, which a graph is lowered for.

    Where products are tuned, Inductor's templates compete with ATen's kernels.
    """
    asked = cpu_libraries.calls_onednn() and _pattern_matcher(run) and not _tunes_products(run)
    if not asked:
        return False
    faster = (cpu_libraries.mkl_is_narrow(), cpu_libraries.copies_bias())
    if not any(faster):
        return False
    from xductor.transforms.onednn.onednn_linear import has_large_products

    is_lowered = run.group is not None  # then the FX graph may be of before
    if not is_lowered and not has_large_products(run.gm.graph, *faster):
        return False
    lowerings.register()
    return True


def _grouped_gemm(run: StageRun) -> bool:
    asked = (
        _has_mkldnn(run)
        and bool(stock.flag("cpp.enable_grouped_gemm_template"))
        and bool(stock.flag("max_autotune"))
        and "CPP" in stock.flag("max_autotune_gemm_backends", "")
    )
    if asked:
        lowerings.register()
    return asked


def _concat_linear(run: StageRun) -> bool:
    return _has_mkldnn(run) and bool(stock.flag("cpp.enable_concat_linear"))


def _group_batch_fusions(run: StageRun) -> None:
    """The group and batch fusions, under the observer name that Inductor gives them."""
    if not _pattern_matcher(run) or run.untyped:
        return
    fuse = stock.lookup("post_grad:group_batch_fusion_passes")
    if not stock.is_stock(fuse):
        flush(run)
        name = "group_batch_fusion_passes"
        own = partial(fuse, pre_grad=False)
        run.bridged(name, lambda: observed(run, "post_grad_custom_pre_pass", own, "graph"))
    else:
        observed(
            run,
            "post_grad_custom_pre_pass",
            lambda _: group_batch_fusion.run_post_grad(run),
            "graph",
        )


def _never(_: StageRun) -> bool:
    return False


def _pass_patterns(run: StageRun) -> None:
    """Inductor's list of pattern tables, to which users may have added."""
    if not _pattern_matcher(run):
        return
    lowerings.register()
    tables: list[Any] = stock.lookup("post_grad:pass_patterns")
    for i, table in enumerate(tables):
        name = f"pass_pattern_{i}"
        typed = (*_TYPED, *in_table("post_grad", f"pass_patterns[{i}]"))
        TableStep(name, lambda table=table: table, typed, name, asked=_ASKED)(run)


_TYPED_OPTIONS = post_grad_fusion_options.TYPED


def _fusion_options(run: StageRun) -> None:
    if _pattern_matcher(run):
        post_grad_fusion_options.run_tables(run)


def _b2b_gemm(run: StageRun) -> bool:
    asked = _pattern_matcher(run) and bool(stock.flag("b2b_gemm_pass"))
    if not asked or not lowerings.tunes_b2b_gemm():
        return False
    lowerings.register()
    return True


def _reinplace(run: StageRun) -> None:
    """Inductor's pass, then copies of overlapping reads.

    Inductor checks for later readers of what an op overwrites, but not what the op itself reads.
    """
    reinplace = stock.lookup("post_grad:reinplace_inplaceable_ops")
    updater = value_updates.updater_of(run)

    def pass_(graph: Any) -> None:
        if step_targets.may_reinplace(run) or not stock.is_stock(reinplace):
            reinplace(updater, graph)
        else:
            updater.incremental_update()  # as Inductor's pass does first

    observed(run, "reinplace_inplaceable_ops", pass_, "graph")
    separate_reads(run.gm.graph)


def _has_backend_passes(_: StageRun) -> bool:
    return any(stock.lookup("post_grad:custom_backend_passes").values())


def _custom_backend_passes(run: StageRun) -> Iterator[Hook]:
    """The passes that device backends registered for the devices of this graph."""
    flush(run)
    devices = {device.type for device in stock.lookup("post_grad:get_all_devices")(run.gm)}
    for device, custom in stock.lookup("post_grad:custom_backend_passes").items():
        if custom is not None and device in devices:
            yield Hook(f"custom_backend_passes_{device}", custom)


def _recompile_and_lint(run: StageRun) -> None:
    realize_sources(run.gm.graph)
    if run.is_inference:
        keep_results_shared(run.gm.graph)
    run.recompile()
    run.gm.graph.lint()


def _fsdp_hooks(_: StageRun) -> bool:
    import torch

    return not getattr(torch._dynamo.config, "skip_fsdp_hooks", True)


STEPS = (
    CoveringStep(post_grad_fusion_options.check_first),
    unobserved(
        "remove_fsdp2_unsharded_param_graph_input_usage",
        "torch._inductor.comms:remove_fsdp2_unsharded_param_graph_input_usage",
        when=_fsdp_hooks,
    ),
    # Inductor starts it a few steps later; those steps only erase and move ops.
    CoveringStep(_fake_tensor_updater, ("fake_tensor_updater",)),
    TypedStep(
        "dead_code_elimination",
        BridgedStep(
            "dead_code_elimination",
            lambda run: run.gm.graph.eliminate_dead_code(),
            when_flag("dce"),
            values=False,
            edits=False,
        ),
        "torch.fx.graph:Graph.eliminate_dead_code",
    ),
    # AOTAutograd has done it to training graphs by now.
    OwnStep("common_subexpression_elimination", _infers),
    OwnStep("fold_tables", lambda run: _infers(run) and nested_graphs.is_outermost()),
    typed_step("reorder_for_locality", "post_grad:reorder_for_locality", when=_reorders),
    user_hook("post_grad_custom_pre_pass"),
    first_rewrites,
    TypedStep(
        "grouped_gemm_pass",
        unobserved("grouped_gemm_pass", "mkldnn_fusion:grouped_gemm_pass", when=_grouped_gemm),
        "mkldnn_fusion:grouped_gemm_pass",
    ),
    TypedStep(
        "concat_linear_woq_int4",
        unobserved(
            "concat_linear_woq_int4",
            "quantization:concat_linear_woq_int4",
            over="gm",
            when=_concat_linear,
        ),
        "quantization:concat_linear_woq_int4",
    ),
    typed_step("remove_profiler_ops", "post_grad:_remove_profiler_ops", values=False),
    stock_pass(
        "respecialize_current_device",
        "post_grad:respecialize_current_device_nodes",
        required=True,
    ),
    BridgedStep(
        "lazy_init", _lazy_init, _pattern_matcher, required=True, reads=_never, edits=False
    ),
    CoveringStep(
        _group_batch_fusions,
        ("group_batch_fusion_passes", *group_batch_fusion.fusion_names("post_grad")),
    ),
    typed_step("remove_noop_ops", "post_grad:remove_noop_ops", when=_pattern_matcher),
    user_noop_ops,
    typed_step("remove_assert_ops", "post_grad:remove_assert_ops", when=_pattern_matcher),
    CoveringStep(
        _pass_patterns, ("pass_patterns", *_TYPED, *in_table("post_grad", "pass_patterns"))
    ),
    user_rewrites,
    typed_step(
        "partitioned_scatter_optimization",
        "post_grad:partitioned_scatter_optimization_pass",
        when=lambda run: _pattern_matcher(run) and bool(stock.flag("partitioned_scatter_enabled")),
    ),
    CoveringStep(
        _fusion_options, (post_grad_fusion_options.OPTION, *chain(*_TYPED_OPTIONS.values()))
    ),
    OwnStep("cat_of_pieces", _pattern_matcher),
    OwnStep("accumulate_in_float32", _pattern_matcher),
    TableStep(
        "b2b_gemm_pass",
        lambda: stock.lookup("post_grad:B2B_GEMM_PASS"),
        ("b2b_gemm_pass",),
        when=_b2b_gemm,
    ),
    *collectives.FUSION_STEPS,
    user_hook("post_grad_custom_post_pass"),
    OwnStep("onednn_linear", _calls_onednn),
    OwnStep("realize_before_expand", _pattern_matcher),
    typed_step(
        "chain_random_ops_ordering",
        "post_grad:_chain_random_ops_for_ordering",
        when=when_flag("fallback_random"),
        required=True,
    ),
    typed_step(
        "stable_topological_sort",
        "post_grad:stable_topological_sort",
        observed_as="stable_sort",
        required=True,
    ),
    typed_step(
        "move_constructors_to_gpu",
        "post_grad:move_constructors_to_gpu",
        observed_as="move_constructors_to_cuda",
        required=True,
    ),
    CoveringStep(_incremental_update, ("incremental_update",)),
    HookStep(
        "custom_backend_passes",
        _custom_backend_passes,
        _has_backend_passes,
        required=True,
        values=False,
        takes="gm",
    ),
    *collectives.SCHEDULING_STEPS,
    in_place.reinplace_step(_reinplace),
    stock_pass(
        "fix_auto_functionalized_dtype_views",
        "post_grad:fix_auto_functionalized_dtype_views",
        required=True,
        acts=lambda run: in_place.decided_by_stock(run) and step_targets.fix_dtype_views(run),
        reads=in_place.decided_by_stock,
    ),
    in_place.decompose_triton_step(),
    in_place.decompose_step(),
    stock_pass(
        "reinplace_fsdp_all_gather",
        "torch._inductor.comms:reinplace_fsdp_all_gather",
        when=_fsdp_hooks,
    ),
    row_loop_step("decompose_scan_to_while_loop", "scan"),
    row_loop_step("decompose_map_to_while_loop", "map_impl"),
    BridgedStep(
        "recompile_and_lint", _recompile_and_lint, required=True, values=False, edits=False
    ),
)
