"""Registry rows of the pre-grad stage."""

from __future__ import annotations

from xductor.transforms.rows.pass_row import Kind, PassRow, RowMaker

_PRE_DISPATCH = "is_predispatch"
_OPTIONS = "pre_grad_fusion_options"

_row = RowMaker("pre_grad", "pre_grad.py")


def _pre_dispatch(name: str, summary: str, kind: Kind = "not yet") -> PassRow:
    """A pass of the pre-dispatch list; Inductor's own body is empty where the kind says so."""
    return _row(name, summary, kind=kind, flag=_PRE_DISPATCH)


def _added(name: str, summary: str) -> PassRow:
    return _row(name, summary, kind="not yet", flag=f"{_PRE_DISPATCH}, add_pre_grad_passes")


def _option(name: str, summary: str) -> PassRow:
    table = f"split_cat.py:PRE_GRAD_PATTERNS[{name}]"
    return _row(name, summary, table, flag=_OPTIONS, counter=name)


def _typed(name: str, summary: str, factory: str, kind: Kind = "procedural") -> PassRow:
    return _row(name, summary, kind=kind, flag=_OPTIONS, factory=factory)


def _covered(name: str, summary: str, by: str) -> PassRow:
    inductor = f"split_cat.py:{name}"
    return _row(name, summary, inductor, _OPTIONS, kind="procedural", covered_by=by)


def _fusion(name: str, cls: str, summary: str) -> PassRow:
    return _row(name, summary, f"group_batch_fusion.py:{cls}", flag=_OPTIONS, counter=name)


PRE_DISPATCH_ROWS = (
    _pre_dispatch(
        "normalization_pass_aten",
        "One spelling for split, cat, unbind and stack of pre-dispatch ATen.",
        "bridged",
    ),
    _pre_dispatch(
        "normalize_node_kwargs_pass",
        "Every call by its schema: names, defaults filled in, dims counted from the front.",
    ),
    _pre_dispatch(
        "remove_noop_pass",
        "Calls that give back their input: views, casts, moves, dropouts, inverse pairs.",
    ),
    _pre_dispatch("relu_nan_to_num", "relu and nan_to_num in one canonical order."),
    _pre_dispatch(
        "fuse_chunk_reshape_concat_pass",
        "chunk, the same reshape on each piece, cat: one reshape or permute of the whole.",
    ),
    _pre_dispatch(
        "group_batch_fusion_passes", "Runs the group and batch fusions that are on.", "bridged"
    ),
    _pre_dispatch(
        "fuse_chunk_squeeze_cat_pass", "chunk into pieces of one, squeeze, cat: one reshape."
    ),
    _pre_dispatch("merge_concats_pass", "A cat of cats along one dim: one cat."),
    _pre_dispatch(
        "fuse_split_linear_add_pass",
        "split, a linear on each piece, their sum: one linear with concatenated weights.",
    ),
    _pre_dispatch(
        "remove_reshape_pass", "Reshapes of reshapes, and those that pointwise calls see undone."
    ),
    _pre_dispatch(
        "fuse_parallel_linear_pass", "Several linears on one input: one linear, then split."
    ),
    _pre_dispatch(
        "remove_split_ops_pass", "Splits with unused pieces, or put together again in order."
    ),
    _pre_dispatch("stack_to_unsqueeze_pass", "stack as cat of unsqueezes."),
    _pre_dispatch(
        "fuse_chunk_reshape_unsqueeze_concat_pass",
        "chunk, reshape, unsqueeze, cat: one reshape or permute of the whole.",
    ),
    _added("fuse_split_getitem_squeeze_cat", "split, squeeze, cat without the pieces."),
    _added("use_triton_dot_compress", "(X Xt) W as X (Xt W) where that is less work."),
    _added(
        "use_triton_lce_replace_simple_LCE", "A linear over the middle dim: one matmul, no bias."
    ),
    _added(
        "use_triton_lce_replace_normal_LCE", "A linear over the middle dim: one matmul with bias."
    ),
    _added(
        "use_matmul_fuse_lce_replace_first_LCE",
        "A linear over the middle dim that reads a cat of embeddings directly.",
    ),
    _added(
        "use_matmul_lce_replace_normal_LCE",
        "A linear over the middle dim as a matmul with the weight on the left.",
    ),
)

