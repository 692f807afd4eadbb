"""Registry rows of the post-grad stage, but for the distributed ones."""

from __future__ import annotations

from xductor.transforms.rows.pass_row import PassRow, RowMaker

_OPTIONS = "post_grad_fusion_options"

_FUSIONS = (
    "batch_linear_post_grad",
    *(f"batch_aten_{name}" for name in ("tanh", "sigmoid", "relu", "add", "sub", "div", "mul")),
)

_row = RowMaker("post_grad", "post_grad.py")


def _option(name: str, summary: str) -> PassRow:
    return _row(
        name,
        summary,
        f"split_cat.py:POST_GRAD_PATTERNS[{name}]",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="pad_mm",
        parts=("pad_mm:PadMm", "pad_bmm:PadBmm", "pad_addmm:PadAddmm"),
    )


def _fusion(name: str, factory: str, summary: str) -> PassRow:
    return _row(name, summary, kind="procedural", flag=_OPTIONS, factory=f"groups.{factory}")


STEP_ROWS = (
    _row(
        "dead_code_elimination",
        "Ops whose results nobody uses and that do nothing else.",
        kind="procedural",
        flag="dce",
        factory="post_grad.dead_code_elimination:DeadCodeElimination",
    ),
    _row(
        "reorder_for_locality",
        "Each op just before its first use.",
        kind="procedural",
        flag="reorder_for_locality, in inference",
        factory="post_grad.reorder_for_locality:ReorderForLocality",
    ),
    _row(
        "post_grad_custom_pre_pass",
        "The user's own passes, before ours: callables on FX, typed ones on the typed graph.",
        "../config.py:post_grad_custom_pre_pass",
        kind="hook",
        flag="post_grad_custom_pre_pass",
    ),
    _row(
        "grouped_gemm_pass",
        "Linears on one input as one oneDNN call.",
        "mkldnn_fusion.py:grouped_gemm_pass",
        flag="cpp.enable_grouped_gemm_template",
    ),
    _row(
        "concat_linear_woq_int4",
        "int4 weight-only linears on one input as one.",
        "quantization.py:concat_linear_woq_int4",
        flag="cpp.enable_concat_linear",
    ),
    _row(
        "remove_profiler_ops",
        "Marks of the profiler.",
        kind="procedural",
        flag="",
        factory="post_grad.remove_profiler_ops:RemoveProfilerOps",
    ),
    _row(
        "respecialize_current_device",
        "Devices that stand as values become constants again.",
        "post_grad.py:respecialize_current_device_nodes",
        flag="",
        since=(2, 14),
    ),
    _row(
        "group_batch_fusion_passes",
        "Runs the group and batch fusions that are on.",
        "group_batch_fusion.py:group_batch_fusion_passes",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="batch_linear_post_grad",
        parts=_FUSIONS,
    ),
    _row(
        "remove_noop_ops",
        "Ops that give back their input: views to the same shape, casts to the same dtype, clones.",
        kind="procedural",
        factory="noops.remove_noop_ops:RemoveNoopOps",
    ),
    _row(
        "remove_assert_ops",
        "Assertions about a tensor's metadata, which the types state.",
        kind="procedural",
        factory="post_grad.remove_assert_ops:RemoveAssertOps",
    ),
    _row(
        "partitioned_scatter_optimization",
        "Scatters with many collisions, into several buffers that are summed.",
        kind="declared",
        flag="partitioned_scatter_enabled",
        factory="post_grad.partitioned_scatter:PartitionedScatterOptimization",
    ),
    _row(
        "b2b_gemm_pass",
        "Two products in a row in one kernel.",
        "b2b_gemm.py:B2B_GEMM_PASS",
        flag="b2b_gemm_pass",
        counter="b2b_gemm",
    ),
    _row(
        "post_grad_custom_post_pass",
        "The user's own passes, after ours: callables on FX, typed ones on the typed graph.",
        "../config.py:post_grad_custom_post_pass",
        kind="hook",
        flag="post_grad_custom_post_pass",
    ),
    _row(
        "chain_random_ops_ordering",
        "Random ops tied into the order of the program.",
        kind="procedural",
        flag="fallback_random",
        factory="random.chain_random_ops_ordering:ChainRandomOpsOrdering",
        since=(2, 13),
    ),
    _row(
        "stable_topological_sort",
        "Definitions before uses, else in the order they stood.",
        kind="procedural",
        flag="",
        factory="post_grad.stable_topological_sort:StableTopologicalSort",
    ),
    _row(
        "move_constructors_to_gpu",
        "Tensors made on CPU for use on a device are made there.",
        flag="",
    ),
    _row(
        "custom_backend_passes",
        "Passes that device backends registered.",
        "../codegen/common.py:custom_backend_passes",
        flag="",
    ),
    _row(
        "reinplace_inplaceable_ops",
        "Functional updates of buffers nobody reads later, in place.",
        "reinplace.py:reinplace_inplaceable_ops",
        flag="",
    ),
    _row(
        "fix_auto_functionalized_dtype_views",
        "Views of another dtype inside functionalised calls, after cloning is decided.",
        flag="",
        since=(2, 13),
    ),
    _row(
        "decompose_triton_kernel_wrapper_functional",
        "Functional Triton calls as copies and mutating calls.",
        flag="",
    ),
    _row(
        "decompose_auto_functionalized",
        "Functionalised custom ops as copies and mutating calls.",
        flag="",
    ),
    _row("decompose_scan_to_while_loop", "scan as a while loop.", flag=""),
    _row("decompose_map_to_while_loop", "map as a while loop.", flag=""),
    _row(
        "view_to_reshape",
        "view as reshape; in a compile Inductor runs its own, before the stage.",
        kind="procedural",
        flag="",
        factory="post_grad.view_to_reshape:ViewToReshape",
    ),
)

