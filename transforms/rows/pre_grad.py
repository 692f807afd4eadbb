"""Registry rows of the pre-grad stage."""

from __future__ import annotations

from xductor.transforms.rows.pass_row import Kind, PassRow, RowMaker

_PRE_DISPATCH = "is_predispatch"
_OPTIONS = "pre_grad_fusion_options"

_row = RowMaker("pre_grad", "pre_grad.py")


def _pre_dispatch(name: str, summary: str, kind: Kind = "not yet", factory: str = "") -> PassRow:
    """A pass of the pre-dispatch list, of which Inductor has the name, and most often no body."""
    return _row(name, summary, kind=kind, flag=_PRE_DISPATCH, factory=factory)


def _added(name: str, summary: str, kind: Kind = "not yet", factory: str = "") -> PassRow:
    flag = f"{_PRE_DISPATCH}, add_pre_grad_passes"
    return _row(name, summary, kind=kind, flag=flag, factory=factory)


def _typed(name: str, summary: str, factory: str, kind: Kind = "procedural") -> PassRow:
    return _row(name, summary, kind=kind, flag=_OPTIONS, factory=factory)


def _covered(name: str, summary: str, by: str) -> PassRow:
    inductor = f"split_cat.py:{name}"
    return _row(name, summary, inductor, _OPTIONS, kind="procedural", covered_by=by)


def _fusion(name: str, factory: str, summary: str) -> PassRow:
    return _typed(name, summary, f"groups.{factory}")


_FUSIONS = (
    "batch_linear_lhs", "batch_linear", "batch_layernorm", "batch_tanh", "batch_sigmoid",
    "batch_relu", "batch_detach", "batch_nan_to_num", "batch_clamp", "batch_dropout",
)  # fmt: skip

