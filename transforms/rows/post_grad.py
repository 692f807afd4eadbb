"""Registry rows of the post-grad stage, but for those of frozen models and the distributed ones."""

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


def _unary(name: str, summary: str) -> PassRow:
    return _row(
        f"mkldnn_{name}_fusion",
        summary,
        f"mkldnn_fusion.py:_register_{name}_fusion_lowering.fn",
        kind="procedural",
        covered_by="mkldnn_unary_fusion",
        parts=("mkldnn_unary_fusion",),
    )


def _lowering(name: str, entry: str, summary: str) -> PassRow:
    return _row(
        name,
        summary,
        f"quantization.py:_register_quantized_{entry}_lowering.{name}",
        kind="procedural",
        covered_by=f"{name.partition('_')[0]}_post_op_fusion",
        parts=(f"{name.partition('_')[0]}_post_op_fusion",),
    )


STEP_ROWS = (
    _row(
        "dead_code_elimination",
        "Remove ops whose results are unused and that have no effects.",
        kind="procedural",
        flag="dce",
        factory="post_grad.dead_code_elimination:DeadCodeElimination",
    ),
    _row(
        "common_subexpression_elimination",
        "Compute once what is computed several times, in inference.",
        kind="procedural",
        factory="post_grad.common_subexpression_elimination:CommonSubexpressionElimination",
        origin="ours",
    ),
    _row(
        "fold_tables",
        "Compute once what depends on no input and is dear, in inference.",
        kind="procedural",
        factory="post_grad.fold_tables:FoldTables",
        origin="ours",
    ),
    _row(
        "reorder_for_locality",
        "Move each op to just before its first use.",
        kind="procedural",
        flag="reorder_for_locality, in inference",
        factory="post_grad.reorder_for_locality:ReorderForLocality",
    ),
    _row(
        "post_grad_custom_pre_pass",
        "Run the user's passes before ours: callables on FX, typed ones on the typed graph.",
        "../config.py:post_grad_custom_pre_pass",
        kind="hook",
        flag="post_grad_custom_pre_pass",
    ),
    _row(
        "grouped_gemm_pass",
        "Compute packed linears on one input in one kernel.",
        flag="cpp.enable_grouped_gemm_template, max_autotune",
        kind="procedural",
        factory="onednn.grouped_gemm_pass:GroupedGemmPass",
    ),
    _row(
        "concat_linear_woq_int4",
        "Merge int4 weight-only linears on one input.",
        flag="cpp.enable_concat_linear",
        kind="procedural",
        factory="quantized.concat_linear_woq_int4:ConcatLinearWoqInt4",
    ),
    _row(
        "remove_profiler_ops",
        "Remove markers of the profiler.",
        kind="procedural",
        flag="",
        factory="post_grad.remove_profiler_ops:RemoveProfilerOps",
    ),
    _row(
        "respecialize_current_device",
        "Turn the device of compile-on-one-rank, which is a value there, into a constant again.",
        "post_grad.py:respecialize_current_device_nodes",
        flag="",
        since=(2, 14),
    ),
    _row(
        "group_batch_fusion_passes",
        "Run the group and batch fusions that are on.",
        "group_batch_fusion.py:group_batch_fusion_passes",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="batch_linear_post_grad",
        parts=_FUSIONS,
    ),
    _row(
        "remove_noop_ops",
        "Remove ops that return their input: views and casts that change nothing, clones.",
        kind="procedural",
        factory="noops.remove_noop_ops:RemoveNoopOps",
    ),
    _row(
        "remove_assert_ops",
        "Remove assertions about a tensor's metadata that its type states.",
        kind="procedural",
        factory="post_grad.remove_assert_ops:RemoveAssertOps",
    ),
    _row(
        "partitioned_scatter_optimization",
        "Scatter with many collisions into several buffers, and sum them.",
        kind="declared",
        flag="partitioned_scatter_enabled",
        factory="post_grad.partitioned_scatter:PartitionedScatterOptimization",
    ),
    _row(
        "accumulate_in_float32",
        "Sum scattered 16-bit floats in float32. On GPUs.",
        kind="declared",
        factory="post_grad.accumulate_in_float32:ACCUMULATE_IN_FLOAT32",
        origin="ours",
    ),
    _row(
        "b2b_gemm_pass",
        "Compute two successive products in one kernel.",
        kind="procedural",
        flag="b2b_gemm_pass",
        factory="matmul.b2b_gemm_pass:B2bGemmPass",
    ),
    _row(
        "post_grad_custom_post_pass",
        "Run the user's passes after ours: callables on FX, typed ones on the typed graph.",
        "../config.py:post_grad_custom_post_pass",
        kind="hook",
        flag="post_grad_custom_post_pass",
    ),
    _row(
        "onednn_linear",
        "Compute products with oneDNN where ATen's kernels are slower. On CPUs.",
        kind="declared",
        factory="onednn.onednn_linear:ONEDNN_LINEAR",
        origin="ours",
    ),
    _row(
        "realize_before_expand",
        "Put in memory what is dear to compute, before it is expanded.",
        kind="procedural",
        factory="post_grad.realize_before_expand:RealizeBeforeExpand",
        origin="ours",
    ),
    _row(
        "chain_random_ops_ordering",
        "Keep random ops in the order of the program.",
        kind="procedural",
        flag="fallback_random",
        factory="random.chain_random_ops_ordering:ChainRandomOpsOrdering",
        since=(2, 13),
    ),
    _row(
        "stable_topological_sort",
        "Put definitions before uses, and otherwise keep the order.",
        kind="procedural",
        flag="",
        factory="post_grad.stable_topological_sort:StableTopologicalSort",
    ),
    _row(
        "move_constructors_to_gpu",
        "Make tensors directly on the device on which they are used.",
        kind="procedural",
        flag="",
        factory="devices.move_constructors_to_gpu:MoveConstructorsToGpu",
    ),
    _row(
        "custom_backend_passes",
        "Run the passes that device backends registered.",
        "../codegen/common.py:custom_backend_passes",
        kind="hook",
        flag="",
    ),
    _row(
        "reinplace_inplaceable_ops",
        "Update buffers in place if their old content is not read later.",
        kind="procedural",
        flag="",
        factory="in_place.reinplace_inplaceable_ops:ReinplaceInplaceableOps",
    ),
    _row(
        "fix_auto_functionalized_dtype_views",
        "Fix views of other dtypes in functionalized calls once cloning is decided.",
        kind="procedural",
        flag="",
        since=(2, 13),
        covered_by="reinplace_inplaceable_ops",
    ),
    _row(
        "decompose_triton_kernel_wrapper_functional",
        "Replace functional Triton calls by copies and mutating calls.",
        kind="procedural",
        flag="",
        factory="in_place.decompose_triton_kernel_wrapper_functional"
        ":DecomposeTritonKernelWrapperFunctional",
    ),
    _row(
        "decompose_auto_functionalized",
        "Replace functionalized custom ops by copies and mutating calls.",
        kind="procedural",
        flag="",
        factory="in_place.decompose_auto_functionalized:DecomposeAutoFunctionalized",
    ),
    _row(
        "decompose_scan_to_while_loop",
        "Replace scan by a while loop.",
        kind="procedural",
        flag="",
        factory="loops.decompose_scan_to_while_loop:DecomposeScanToWhileLoop",
    ),
    _row(
        "decompose_map_to_while_loop",
        "Replace map by a while loop.",
        kind="procedural",
        flag="",
        factory="loops.decompose_map_to_while_loop:DecomposeMapToWhileLoop",
    ),
    _row(
        "view_to_reshape",
        "Replace view by reshape; in a compile Inductor runs its own, before the stage.",
        kind="procedural",
        flag="",
        factory="post_grad.view_to_reshape:ViewToReshape",
    ),
)