PATTERN_ROWS = (
    _row(
        "mm_plus_mm",
        "The sum of two products in one kernel.",
        kind="declared",
        flag="max_autotune or max_autotune_gemm",
        factory="matmul.mm_plus_mm:MmPlusMm",
        table="pass_patterns[1]",
    ),
    _row(
        "pointless_cumsum_replacement",
        "The running sum of a constant: a range times it.",
        kind="declared",
        factory="post_grad.pointless_cumsum:PointlessCumsum",
        table="pass_patterns[1]",
    ),
    _row(
        "cat_slice_cat",
        "A cat with a slice of it: the inputs, sliced.",
        kind="declared",
        factory="post_grad.cat_slice_cat:CatSliceCat",
        table="pass_patterns[1]",
    ),
    _row(
        "splitwithsizes_cat_replace",
        "A split whose pieces are put together again in order.",
        kind="declared",
        factory="post_grad.cat_and_split:SplitwithsizesCatReplace",
        table="pass_patterns[2]",
    ),
    _row(
        "cat_splitwithsizes_replace",
        "A cat that is split at its seams again.",
        kind="declared",
        factory="post_grad.cat_and_split:CatSplitwithsizesReplace",
        table="pass_patterns[2]",
    ),
    _row(
        "unfuse_bias_add_to_pointwise",
        "addmm as mm and add, where the add then fuses on.",
        kind="declared",
        factory="matmul.unfuse_bias_add:UnfuseBiasAddToPointwise",
        table="pass_patterns[2]",
    ),
    _row(
        "addmm",
        "mm and add as addmm.",
        kind="declared",
        factory="matmul.addmm:Addmm",
        table="pass_patterns[2]",
    ),
    _row(
        "reuse_partial",
        "A whole reduction from a partial one of the same input.",
        kind="declared",
        factory="post_grad.reuse_partial:REUSE_PARTIAL",
        table="pass_patterns[2]",
    ),
    _row(
        "prepare_softmax",
        "Maximum and sum of a softmax in one sweep, on GPU.",
        kind="declared",
        flag="online_softmax",
        factory="post_grad.prepare_softmax:PrepareSoftmax",
        table="pass_patterns[1]",
    ),
    _row(
        "fused_int_mm_mul",
        "An int8 product and the scale after it.",
        "post_grad.py:check_shape_cuda_and_fused_int_mm_mul_enabled",
        flag="force_fuse_int_mm_with_mul",
    ),
    _row(
        "woq_lowerings",
        "Linears with int8 weights, dequantised in the product.",
        "quantization.py:_register_woq_lowerings",
        counter="woq_matcher_count",
    ),
    _row(
        "quantization_lowerings",
        "oneDNN's quantised convolutions, linears and poolings.",
        "quantization.py:_register_quantization_lowerings",
    ),
    _row(
        "mkldnn_fusion",
        "oneDNN's convolutions and linears with what follows them.",
        "mkldnn_fusion.py:_mkldnn_fusion_init",
    ),
    _row(
        "decompose_mm",
        "mm bound by memory as a product and a sum.",
        kind="declared",
        flag="post_grad_fusion_options[decompose_mm_pass]",
        factory="matmul.decompose_mem_bound_mm:DecomposeMm",
    ),
    _row(
        "decompose_bmm",
        "bmm bound by memory as a product and a sum.",
        kind="declared",
        flag="post_grad_fusion_options[decompose_mm_pass]",
        factory="matmul.decompose_mem_bound_mm:DecomposeBmm",
    ),
    _row(
        "decompose_addmm",
        "addmm bound by memory as a product and sums.",
        kind="declared",
        flag="post_grad_fusion_options[decompose_mm_pass]",
        factory="matmul.decompose_mem_bound_mm:DECOMPOSE_ADDMM",
    ),
)

