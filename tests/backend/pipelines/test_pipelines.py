"""With every step bridged, the stages do what Inductor's own do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
import torch.nn.functional as F
from torch._dynamo.utils import counters
from torch._inductor.fx_passes import joint_graph, post_grad, pre_grad

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.pipelines import joint_graph as our_joint
from xductor.backend.pipelines import post_grad as our_post
from xductor.backend.pipelines import pre_grad as our_pre
from xductor.backend.records import stage_records
from xductor.backend.steps import bridge, typed_steps

STOCK = {
    "pre_grad": pre_grad.pre_grad_passes,
    "joint": joint_graph.joint_graph_passes,
    "post_grad": post_grad.post_grad_passes,
}
OURS = {
    "pre_grad": stages.pre_grad_passes,
    "joint": stages.joint_graph_passes,
    "post_grad": stages.post_grad_passes,
}


def _mlp(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    hidden = F.dropout(F.linear(x, w).relu(), 0.5)
    return (hidden.view(-1, 2, 4).view(-1, 8) @ w).clone() + 0


def _attention(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    q, k, v = (F.linear(x, w) * scale for scale in (1, 2, 3))
    return torch.softmax(q @ k.transpose(-2, -1) / 4.0, -1) @ v


def _shapes(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    a, b = torch.split(x, 4, 1)
    y = torch.cat([a, b], 1).permute(1, 0).permute(1, 0)
    return y.to(torch.bfloat16).to(torch.float32) * torch.ones_like(y) + torch.rand_like(y) @ w


MODELS = {"mlp": _mlp, "attention": _attention, "shapes": _shapes}


def _inputs(train: bool) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(6, 8, requires_grad=train), torch.randn(8, 8, requires_grad=train)


@pytest.mark.parametrize("train", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("model", MODELS)
def test_bridged_stages_equal_stock(
    model: str, dynamic: bool, train: bool, stage_graphs: Any, listing: Callable[..., list[str]]
) -> None:
    graphs = stage_graphs(MODELS[model], *_inputs(train), train=train, dynamic=dynamic)
    expected = ["pre_grad", "joint", "post_grad"] + ["post_grad"] * train
    assert [graph.stage for graph in graphs] == expected
    for graph in graphs:
        counters.clear()
        stock = graph.run(STOCK[graph.stage])
        stock_counts = dict(counters["inductor"])
        counters.clear()
        with typed_steps.all_bridged():
            ours = graph.run(OURS[graph.stage])
        assert listing(ours) == listing(stock), graph.stage
        assert dict(counters["inductor"]) == stock_counts, graph.stage


@pytest.mark.parametrize(
    "options",
    [
        {"pattern_matcher": False},
        {"joint_graph_constant_folding": False, "reorder_for_locality": False, "dce": True},
        {"fallback_random": True},
        {
            "pre_grad_fusion_options": {"normalization_pass": {}, "split_cat_pass": {"counter": 2}},
            "post_grad_fusion_options": {"normalization_aten_pass": {}, "split_cat_aten_pass": {}},
        },
        {"post_grad_fusion_options": {"batch_linear_post_grad": {}}, "b2b_gemm_pass": True},
        {"fx_passes_numeric_check": {"pre_grad": True}},
        {"partitioned_scatter_enabled": True, "emulate_precision_casts": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_flags_mean_what_they_mean_in_stock(
    options: dict[str, Any], stage_graphs: Any, listing: Callable[..., list[str]]
) -> None:
    with inductor_config.patch(options):
        for graph in stage_graphs(_shapes, *_inputs(False)):
            stock = graph.run(STOCK[graph.stage])
            with typed_steps.all_bridged():
                ours = graph.run(OURS[graph.stage])
            assert listing(ours) == listing(stock), graph.stage


def test_predispatch(listing: Callable[..., list[str]]) -> None:
    """A pre-dispatch ATen graph, the added and removed passes included."""
    x = torch.randn(4, 8)

    def function(x: torch.Tensor) -> torch.Tensor:
        a, b = torch.split(x, 4, 1)
        return torch.cat([a, b], 1).relu()

    gm = torch.export.export(torch.fx.symbolic_trace(function), (x,)).module()
    ran: list[str] = []
    with inductor_config.patch(is_predispatch=True):
        import copy

        stock, ours = copy.deepcopy(gm), copy.deepcopy(gm)
        arguments = ((x,), "use_triton_dot_compress", "relu_nan_to_num,remove_noop")
        pre_grad.pre_grad_passes(stock, *arguments)
        with stage_records.record() as records, typed_steps.all_bridged():
            stages.pre_grad_passes(ours, *arguments)
        ran = [one.name for record in records for one in record.passes]
    assert listing(ours) == listing(stock)
    assert "use_triton_dot_compress" in ran
    assert "relu_nan_to_num" not in ran
    assert ran.count("remove_noop_pass") == 1


def test_disabled_passes_of_inductor(stage_graphs: Any) -> None:
    """Inductor's ``disabled_passes`` leaves a step out, by the name of its observer."""
    (graph,) = [g for g in stage_graphs(_mlp, *_inputs(False)) if g.stage == "joint"]
    with typed_steps.all_bridged():
        folded = graph.run(stages.joint_graph_passes)
        with inductor_config.patch(disabled_passes="constant_fold_uniform_value,remove_noop_ops"):
            unfolded = graph.run(stages.joint_graph_passes)
    clone = torch.ops.aten.clone.default
    assert not folded.graph.find_nodes(op="call_function", target=clone)
    assert unfolded.graph.find_nodes(op="call_function", target=clone)