PATTERN_ROWS = (
    _row(
        "mm_plus_mm",
        "Compute the sum of two products in one kernel.",
        kind="declared",
        flag="max_autotune or max_autotune_gemm",
        factory="matmul.mm_plus_mm:MmPlusMm",
        table="pass_patterns[1]",
    ),
    _row(
        "pointless_cumsum_replacement",
        "Replace the running sum of a constant by a range times the constant.",
        kind="declared",
        factory="post_grad.pointless_cumsum:PointlessCumsum",
        table="pass_patterns[1]",
    ),
    _row(
        "cat_slice_cat",
        "Merge a cat with a later cat that appends a slice of its first input.",
        kind="declared",
        factory="post_grad.cat_slice_cat:CatSliceCat",
        table="pass_patterns[1]",
    ),
    _row(
        "splitwithsizes_cat_replace",
        "Remove a split whose pieces are joined again in order.",
        kind="declared",
        factory="post_grad.cat_and_split:SplitwithsizesCatReplace",
        table="pass_patterns[2]",
    ),
    _row(
        "cat_splitwithsizes_replace",
        "Remove a cat that is split into its inputs again.",
        kind="declared",
        factory="post_grad.cat_and_split:CatSplitwithsizesReplace",
        table="pass_patterns[2]",
    ),
    _row(
        "unfuse_bias_add_to_pointwise",
        "Replace addmm by mm and add if the add can be fused with pointwise ops.",
        kind="declared",
        factory="matmul.unfuse_bias_add:UnfuseBiasAddToPointwise",
        table="pass_patterns[2]",
    ),
    _row(
        "addmm",
        "Replace mm and add by addmm.",
        kind="declared",
        factory="matmul.addmm:Addmm",
        table="pass_patterns[2]",
    ),
    _row(
        "reuse_partial",
        "Compute a full reduction from a partial one of the same input.",
        kind="declared",
        factory="post_grad.reuse_partial:REUSE_PARTIAL",
        table="pass_patterns[2]",
    ),
    _row(
        "prepare_softmax",
        "Compute maximum and sum of a softmax in one pass over the data, on GPU.",
        kind="declared",
        flag="online_softmax",
        factory="post_grad.prepare_softmax:PrepareSoftmax",
        table="pass_patterns[1]",
    ),
    _row(
        "fused_int_mm_mul",
        "Fuse an int8 product with its scale; a name without a pattern in torch 2.13.",
        "post_grad.py:check_shape_cuda_and_fused_int_mm_mul_enabled",
        flag="force_fuse_int_mm_with_mul",
    ),
    _row(
        "woq_lowerings",
        "Dequantize int8 weights of linears within the product.",
        kind="declared",
        factory="quantized.woq_lowerings:WOQ_LOWERINGS",
        table="pass_patterns[1]",
    ),
    _row(
        "qcat",
        "Join what is quantised as it is.",
        kind="declared",
        factory="quantized.qcat:QuantizeBeforeCat",
        table="pass_patterns[1]",
    ),
    _row(
        "qmaxpool2d",
        "Pool what is quantised as it is.",
        kind="declared",
        factory="quantized.qmaxpool2d:Qmaxpool2d",
        table="pass_patterns[1]",
    ),
    _row(
        "qreshape",
        "Reshape what is quantised as it is.",
        kind="declared",
        factory="quantized.qreshape:QRESHAPE",
        table="pass_patterns[1]",
    ),
    *(
        _lowering(name, entry, summary)
        for name, entry, summary in (
            ("qconv", "conv", "Call oneDNN's quantized convolutions."),
            ("qconv_binary", "conv_binary", "Call oneDNN's quantized convolutions with sums."),
            ("qlinear", "linear_unary", "Call oneDNN's quantized linears."),
            ("qlinear_binary", "linear_binary", "Call oneDNN's quantized linears with sums."),
        )
    ),
    _row(
        "quantization_lowerings",
        "Use oneDNN's quantized convolutions, linears and poolings.",
        "quantization.py:_register_quantization_lowerings",
        kind="procedural",
        covered_by="qconv_post_op_fusion",
        parts=("qconv_post_op_fusion", "qlinear_post_op_fusion", "qmaxpool2d", "qcat", "qreshape"),
    ),
    _row(
        "mkldnn_fusion",
        "Fuse oneDNN's convolutions and linears with the ops after them.",
        "mkldnn_fusion.py:_mkldnn_fusion_init",
        kind="procedural",
        covered_by="mkldnn_unary_fusion",
        parts=("mkldnn_unary_fusion", "mkldnn_binary_fusion"),
    ),
    _row(
        "mkldnn_unary_fusion",
        "Compute activations with oneDNN's convolutions and linears.",
        kind="procedural",
        factory="onednn.unary_fusion:MkldnnUnaryFusion",
        table="pass_patterns[1]",
    ),
    _unary("leaky_relu", "Compute leaky relus with oneDNN's convolutions and linears."),
    _unary("hardtanh", "Compute hardtanh with oneDNN's convolutions and linears."),
    _row(
        "mkldnn_binary_fusion",
        "Compute sums and differences with oneDNN's convolutions and linears.",
        kind="procedural",
        factory="onednn.binary_fusion:MkldnnBinaryFusion",
        table="pass_patterns[1]",
    ),
    _row(
        "mkldnn_inplace_fusion",
        "Let oneDNN's convolutions write sums to what is added.",
        "mkldnn_fusion.py:_register_binary_unary_maybe_inplace_fusion_lowering.fn",
        kind="procedural",
        covered_by="mkldnn_binary_fusion",
        parts=("mkldnn_binary_fusion", "reinplace_inplaceable_ops"),
    ),
    _row(
        "decompose_mm",
        "Replace a memory-bound mm by a product and a sum.",
        kind="declared",
        flag="post_grad_fusion_options[decompose_mm_pass]",
        factory="matmul.decompose_mem_bound_mm:DecomposeMm",
    ),
    _row(
        "decompose_bmm",
        "Replace a memory-bound bmm by a product and a sum.",
        kind="declared",
        flag="post_grad_fusion_options[decompose_mm_pass]",
        factory="matmul.decompose_mem_bound_mm:DecomposeBmm",
    ),
    _row(
        "decompose_addmm",
        "Replace a memory-bound addmm by a product and sums.",
        kind="declared",
        flag="post_grad_fusion_options[decompose_mm_pass]",
        factory="matmul.decompose_mem_bound_mm:DECOMPOSE_ADDMM",
    ),
)