OPTION_ROWS = (
    _row(
        "normalization_aten_pass",
        "One spelling for split and cat in ATen.",
        kind="declared",
        flag=_OPTIONS,
        factory="pieces.normalization_aten_pass:NORMALIZATION",
    ),
    _row(
        "normalize_split_with_size_default_aten",
        "The same for a split by sizes.",
        "split_cat.py:normalize_split_with_size_default_aten",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="normalization_aten_pass",
    ),
    _row(
        "normalize_cat_default_aten",
        "The same for a cat.",
        "split_cat.py:normalize_cat_default_aten",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="normalization_aten_pass",
    ),
    _row(
        "decompose_mm_pass",
        "Turns the three decompositions of products on.",
        "split_cat.py:POST_GRAD_PATTERNS[decompose_mm_pass]",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="decompose_mm",
        parts=(
            "decompose_mm:DecomposeMm",
            "decompose_bmm:DecomposeBmm",
            "decompose_addmm:DecomposeAddmm",
            "decompose_addmm:DecomposeAddmmWithFactors",
            "decompose_addmm:DecomposeAddmmOfNothing",
        ),
    ),
    _row(
        "unbind_stack_aten_pass",
        "Rows that are stacked again: what they were rows of.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.unbind_stack_aten_pass:UnbindStackAtenPass",
    ),
    _option(
        "shape_padding_multiplier",
        "How much quicker a padded product has to be; read by the joint stage's padding.",
    ),
    _option(
        "pad_aten_mm_pass",
        "Padding of bfloat16 products of a large inner size, by the joint stage's padding.",
    ),
    _row(
        "split_cat_aten_pass",
        "A long cat of pieces: a cat of slices.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.split_cat_aten_pass:SplitCatAtenPass",
    ),
    _row(
        "select_cat_aten_pass",
        "A cat of rows: the tensor itself, reshaped.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.select_cat_aten_pass:SelectCatAtenPass",
    ),
    _row(
        "move_view_after_cat_aten_pass",
        "A cat of reshaped pieces: a reshape of what was cut.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.move_view_after_cat_aten_pass:MoveViewAfterCatAtenPass",
    ),
    _row(
        "cat_of_pieces",
        "Pieces that are put together again: a view of what was cut, or fewer pieces.",
        kind="procedural",
        factory="pieces.cat_of_pieces:CatOfPieces",
        origin="ours",
    ),
)

FUSION_ROWS = (
    _fusion(
        "batch_linear_post_grad",
        "batch_linear_post_grad:BatchLinearPostGrad",
        "Products as one bmm.",
    ),
    _fusion(
        "group_linear",
        "group_linear:GroupLinear",
        "Linears of unlike shapes in one call of fbgemm, where that is installed.",
    ),
    _fusion("batch_aten_tanh", "post_grad_pointwise:BatchAtenTanh", "tanh of one shape as one."),
    _fusion(
        "batch_aten_sigmoid", "post_grad_pointwise:BatchAtenSigmoid", "sigmoid of one shape as one."
    ),
    _fusion("batch_aten_relu", "post_grad_pointwise:BatchAtenRelu", "relu of one shape as one."),
    _fusion("batch_aten_add", "post_grad_pointwise:BatchAtenAdd", "Sums of one shape as one."),
    _fusion(
        "batch_aten_sub", "post_grad_pointwise:BatchAtenSub", "Differences of one shape as one."
    ),
    _fusion("batch_aten_div", "post_grad_pointwise:BatchAtenDiv", "Quotients of one shape as one."),
    _fusion("batch_aten_mul", "post_grad_pointwise:BatchAtenMul", "Products of one shape as one."),
)

FREEZING_ROWS = (
    _row(
        "freezing_passes",
        "What runs on a graph whose parameters became constants.",
        "freezing_patterns.py:freezing_passes",
        flag="freezing",
    ),
    _row(
        "binary_folding",
        "Arithmetic with constants after a convolution or linear, into its weights.",
        "binary_folding.py:binary_folding_init",
        flag="freezing",
        counter="binary_folding",
    ),
    _row(
        "constant_fold",
        "Ops of constants, computed now.",
        "../constant_folding.py:constant_fold",
        flag="freezing",
    ),
)

ROWS = (*STEP_ROWS, *PATTERN_ROWS, *OPTION_ROWS, *FUSION_ROWS, *FREEZING_ROWS)