OPTION_ROWS = (
    _typed(
        "normalization_pass",
        "One spelling for split, cat, stack, unbind, squeeze, reshape, clamp, detach.",
        "pre_grad.normalization_pass:NormalizationPass",
    ),
    *[
        _covered(f"normalize_{name}_default", f"The same for {name}.", "normalization_pass")
        for name in ("unbind", "cat", "stack", "squeeze", "reshape", "clamp", "detach")
    ],
    _typed(
        "remove_split_with_size_one_pass",
        "A split into one piece: the tensor itself.",
        "pieces.remove_split_with_size_one_pass:SPLITS_OF_ONE",
        "declared",
    ),
    _typed(
        "merge_getitem_cat_pass",
        "A cat of neighbouring pieces: one piece.",
        "pieces.merge_getitem_cat_pass:MergeGetitemCatPass",
    ),
    _option("merge_stack_tahn_unbind_pass", "stack and tanh over pieces that belong together."),
    _option("merge_splits_pass", "A split of a piece of a split: one split."),
    _typed(
        "mutate_cat_pass",
        "A cat of pieces in order: what was cut, or a slice of it.",
        "pieces.mutate_cat_pass:MutateCatPass",
    ),
    _typed(
        "split_cat_pass",
        "Pieces put together in whatever order: what they read, in as few calls as it takes.",
        "pieces.split_cat_pass:SplitCatPass",
    ),
    _covered("merge_split_squeeze", "The same for pieces of size one, squeezed.", "split_cat_pass"),
    _typed(
        "unbind_stack_pass",
        "A cat or stack of rows: what it reads of what they were rows of.",
        "pieces.unbind_stack_pass:UnbindStackPass",
    ),
    _typed(
        "split_cat_to_slices_pass",
        "A long cat of pieces: a cat of slices.",
        "pieces.split_cat_to_slices_pass:SplitCatToSlicesPass",
    ),
    _typed(
        "unbind_cat_to_view_pass",
        "A long cat of rows: a view of what they were rows of.",
        "pieces.unbind_cat_to_view_pass:UnbindCatToViewPass",
    ),
    _typed(
        "split_stack_to_cats_pass",
        "A long stack of pieces: a cat of slices.",
        "pieces.split_stack_to_cats_pass:SplitStackToCatsPass",
    ),
    _typed(
        "unbind_stack_to_slices_pass",
        "A long stack of rows: slices of what they were rows of.",
        "pieces.unbind_stack_to_slices_pass:UnbindStackToSlicesPass",
    ),
    _typed(
        "move_reshape_out_of_split_stack_pass",
        "A stack of pieces under other sizes, given to the whole instead.",
        "pieces.move_reshape_out_of_split_stack_pass:MoveReshapeOutOfSplitStackPass",
    ),
    _typed(
        "einsum_to_pointwise_pass",
        "A product over one dim for each row: a product and a sum.",
        "pre_grad.einsum_to_pointwise_pass:EinsumToPointwisePass",
        "declared",
    ),
)

FUSION_ROWS = (
    _fusion("batch_linear_lhs", "BatchLinearLHSFusion", "Linears on one input as one product."),
    _fusion("batch_linear", "PreGradBatchLinearFusion", "Linears of one shape as one bmm."),
    _fusion("batch_layernorm", "BatchLayernormFusion", "Layer norms of one shape as one."),
    _fusion("batch_tanh", "BatchTanhPreGradFusion", "tanh calls of one shape as one."),
    _fusion("batch_sigmoid", "BatchSigmoidPreGradFusion", "sigmoid calls of one shape as one."),
    _fusion("batch_relu", "BatchReLuPreGradFusion", "relu calls of one shape as one."),
    _fusion("batch_detach", "BatchDetachPreGradFusion", "detach calls of one shape as one."),
    _fusion("batch_nan_to_num", "BatchNanToNumPreGradFusion", "nan_to_num of one shape as one."),
    _fusion("batch_clamp", "BatchClampPreGradFusion", "clamp calls of one shape as one."),
    _fusion("batch_dropout", "BatchDropoutPreGradFusion", "dropouts of one shape as one."),
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
        "relu or tanh of a cat: of its parts.",
        kind="declared",
        factory="pre_grad.sink_cat_after_pointwise:SINKS",
    ),
    _row(
        "linear_permute_fusion",
        "A permute of a linear's result, inside the product. Not on CPU.",
        flag="permute_fusion",
    ),
    _row(
        "permute_linear_fusion",
        "A permute of a linear's input, inside the product. Not on CPU.",
        flag="permute_fusion",
    ),
    _row(
        "permute_matmul_fusion",
        "Permutes of a matmul's operands, inside the product. Not on CPU.",
        flag="permute_fusion",
    ),
    _row("remove_identity", "Identity modules, when freezing on CPU.", flag="freezing"),
    _row("fuse_conv_bn", "Batch norm folded into the convolution before it.", flag="freezing"),
    _row(
        "efficient_conv_bn_eval_pass",
        "Convolution and evaluation-mode batch norm with the norm folded into the weights.",
        counter="efficient_conv_bn_eval",
        flag="efficient_conv_bn_eval_fx_passes",
    ),
    _row(
        "apply_gumbel_max_trick_pass",
        "Sampling by softmax and exponential noise, without the softmax.",
        kind="declared",
        flag="apply_gumbel_max_trick",
        factory="pre_grad.apply_gumbel_max_trick_pass:ApplyGumbelMaxTrickPass",
    ),
    _row(
        "fuse_attention",
        "Attention, however it is spelled: one fused call. Inductor: after autograd.",
        kind="procedural",
        factory="pre_grad.fuse_attention:FuseAttention",
        parts=tuple([f"_sfdp_pattern_{number}" for number in range(1, 31)]),
    ),
    _row(
        "pre_grad_custom_pass",
        "The user's own passes: callables on FX, typed ones on the typed graph.",
        "../config.py:pre_grad_custom_pass",
        kind="hook",
        flag="pre_grad_custom_pass",
    ),
    _row(
        "stable_topological_sort",
        "Definitions before uses, else in the order they stood.",
        "../pattern_matcher.py:stable_topological_sort",
        flag="",
    ),
    _row(
        "quant_lift_up",
        "Quantisation moved above the views in front of it, for int8 attention.",
        "quantization.py:quant_lift_up",
        flag="",
        counter="quant_lift_up_count",
    ),
)

ROWS = (*PRE_DISPATCH_ROWS, *TORCH_LEVEL_ROWS, *OPTION_ROWS, *FUSION_ROWS)