OPTION_ROWS = (
    _row(
        "normalization_aten_pass",
        "Normalize split and cat in ATen.",
        kind="declared",
        flag=_OPTIONS,
        factory="pieces.post_grad.normalization_aten_pass:NORMALIZATION",
    ),
    _row(
        "normalize_split_with_size_default_aten",
        "Normalize a split by sizes.",
        "split_cat.py:normalize_split_with_size_default_aten",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="normalization_aten_pass",
        parts=("normalization_aten_pass:NormalizeSplitWithSizes",),
    ),
    _row(
        "normalize_cat_default_aten",
        "Normalize a cat.",
        "split_cat.py:normalize_cat_default_aten",
        kind="procedural",
        flag=_OPTIONS,
        covered_by="normalization_aten_pass",
        parts=("normalization_aten_pass:NormalizeCat",),
    ),
    _row(
        "decompose_mm_pass",
        "Turn on the three decompositions of products.",
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
        "Replace a stack of rows of one tensor by a view of it.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.post_grad.unbind_stack_aten_pass:UnbindStackAtenPass",
    ),
    _option(
        "shape_padding_multiplier",
        "Set how much faster a padded product must be; the joint stage's padding reads it.",
    ),
    _option(
        "pad_aten_mm_pass",
        "Pad bfloat16 products of a large inner size, in the joint stage's padding.",
    ),
    _row(
        "split_cat_aten_pass",
        "Replace a long cat of pieces by a cat of slices.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.post_grad.split_cat_aten_pass:SplitCatAtenPass",
    ),
    _row(
        "select_cat_aten_pass",
        "Replace a cat of rows by a reshape of the tensor.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.post_grad.select_cat_aten_pass:SelectCatAtenPass",
    ),
    _row(
        "move_view_after_cat_aten_pass",
        "Replace a cat of reshaped pieces by a reshape of the tensor they were cut from.",
        kind="procedural",
        flag=_OPTIONS,
        factory="pieces.post_grad.move_view_after_cat_aten_pass:MoveViewAfterCatAtenPass",
    ),
    _row(
        "cat_of_pieces",
        "Replace a cat of pieces by a view of the tensor they were cut from, or use fewer pieces.",
        kind="procedural",
        factory="pieces.post_grad.cat_of_pieces:CatOfPieces",
        origin="ours",
    ),
)

