"""The joint stage: forward and backward in one functional ATen graph."""

from __future__ import annotations

from typing import Any

from xductor.backend.options import post_grad_fusion_options
from xductor.backend.pipelines.algebra import algebra
from xductor.backend.pipelines.auto_chunker import auto_chunker
from xductor.backend.pipelines.bodies import BodiesStep
from xductor.backend.pipelines.canonicalization import canonicalize_aten_ir_passes
from xductor.backend.pipelines.padding_decision import should_pad
from xductor.backend.pipelines.replace_random import replace_random_passes
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import (
    BridgedStep,
    unobserved,
    when_flag,
)
from xductor.backend.steps.draws import (
    eliminate_dead_draws_of_nothing,
    has_dead_draws_of_nothing,
)
from xductor.backend.steps.typed_steps import (
    CoveringStep,
    OwnStep,
    TableStep,
    TypedStep,
    typed_step,
    user_noop_ops,
)
from xductor.backend.user_passes.user_hooks import user_hook
from xductor.backend.user_passes.user_rewrites import first_rewrites, user_rewrites
from xductor.transforms.padding.padding import deciding_padding
from xductor.transforms.rows.registry import in_table

_pattern_matcher = when_flag("pattern_matcher", True)


def _lazy_init(run: StageRun) -> None:
    stock.lookup("joint_graph:lazy_init")(run.input_device)


def _has_dead_draws_of_nothing(run: StageRun) -> bool:
    return has_dead_draws_of_nothing(run.gm.graph)


def _eliminate_dead_draws_of_nothing(run: StageRun) -> None:
    """Erase dead calls that are only tagged as drawing, such as attention without dropout.

    Dead attention that is spelled out does not survive tracing, so a fused call should not either.
    """
    eliminate_dead_draws_of_nothing(run.gm.graph)
    run.gm.recompile()


def _pass_patterns(run: StageRun) -> None:
    """Inductor's list of pattern tables, to which users may have added."""
    if not _pattern_matcher(run):
        return
    tables: list[Any] = stock.lookup("joint_graph:pass_patterns")
    own = stock.lookup("joint_graph:patterns")
    for i, table in enumerate(tables):
        name = f"pass_pattern_{i}"
        typed = in_table("joint", f"pass_patterns[{i}]") if tables[0] is own else ()
        with deciding_padding(should_pad):
            TableStep(name, lambda table=table: table, typed, observed_as=name)(run)


def _counted(run: StageRun) -> bool:
    return run.count > 0


STEPS = (
    CoveringStep(post_grad_fusion_options.check_first),  # thresholds of padding are among them
    BridgedStep("lazy_init", _lazy_init),
    BridgedStep(
        "eliminate_dead_draws_of_nothing",
        _eliminate_dead_draws_of_nothing,
        _has_dead_draws_of_nothing,
        required=True,
        values=False,
    ),
    canonicalize_aten_ir_passes,
    user_hook("joint_custom_pre_pass"),
    first_rewrites,
    # Before all else, to which they give straight-line code; a loop's body may hold a `cond`.
    BodiesStep("unroll_while_loop"),
    BodiesStep("cond_to_where"),
    typed_step("remove_noop_ops", "post_grad:remove_noop_ops"),
    user_noop_ops,
    algebra,
    typed_step(
        "constant_fold_uniform_value",
        "joint_graph:constant_fold_uniform_value",
        over="gm",
        when=when_flag("joint_graph_constant_folding", True),
        then=("remove_no_ops", "remove_redundant_views"),
    ),
    TableStep(
        "early_patterns",
        lambda: stock.lookup("joint_graph:early_patterns"),
        in_table("joint", "early_patterns"),
        when=_pattern_matcher,
    ),
    auto_chunker,
    CoveringStep(_pass_patterns, ("pass_patterns", *in_table("joint", "pass_patterns"))),
    OwnStep("thin_products", _pattern_matcher),
    user_rewrites,
    replace_random_passes,
    user_hook("joint_custom_post_pass"),
    TypedStep(
        "stable_topological_sort",
        unobserved(
            "stable_topological_sort",
            "joint_graph:stable_topological_sort",
            when=_counted,
            required=True,
            values=False,
        ),
        "joint_graph:stable_topological_sort",
    ),
    BridgedStep(
        "lint_and_recompile", StageRun.lint_and_recompile, _counted, required=True, values=False
    ),
)