def test_disabled_passes_of_ours(stage_graphs: Any) -> None:
    (graph,) = [g for g in stage_graphs(_mlp, *_inputs(False)) if g.stage == "joint"]
    off = settings.current().replace(disabled_passes=["constant_fold_uniform_value"])
    with settings.use(off), typed_steps.all_bridged(), stage_records.record() as (records):
        graph.run(stages.joint_graph_passes)
    names = [one.name for one in records[0].passes]
    assert "constant_fold_uniform_value" not in names
    assert "early_patterns" in names


def test_the_bisector_sees_our_steps(stage_graphs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bisector is asked for each step, under Inductor's subsystem and name."""
    from torch._inductor.compiler_bisector import CompilerBisector

    asked: list[tuple[str, str]] = []

    def disable(backend: str, subsystem: str, debug_info: Callable[[], str] | None = None) -> bool:
        asked.append((subsystem, debug_info() if debug_info else ""))
        return False

    graphs = stage_graphs(_mlp, *_inputs(True), train=True)
    monkeypatch.setattr(CompilerBisector, "disable_subsystem", disable)
    for graph in graphs[1:3]:
        asked.clear()
        graph.run(STOCK[graph.stage])
        stock = [entry for entry in asked if entry[0].endswith("_passes")]
        asked.clear()
        with typed_steps.all_bridged():
            graph.run(OURS[graph.stage])
        ours = [entry for entry in asked if entry[0].endswith("_passes")]
        # A table without entries is not asked for; all others are, in the same order.
        assert [entry for entry in stock if entry in ours] == ours
        assert {name for _, name in stock} - {name for _, name in ours} <= {"pass_pattern_0"}


def test_the_ledger_tells_what_ran(stage_graphs: Any) -> None:
    graphs = stage_graphs(_mlp, *_inputs(True), train=True)
    with stage_records.record() as records, typed_steps.all_bridged():
        for graph in graphs:
            graph.run(OURS[graph.stage])
    assert [record.stage for record in records] == [graph.stage for graph in graphs]
    joint = records[1]
    assert joint.nodes_before == len(graphs[1].gm.graph.nodes) > joint.nodes_after
    assert joint.cpu_ns > 0
    assert joint.lowered == 0
    assert joint.fallback is None
    folding = next(one for one in joint.passes if one.name == "constant_fold_uniform_value")
    assert (folding.kind, folding.changed) == ("bridged", True)
    random = next(one for one in joint.passes if one.name == "replace_random_passes")
    assert random.counters is not None
    assert random.counters["pattern_matcher_count"] == 1
    assert stage_records.recent()[-1] is records[-1]


def test_the_ledger_does_not_watch_when_nobody_listens(stage_graphs: Any) -> None:
    (graph,) = [g for g in stage_graphs(_mlp, *_inputs(False)) if g.stage == "joint"]
    with typed_steps.all_bridged():
        graph.run(stages.joint_graph_passes)
    assert all(one.changed is None for one in stage_records.recent()[-1].passes)


def test_required_steps() -> None:
    """After a failure, exactly the steps run that code generation or the user needs."""
    required = {
        stage: [
            step.name
            for step in steps
            if isinstance(step, bridge.BridgedStep | typed_steps.TypedStep)
            and (step.stock_step if isinstance(step, typed_steps.TypedStep) else step).required
        ]
        for stage, steps in (
            ("pre_grad", our_pre.STEPS),
            ("joint", our_joint.STEPS),
            ("post_grad", our_post.STEPS),
        )
    }
    assert required["pre_grad"] == [
        "pre_grad_custom_pass",
        "stable_topological_sort",
        "lint_and_recompile",
    ]
    assert required["joint"] == [
        "eliminate_dead_draws_of_nothing",
        "canonicalize_aten_ir_passes",
        "joint_custom_pre_pass",
        "replace_random_passes",
        "joint_custom_post_pass",
        "stable_topological_sort",
        "lint_and_recompile",
    ]
    assert required["post_grad"] == [
        "post_grad_custom_pre_pass",
        "respecialize_current_device",
        "lazy_init",
        "post_grad_custom_post_pass",
        "chain_random_ops_ordering",
        "stable_topological_sort",
        "move_constructors_to_gpu",
        "custom_backend_passes",
        "bucket_reduce_scatters_fx",
        "bucket_all_reduces_fx",
        "bucket_all_gathers_fx",
        "sort_after_bucketing",
        "overlap_scheduling",
        "reinplace_inplaceable_ops",
        "fix_auto_functionalized_dtype_views",
        "decompose_triton_kernel_wrapper_functional",
        "decompose_auto_functionalized",
        "decompose_scan_to_while_loop",
        "decompose_map_to_while_loop",
        "recompile_and_lint",
    ]