FUSION_ROWS = (
    _fusion(
        "batch_linear_post_grad",
        "batch_linear_post_grad:BatchLinearPostGrad",
        "Merge products into one bmm.",
    ),
    _fusion(
        "group_linear",
        "group_linear:GroupLinear",
        "Compute linears of different shapes in one fbgemm call.",
    ),
    _fusion("batch_aten_tanh", "post_grad_pointwise:BatchAtenTanh", "Merge tanhs of one shape."),
    _fusion(
        "batch_aten_sigmoid", "post_grad_pointwise:BatchAtenSigmoid", "Merge sigmoids of one shape."
    ),
    _fusion("batch_aten_relu", "post_grad_pointwise:BatchAtenRelu", "Merge relus of one shape."),
    _fusion("batch_aten_add", "post_grad_pointwise:BatchAtenAdd", "Merge sums of one shape."),
    _fusion(
        "batch_aten_sub", "post_grad_pointwise:BatchAtenSub", "Merge differences of one shape."
    ),
    _fusion("batch_aten_div", "post_grad_pointwise:BatchAtenDiv", "Merge quotients of one shape."),
    _fusion("batch_aten_mul", "post_grad_pointwise:BatchAtenMul", "Merge products of one shape."),
)

ROWS = (*STEP_ROWS, *PATTERN_ROWS, *OPTION_ROWS, *FUSION_ROWS)