PRE_DISPATCH_ROWS = (
    _pre_dispatch(
        "normalization_pass_aten",
        "Normalize split, cat, unbind and stack of pre-dispatch ATen.",
        "declared",
        "pieces.pre_grad.normalization_pass_aten:NORMALIZATIONS",
    ),
    _pre_dispatch(
        "normalize_node_kwargs_pass",
        "Normalize calls to their schema: names, defaults, dims counted from the front.",
        "procedural",
        "pre_grad.normalize_node_kwargs_pass:NormalizeNodeKwargsPass",
    ),
    _pre_dispatch(
        "remove_noop_pass",
        "Remove calls that return their input: views, casts, moves, dropouts, inverse pairs.",
        "declared",
        "pre_grad.remove_noop_pass:NOOPS",
    ),
    _pre_dispatch(
        "relu_nan_to_num",
        "Put relu and nan_to_num into a canonical order.",
        "declared",
        "pre_grad.relu_nan_to_num:ReluNanToNum",
    ),
    _pre_dispatch(
        "fuse_chunk_reshape_concat_pass",
        "Replace chunk, the same reshape of each piece, and cat by one reshape or permute.",
        "procedural",
        "pieces.pre_grad.fuse_chunk_reshape_concat_pass:FuseChunkReshapeConcatPass",
    ),
    _row(
        "group_batch_fusion_passes",
        "Run the group and batch fusions that are on.",
        "group_batch_fusion.py:group_batch_fusion_passes",
        kind="procedural",
        flag=f"{_PRE_DISPATCH}, {_OPTIONS}",
        covered_by="batch_linear",
        parts=_FUSIONS,
    ),
    _pre_dispatch(
        "fuse_chunk_squeeze_cat_pass",
        "Replace chunk into pieces of size one, squeeze and cat by one reshape.",
        "procedural",
        "pieces.pre_grad.fuse_chunk_squeeze_cat_pass:FuseChunkSqueezeCatPass",
    ),
    _pre_dispatch(
        "merge_concats_pass",
        "Merge nested cats along one dim.",
        "procedural",
        "pieces.pre_grad.merge_concats_pass:MergeConcatsPass",
    ),
    _pre_dispatch(
        "fuse_split_linear_add_pass",
        "Replace split, a linear on each piece, and their sum by one linear.",
        "procedural",
        "matmul.fuse_split_linear_add_pass:FuseSplitLinearAddPass",
    ),
    _pre_dispatch(
        "remove_reshape_pass",
        "Remove reshapes of reshapes, and those that are undone after pointwise calls.",
        "declared",
        "pre_grad.remove_reshape_pass:REMOVE_RESHAPES",
    ),
    _pre_dispatch(
        "fuse_parallel_linear_pass",
        "Merge several linears on one input into one linear and a split.",
        "procedural",
        "groups.fuse_parallel_linear_pass:FuseParallelLinearPass",
    ),
    _pre_dispatch(
        "remove_split_ops_pass",
        "Remove splits with unused pieces, or whose pieces are joined again in order.",
        "procedural",
        "pieces.pre_grad.remove_split_ops_pass:RemoveSplitOpsPass",
    ),
    _pre_dispatch(
        "stack_to_unsqueeze_pass",
        "Replace stack by cat of unsqueezes.",
        "declared",
        "pieces.pre_grad.stack_to_unsqueeze_pass:StackToUnsqueezePass",
    ),
    _pre_dispatch(
        "fuse_chunk_reshape_unsqueeze_concat_pass",
        "Replace chunk, reshape, unsqueeze and cat by one reshape or permute.",
        "procedural",
        "pieces.pre_grad.fuse_chunk_reshape_unsqueeze_concat_pass:FuseChunkReshapeUnsqueezeConcatPass",
    ),
    _added(
        "fuse_split_getitem_squeeze_cat",
        "Replace split, squeeze and cat by one op on the whole.",
        "procedural",
        "pieces.pre_grad.fuse_split_getitem_squeeze_cat:FuseSplitGetitemSqueezeCat",
    ),
    _added(
        "use_triton_dot_compress",
        "Compute (X Xt) W as X (Xt W) if that is less work.",
        "declared",
        "matmul.dot_compress:UseTritonDotCompress",
    ),
    _added(
        "use_triton_lce_replace_simple_LCE",
        "Replace a linear over the middle dim by one matmul without bias.",
        "declared",
        "matmul.lce:UseTritonLceReplaceSimpleLce",
    ),
    _added(
        "use_triton_lce_replace_normal_LCE",
        "Replace a linear over the middle dim by one matmul with bias.",
        "declared",
        "matmul.lce:UseTritonLceReplaceNormalLce",
    ),
    _added(
        "use_matmul_fuse_lce_replace_first_LCE",
        "Let a linear over the middle dim read a cat of embeddings directly.",
        "declared",
        "matmul.lce:FIRST_LCE",
    ),
    _added(
        "use_matmul_lce_replace_normal_LCE",
        "Replace a linear over the middle dim by a matmul with the weight on the left.",
        "declared",
        "matmul.lce:MATMUL_LCE",
    ),
)

