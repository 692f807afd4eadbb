"""The distributed steps of the post-grad stage: fuse, bucket and schedule collectives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xductor.backend.config.versions import inductor_version
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import (
    BridgedStep,
    observed,
    stock_pass,
    unobserved,
    when_flag,
)

_DISTRIBUTED = "aten_distributed_optimizations"


def _fuse_ddp_communication(run: StageRun) -> None:
    fuse = stock.lookup("post_grad:fuse_ddp_communication")
    passes, size = stock.flag("_fuse_ddp_communication_passes"), stock.flag("_fuse_ddp_bucket_size")
    observed(run, "fuse_ddp_communication", lambda graph: fuse(graph, passes, size), "graph")


def _checks_spmd(_: StageRun) -> bool:
    """Whether the check is enabled, and a later step needs the graphs of all ranks to be equal."""
    return bool(stock.flag(f"{_DISTRIBUTED}.spmd_check")) and stock.keeps_graphs_alike()


def _bucketing(
    observer: str, option: str, all_of: str, fsdp_only: str | None, mode_option: str
) -> BridgedStep:
    """Bucketing of one kind of collective, by the option of that kind.

    Before torch 2.12 this option also holds the bucket mode; later `mode_option` does.
    """

    def call(run: StageRun) -> None:
        value = stock.flag(option)
        bucket = stock.lookup(fsdp_only if fsdp_only and "fsdp" in value else all_of)
        size = stock.flag(f"{option}_bucket_size_determinator")
        mode = stock.flag(mode_option, value)
        observed(run, observer, lambda graph: bucket(graph.owning_module, size, mode), "graph")
        run.kept["bucketed"] = True

    return BridgedStep(
        option, call, lambda _: stock.flag(option, "none") != "none", all_of, required=True
    )


def _overlap_scheduling(run: StageRun) -> None:
    """Overlap scheduling; the dependencies that it inserts are on unless the user sets them."""
    from torch._inductor import config

    schedule: Callable[[Any], Any] = stock.lookup(
        "overlap_scheduling:schedule_overlap_bucketing_from_inductor_configs"
    )
    patched = {
        path: True if (value := stock.flag(path)) is None else value
        for name in inductor_version().overlap_options
        for path in (f"{_DISTRIBUTED}.{name}",)
    }
    with config.patch(patched):
        observed(run, "overlap_scheduling", lambda graph: schedule(graph.owning_module), "graph")


FUSION_STEPS = (
    unobserved(
        "micro_pipeline_tp_pass",
        "post_grad:micro_pipeline_tp_pass",
        when=when_flag("_micro_pipeline_tp"),
    ),
    BridgedStep(
        "fuse_ddp_communication", _fuse_ddp_communication, when_flag("_fuse_ddp_communication")
    ),
)

SCHEDULING_STEPS = (
    unobserved("spmd_check", "spmd_check:spmd_check", over="gm", when=_checks_spmd),
    stock_pass(
        "decomp_comms",
        "decomp_comms:decomp_comms",
        over="gm",
        when=when_flag(f"{_DISTRIBUTED}.allow_comms_decompositions"),
    ),
    stock_pass(
        "dedup_reduce_scatters",
        "fsdp:dedup_fsdp_reduce_scatter",
        over="gm",
        when=when_flag("dedup_reduce_scatters"),
    ),
    _bucketing(
        "bucket_reduce_scatters",
        "bucket_reduce_scatters_fx",
        "bucketing:bucket_reduce_scatter",
        "fsdp:bucket_fsdp_reduce_scatter",
        "bucket_reduce_scatters_bucket_mode",
    ),
    _bucketing(
        "bucket_all_reduce",
        "bucket_all_reduces_fx",
        "bucketing:bucket_all_reduce",
        None,
        "bucket_all_reduces_fx",
    ),
    _bucketing(
        "bucket_all_gathers",
        "bucket_all_gathers_fx",
        "bucketing:bucket_all_gather",
        "fsdp:bucket_fsdp_all_gather",
        "bucket_all_gathers_bucket_mode",
    ),
    unobserved(
        "sort_after_bucketing",
        "post_grad:stable_topological_sort",
        when=lambda run: "bucketed" in run.kept,
        required=True,
    ),
    BridgedStep(
        "overlap_scheduling",
        _overlap_scheduling,
        when_flag(f"{_DISTRIBUTED}.enable_overlap_scheduling"),
        required=True,
    ),
    stock_pass(
        "replace_collectives_with_low_contention",
        "low_contention_collectives:replace_collectives_with_low_contention",
        when=when_flag(f"{_DISTRIBUTED}.enable_low_contention_collectives"),
    ),
)
