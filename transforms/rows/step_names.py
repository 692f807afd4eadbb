"""Steps of the stages that are no passes, by name: a user's rewrite may run beside them too."""

from __future__ import annotations

from collections.abc import Mapping

from xductor.transforms.passes.stage import Stage

STEP_NAMES: Mapping[Stage, tuple[str, ...]] = {
    "pre_grad": (
        "fuse_fx",
        "lazy_init",
        "lint_and_recompile",
        "module_calls",
        "numeric_check",
        "pre_dispatch_passes",
        "pre_grad_fusion_options",
        "snapshot",
    ),
    "joint": (
        "early_patterns",
        "eliminate_dead_draws_of_nothing",
        "lazy_init",
        "lint_and_recompile",
        "pass_patterns",
        "user_noop_ops",
    ),
    "post_grad": (
        "bucket_all_gathers_fx",
        "bucket_all_reduces_fx",
        "bucket_reduce_scatters_fx",
        "fake_tensor_updater",
        "incremental_update",
        "lazy_init",
        "pass_patterns",
        "post_grad_fusion_options",
        "randperm_index",
        "randperm_index_add",
        "recompile_and_lint",
        "sort_after_bucketing",
        "user_noop_ops",
    ),
}

__all__ = ["STEP_NAMES"]