OPTION_ROWS = (
    _typed(
        "normalization_pass",
        "Normalize split, cat, stack, unbind, squeeze, reshape, clamp and detach.",
        "pre_grad.normalization_pass:NormalizationPass",
    ),
    *[
        _covered(f"normalize_{name}_default", f"Normalize {name}.", "normalization_pass")
        for name in ("unbind", "cat", "stack", "squeeze", "reshape", "clamp", "detach")
    ],
    _typed(
        "remove_split_with_size_one_pass",
        "Replace a split into one piece by the tensor itself.",
        "pieces.pre_grad.remove_split_with_size_one_pass:SPLITS_OF_ONE",
        "declared",
    ),
    _typed(
        "merge_getitem_cat_pass",
        "Replace a cat of adjacent pieces by one piece.",
        "pieces.pre_grad.merge_getitem_cat_pass:MergeGetitemCatPass",
    ),
    _typed(
        "merge_stack_tahn_unbind_pass",
        "Replace tanh of stacked pieces, unbound again, by pieces of one tanh.",
        "pieces.pre_grad.merge_stack_tahn_unbind_pass:MergeStackTahnUnbindPass",
    ),
    _typed(
        "merge_splits_pass",
        "Merge splits of pieces of a split.",
        "pieces.pre_grad.merge_splits_pass:MergeSplitsPass",
    ),
    _typed(
        "mutate_cat_pass",
        "Replace a cat of pieces in order by the tensor they were cut from, or a slice of it.",
        "pieces.pre_grad.mutate_cat_pass:MutateCatPass",
    ),
    _typed(
        "split_cat_pass",
        "Make a cat or stack of pieces, in any order, read the tensors that were cut directly.",
        "pieces.pre_grad.split_cat_pass:SplitCatPass",
    ),
    _covered(
        "merge_split_squeeze",
        "Make a cat of squeezed pieces of size one read the tensor that was cut directly.",
        "split_cat_pass",
    ),
    _typed(
        "unbind_stack_pass",
        "Make a cat or stack of rows read the tensor that they are rows of directly.",
        "pieces.pre_grad.unbind_stack_pass:UnbindStackPass",
    ),
    _typed(
        "split_cat_to_slices_pass",
        "Replace a long cat of pieces by a cat of slices.",
        "pieces.pre_grad.split_cat_to_slices_pass:SplitCatToSlicesPass",
    ),
    _typed(
        "unbind_cat_to_view_pass",
        "Replace a long cat of rows by a view of the tensor they were rows of.",
        "pieces.pre_grad.unbind_cat_to_view_pass:UnbindCatToViewPass",
    ),
    _typed(
        "split_stack_to_cats_pass",
        "Replace a long stack of pieces by a cat of slices.",
        "pieces.pre_grad.split_stack_to_cats_pass:SplitStackToCatsPass",
    ),
    _typed(
        "unbind_stack_to_slices_pass",
        "Replace a long stack of rows by slices of the tensor.",
        "pieces.pre_grad.unbind_stack_to_slices_pass:UnbindStackToSlicesPass",
    ),
    _typed(
        "move_reshape_out_of_split_stack_pass",
        "Apply a reshape of every piece once, to the whole.",
        "pieces.pre_grad.move_reshape_out_of_split_stack_pass:MoveReshapeOutOfSplitStackPass",
    ),
    _typed(
        "einsum_to_pointwise_pass",
        "Replace an einsum over one dim of each row by a product and a sum.",
        "pre_grad.einsum_to_pointwise_pass:EinsumToPointwisePass",
        "declared",
    ),
)

FUSION_ROWS = (
    _fusion(
        "batch_linear_lhs",
        "batch_linear_lhs:BatchLinearLhs",
        "Merge linears on one input into one product.",
    ),
    _fusion("batch_linear", "batch_linear:BatchLinear", "Merge linears of one shape into one bmm."),
    _fusion("batch_layernorm", "batch_layernorm:BatchLayernorm", "Merge layer norms of one shape."),
    *[
        _fusion(f"batch_{name}", f"pre_grad_pointwise:{cls}", f"Merge {what} of one shape.")
        for name, cls, what in (
            ("tanh", "BatchTanh", "tanh calls"),
            ("sigmoid", "BatchSigmoid", "sigmoid calls"),
            ("relu", "BatchRelu", "relu calls"),
            ("detach", "BatchDetach", "detach calls"),
            ("nan_to_num", "BatchNanToNum", "nan_to_num calls"),
            ("clamp", "BatchClamp", "clamp calls"),
            ("dropout", "BatchDropout", "dropouts"),
        )
    ],
)

