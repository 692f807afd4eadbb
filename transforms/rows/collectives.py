"""Registry rows of the post-grad stage's distributed passes."""

from __future__ import annotations

from xductor.transforms.rows.pass_row import RowMaker

_DISTRIBUTED = "aten_distributed_optimizations"

_row = RowMaker("post_grad", "post_grad.py")


ROWS = (
    _row(
        "remove_fsdp2_unsharded_param_graph_input_usage",
        "Uses of FSDP2's unsharded parameters as inputs.",
        "../comms.py:remove_fsdp2_unsharded_param_graph_input_usage",
        "not dynamo.skip_fsdp_hooks",
        until=(2, 12),
    ),
    _row(
        "reinplace_fsdp_all_gather",
        "FSDP2's gathers written where they are copied to.",
        "../comms.py:reinplace_fsdp_all_gather",
        "not dynamo.skip_fsdp_hooks",
        until=(2, 12),
    ),
    _row(
        "micro_pipeline_tp_pass",
        "Products overlapped with the collectives of tensor parallelism.",
        "micro_pipeline_tp.py:micro_pipeline_tp_pass",
        "_micro_pipeline_tp",
    ),
    _row(
        "fuse_ddp_communication",
        "Gradient reductions of data parallelism in buckets.",
        "ddp_fusion.py:fuse_ddp_communication",
        "_fuse_ddp_communication",
        counter="ddp_buckets",
    ),
    _row(
        "fuse_ddp_with_concat_op",
        "Reductions of a bucket as one of their concatenation.",
        "ddp_fusion.py:fuse_ddp_with_concat_op",
        "_fuse_ddp_communication_passes",
        counter="ddp_buckets",
    ),
    _row(
        "fuse_ddp_with_coalesced_op",
        "Reductions of a bucket as one coalesced op.",
        "ddp_fusion.py:fuse_ddp_with_coalesced_op",
        "_fuse_ddp_communication_passes",
        counter="ddp_buckets",
    ),
    _row(
        "schedule_comm_wait",
        "Waits as late as their results allow.",
        "ddp_fusion.py:schedule_comm_wait",
        "_fuse_ddp_communication_passes",
    ),
    _row(
        "spmd_check",
        "Whether every rank has the same graph.",
        "spmd_check.py:spmd_check",
        f"{_DISTRIBUTED}.spmd_check",
        since=(2, 12),
    ),
    _row(
        "decomp_comms",
        "Collectives as cheaper ones where that helps.",
        "decomp_comms.py:decomp_comms",
        f"{_DISTRIBUTED}.allow_comms_decompositions",
        since=(2, 13),
    ),
    _row(
        "dedup_reduce_scatters",
        "Reduce-scatters whose results are added, as one.",
        "fsdp.py:dedup_fsdp_reduce_scatter",
        "dedup_reduce_scatters",
        since=(2, 13),
    ),
    _row(
        "bucket_reduce_scatter",
        "Reduce-scatters in buckets.",
        "bucketing.py:bucket_reduce_scatter",
        "bucket_reduce_scatters_fx",
    ),
    _row(
        "bucket_fsdp_reduce_scatter",
        "FSDP's reduce-scatters in buckets.",
        "fsdp.py:bucket_fsdp_reduce_scatter",
        "bucket_reduce_scatters_fx",
    ),
    _row(
        "bucket_all_reduce",
        "All-reduces in buckets.",
        "bucketing.py:bucket_all_reduce",
        "bucket_all_reduces_fx",
    ),
    _row(
        "bucket_all_gather",
        "All-gathers in buckets.",
        "bucketing.py:bucket_all_gather",
        "bucket_all_gathers_fx",
    ),
    _row(
        "bucket_fsdp_all_gather",
        "FSDP's all-gathers in buckets.",
        "fsdp.py:bucket_fsdp_all_gather",
        "bucket_all_gathers_fx",
    ),
    _row(
        "overlap_scheduling",
        "Collectives and computation in an order that overlaps them.",
        "overlap_scheduling.py:schedule_overlap_bucketing_from_inductor_configs",
        f"{_DISTRIBUTED}.enable_overlap_scheduling",
    ),
    _row(
        "replace_collectives_with_low_contention",
        "Collectives in forms that leave more of the machine to others.",
        "low_contention_collectives.py:replace_collectives_with_low_contention",
        f"{_DISTRIBUTED}.enable_low_contention_collectives",
        since=(2, 13),
    ),
)
