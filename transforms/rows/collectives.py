"""Registry rows of the post-grad stage's distributed passes."""

from __future__ import annotations

from xductor.transforms.rows.pass_row import RowMaker

_DISTRIBUTED = "aten_distributed_optimizations"

_row = RowMaker("post_grad", "post_grad.py")


ROWS = (
    _row(
        "remove_fsdp2_unsharded_param_graph_input_usage",
        "Remove uses of FSDP2's unsharded parameters as graph inputs.",
        "../comms.py:remove_fsdp2_unsharded_param_graph_input_usage",
        "not dynamo.skip_fsdp_hooks",
        until=(2, 12),
    ),
    _row(
        "reinplace_fsdp_all_gather",
        "Write FSDP2's gathers directly to their destination.",
        "../comms.py:reinplace_fsdp_all_gather",
        "not dynamo.skip_fsdp_hooks",
        until=(2, 12),
    ),
    _row(
        "micro_pipeline_tp_pass",
        "Overlap products with the collectives of tensor parallelism.",
        "micro_pipeline_tp.py:micro_pipeline_tp_pass",
        "_micro_pipeline_tp",
    ),
    _row(
        "fuse_ddp_communication",
        "Put the gradient reductions of data parallelism into buckets.",
        "ddp_fusion.py:fuse_ddp_communication",
        "_fuse_ddp_communication",
        counter="ddp_buckets",
    ),
    _row(
        "fuse_ddp_with_concat_op",
        "Merge the reductions of a bucket into one of their concatenation.",
        "ddp_fusion.py:fuse_ddp_with_concat_op",
        "_fuse_ddp_communication_passes",
        counter="ddp_buckets",
    ),
    _row(
        "fuse_ddp_with_coalesced_op",
        "Merge the reductions of a bucket into one coalesced op.",
        "ddp_fusion.py:fuse_ddp_with_coalesced_op",
        "_fuse_ddp_communication_passes",
        counter="ddp_buckets",
    ),
    _row(
        "schedule_comm_wait",
        "Schedule waits as late as possible.",
        "ddp_fusion.py:schedule_comm_wait",
        "_fuse_ddp_communication_passes",
    ),
    _row(
        "spmd_check",
        "Check that every rank has the same graph.",
        "spmd_check.py:spmd_check",
        f"{_DISTRIBUTED}.spmd_check",
        since=(2, 12),
    ),
    _row(
        "decomp_comms",
        "Replace collectives by cheaper ones where possible.",
        "decomp_comms.py:decomp_comms",
        f"{_DISTRIBUTED}.allow_comms_decompositions",
        since=(2, 13),
    ),
    _row(
        "dedup_reduce_scatters",
        "Merge reduce-scatters whose results are added.",
        "fsdp.py:dedup_fsdp_reduce_scatter",
        "dedup_reduce_scatters",
        since=(2, 13),
    ),
    _row(
        "bucket_reduce_scatter",
        "Put reduce-scatters into buckets.",
        "bucketing.py:bucket_reduce_scatter",
        "bucket_reduce_scatters_fx",
    ),
    _row(
        "bucket_fsdp_reduce_scatter",
        "Put FSDP's reduce-scatters into buckets.",
        "fsdp.py:bucket_fsdp_reduce_scatter",
        "bucket_reduce_scatters_fx",
    ),
    _row(
        "bucket_all_reduce",
        "Put all-reduces into buckets.",
        "bucketing.py:bucket_all_reduce",
        "bucket_all_reduces_fx",
    ),
    _row(
        "bucket_all_gather",
        "Put all-gathers into buckets.",
        "bucketing.py:bucket_all_gather",
        "bucket_all_gathers_fx",
    ),
    _row(
        "bucket_fsdp_all_gather",
        "Put FSDP's all-gathers into buckets.",
        "fsdp.py:bucket_fsdp_all_gather",
        "bucket_all_gathers_fx",
    ),
    _row(
        "overlap_scheduling",
        "Order collectives and computation so that they overlap.",
        "overlap_scheduling.py:schedule_overlap_bucketing_from_inductor_configs",
        f"{_DISTRIBUTED}.enable_overlap_scheduling",
    ),
    _row(
        "replace_collectives_with_low_contention",
        "Replace collectives by variants with lower contention.",
        "low_contention_collectives.py:replace_collectives_with_low_contention",
        f"{_DISTRIBUTED}.enable_low_contention_collectives",
        since=(2, 13),
    ),
)