TORCH_LEVEL_ROWS = (
    _row(
        "numpy_compat_normalization",
        "numpy's names of arguments (axis, keepdims, x) as torch's.",
        kind="procedural",
        factory="pre_grad.numpy_compat_normalization:NumpyCompatNormalization",
    ),
    _row(
        "sink_cat_after_pointwise",
        "Move a pointwise call on a cat to the pieces.",
        kind="declared",
        factory="pre_grad.sink_cat_after_pointwise:SINKS",
    ),
    _row(
        "linear_permute_fusion",
        "Fuse a permute of a linear's result into the product. Not on CPU.",
        kind="declared",
        flag="permute_fusion",
        factory="matmul.permute_fusions:LINEAR_PERMUTE_FUSION",
    ),
    _row(
        "permute_linear_fusion",
        "Fuse a permute of a linear's input into the product. Not on CPU.",
        kind="declared",
        flag="permute_fusion",
        factory="matmul.permute_fusions:PERMUTE_LINEAR_FUSION",
    ),
    _row(
        "permute_matmul_fusion",
        "Fuse permutes of a matmul's operands into the product. Not on CPU.",
        kind="declared",
        flag="permute_fusion",
        factory="matmul.permute_fusions:PermuteMatmulFusion",
    ),
    _row(
        "remove_identity",
        "Remove identity modules when freezing on CPU: each is replaced by its input.",
        flag="freezing",
        kind="procedural",
        covered_by="efficient_conv_bn_eval_pass",
    ),
    _row(
        "fuse_conv_bn",
        "Fold batch norm into the convolution before it when freezing on CPU.",
        flag="freezing",
        kind="procedural",
        covered_by="efficient_conv_bn_eval_pass",
    ),
    _row(
        "efficient_conv_bn_eval_pass",
        "Fold batch norm in evaluation mode into the weights of a convolution.",
        kind="declared",
        flag="efficient_conv_bn_eval_fx_passes",
        factory="pre_grad.efficient_conv_bn_eval_pass:EFFICIENT_CONV_BN_EVAL",
    ),
    _row(
        "efficient_conv_bn_eval_graph_transform_decomposed",
        "Fold batch norm in evaluation mode into weights, in graphs that call ATen operators.",
        "efficient_conv_bn_eval.py:efficient_conv_bn_eval_graph_transform_decomposed",
        "efficient_conv_bn_eval_fx_passes",
        kind="procedural",
        covered_by="efficient_conv_bn_eval_pass",
    ),
    _row(
        "efficient_conv_bn_eval_graph_transform",
        "Fold batch norm in evaluation mode into weights, in graphs that call modules.",
        "efficient_conv_bn_eval.py:efficient_conv_bn_eval_graph_transform",
        "efficient_conv_bn_eval_fx_passes",
        kind="procedural",
        covered_by="efficient_conv_bn_eval_pass",
    ),
    _row(
        "apply_gumbel_max_trick_pass",
        "Sample by softmax and exponential noise without the softmax.",
        kind="declared",
        flag="apply_gumbel_max_trick",
        factory="pre_grad.apply_gumbel_max_trick_pass:ApplyGumbelMaxTrickPass",
    ),
    _row(
        "fuse_attention",
        "Fuse attention, however it is spelled, into one call. Inductor: after autograd.",
        kind="procedural",
        factory="pre_grad.fuse_attention:FuseAttention",
        parts=tuple([f"_sfdp_pattern_{number}" for number in range(1, 31)]),
    ),
    _row(
        "contiguous_attn_mask",
        "Copy a mask of attention that no fused kernel reads as it lies. On CUDA.",
        kind="declared",
        factory="pre_grad.contiguous_attn_mask:CONTIGUOUS_ATTN_MASK",
        origin="ours",
    ),
    _row(
        "pre_grad_custom_pass",
        "Run the user's passes: callables on FX, typed ones on the typed graph.",
        "../config.py:pre_grad_custom_pass",
        kind="hook",
        flag="pre_grad_custom_pass",
    ),
    _row(
        "stable_topological_sort",
        "Put definitions before uses, and otherwise keep the order.",
        kind="procedural",
        factory="post_grad.stable_topological_sort:StableTopologicalSort",
    ),
    _row(
        "quant_lift_up",
        "Move quantization above the views before it, for int8 attention.",
        kind="declared",
        flag="",
        factory="quantized.quant_lift_up:QUANT_LIFT_UP",
    ),
)

ROWS = (*PRE_DISPATCH_ROWS, *TORCH_LEVEL_ROWS, *OPTION_ROWS, *FUSION_ROWS)
