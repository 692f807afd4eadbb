"""Registry rows of the joint stage."""

from __future__ import annotations

from xductor.transforms.rows.pass_row import PassRow, RowMaker

_row = RowMaker("joint", "joint_graph.py")


STEP_ROWS = (
    _row(
        "canonicalize_aten_ir_passes",
        "Bring the graphs of quantized models into one form; the first of all steps.",
        kind="procedural",
        flag="",
        covered_by="canonicalize_quant_mapping",
        parts=("canonicalize_quant_mapping",),
    ),
    _row(
        "canonicalize_quant_mapping",
        "Replace calls of the quantization wrapper by calls of the wrapped function.",
        kind="procedural",
        flag="",
        factory="joint_graph.canonicalize_quant_mapping:CanonicalizeQuantMapping",
    ),
    _row(
        "joint_custom_pre_pass",
        "Run the user's passes before ours: callables on FX, typed ones on the typed graph.",
        "../config.py:joint_custom_pre_pass",
        kind="hook",
        flag="joint_custom_pre_pass",
    ),
    _row(
        "unroll_while_loop",
        "Repeat the body of a loop that is known to go round a few times.",
        kind="procedural",
        flag="",
        factory="loops.unroll_while_loop:UnrollWhileLoop",
        origin="ours",
    ),
    _row(
        "cond_to_where",
        "Compute both branches of a cond, if they are cheap and pointwise, and choose by where.",
        kind="procedural",
        flag="",
        factory="loops.cond_to_where:CondToWhere",
        origin="ours",
    ),
    _row(
        "remove_noop_ops",
        "Remove ops that return their input: views and casts that change nothing, clones.",
        kind="procedural",
        flag="",
        factory="noops.remove_noop_ops:RemoveNoopOps",
    ),
    _row(
        "constant_fold_uniform_value",
        "Replace values whose elements are all one number by full.",
        kind="procedural",
        flag="joint_graph_constant_folding",
        factory="uniform_values.constant_fold_uniform_value:ConstantFoldUniformValue",
    ),
    _row(
        "remove_no_ops",
        "Remove x + 0, x - 0, x * 1, x / 1, with the constants that folding found.",
        kind="procedural",
        flag="joint_graph_constant_folding",
        factory="noops.remove_no_ops:RemoveNoOps",
    ),
    _row(
        "remove_redundant_views",
        "Merge views of one tensor to the same dtype.",
        kind="procedural",
        flag="joint_graph_constant_folding",
        factory="joint_graph.remove_redundant_views:RemoveRedundantViews",
    ),
    _row(
        "auto_chunker",
        "Cut a large product and the ops after it into chunks, to save memory.",
        kind="procedural",
        flag="auto_chunker.enable",
        factory="auto_chunker:AutoChunker",
    ),
    _row(
        "replace_random_passes",
        "Make random ops use the compiler's generator: the four passes below.",
        "replace_random.py:replace_random_passes",
        kind="procedural",
        flag="not fallback_random",
        covered_by="replace_random",
        parts=(
            "replace_random",
            "replace_randint",
            "fuse_seed_creation_pass",
            "fuse_offset_creation_pass",
        ),
    ),
    _row(
        "replace_random",
        "Draw rand and randn from one of the compiler's seeds.",
        kind="procedural",
        flag="not fallback_random",
        factory="random.replace_random:ReplaceRandom",
    ),
    _row(
        "replace_randint",
        "Draw randint from one of the compiler's seeds.",
        kind="procedural",
        flag="not fallback_random",
        factory="random.replace_random:ReplaceRandint",
    ),
    _row(
        "fuse_seed_creation_pass",
        "Make all seeds of a device at once.",
        kind="procedural",
        flag="not fallback_random",
        factory="random.fuse_seed_creation_pass:FuseSeedCreationPass",
    ),
    _row(
        "fuse_offset_creation_pass",
        "Read all offsets of a device at once.",
        kind="procedural",
        flag="align_random_eager",
        since=(2, 12),
        factory="random.fuse_seed_creation_pass:FuseOffsetCreationPass",
    ),
    _row(
        "thin_products",
        "Compute products of gathered matrices and vectors, and of vectors, by sums. On GPUs.",
        kind="declared",
        factory="matmul.thin_products:THIN_PRODUCTS",
        origin="ours",
    ),
    _row(
        "joint_custom_post_pass",
        "Run the user's passes after ours: callables on FX, typed ones on the typed graph.",
        "../config.py:joint_custom_post_pass",
        kind="hook",
        flag="joint_custom_post_pass",
    ),
    _row(
        "stable_topological_sort",
        "Put definitions before uses, and otherwise keep the order.",
        kind="procedural",
        flag="",
        factory="post_grad.stable_topological_sort:StableTopologicalSort",
    ),
)

PATTERN_ROWS = (
    _row(
        "pointless_view",
        "Remove a view to the shape of its input.",
        kind="declared",
        factory="joint_graph.pointless_view:PointlessView",
        table="early_patterns",
    ),
    _row(
        "pointless_view_pair",
        "Remove a view of a view that restores the original shape.",
        kind="declared",
        factory="joint_graph.pointless_view:PointlessViewPair",
        table="early_patterns",
    ),
    _row(
        "pointless_permute_pair",
        "Remove two permutes that undo each other.",
        kind="declared",
        factory="joint_graph.pointless_permute_pair:PointlessPermutePair",
        table="early_patterns",
    ),
    _row(
        "fix_iota_device",
        "Make a range on the device of the tensors that it indexes.",
        kind="procedural",
        factory="joint_graph.fix_iota_device:FixIotaDevice",
        table="pass_patterns[0]",
    ),
    _row(
        "pointless_convert",
        "Remove the inner one of two casts.",
        kind="declared",
        factory="joint_graph.pointless_convert:REWRITES",
        table="pass_patterns[0]",
    ),
    _row(
        "bmm_to_mm",
        "Replace a bmm with a batch of one by an mm.",
        kind="declared",
        factory="joint_graph.bmm_to_mm:BmmToMm",
        table="pass_patterns[0]",
    ),
    _row(
        "scatter_upon_const_tensor",
        "Replace a scatter of one value into a constant by a comparison and a where.",
        flag="optimize_scatter_upon_const_tensor",
        kind="declared",
        factory="joint_graph.scatter_upon_const_tensor:ScatterUponConstTensor",
        table="pass_patterns[0]",
    ),
    _row(
        "pad_mm",
        "Pad the operands of an mm to aligned sizes.",
        flag="shape_padding",
        factory="padding.pad_mm:PAD_MM",
        kind="declared",
        table="pass_patterns[0]",
    ),
    _row(
        "pad_bmm",
        "Pad the operands of a bmm to aligned sizes.",
        flag="shape_padding",
        factory="padding.pad_mm:PAD_BMM",
        kind="declared",
        table="pass_patterns[0]",
    ),
    _row(
        "pad_addmm",
        "Pad the operands of an addmm to aligned sizes.",
        flag="shape_padding",
        factory="padding.pad_mm:PAD_ADDMM",
        kind="declared",
        table="pass_patterns[0]",
    ),
    _row(
        "randperm_index_add",
        "Add at a random permutation without atomics.",
        kind="declared",
        factory="random.randperm_index:RandpermIndexAdd",
        table="pass_patterns[0]",
    ),
    _row(
        "randperm_index",
        "Index by a random permutation without bounds checks.",
        kind="declared",
        factory="random.randperm_index:RandpermIndex",
        table="pass_patterns[0]",
    ),
    _row(
        "mul_softmax_pattern",
        "In a softmax of a scaled input, take the maximum before scaling.",
        kind="declared",
        factory="joint_graph.scaled_softmax:MulSoftmax",
        table="pass_patterns[1]",
    ),
    _row(
        "div_softmax_pattern",
        "In a softmax of a divided input, take the maximum before dividing.",
        kind="declared",
        factory="joint_graph.scaled_softmax:DivSoftmax",
        table="pass_patterns[1]",
    ),
)

_ATTENTION_SINCE = {28: (2, 12), 29: (2, 13), 30: (2, 13)}

ATTENTION_ROWS = tuple(
    _row(
        f"_sfdp_pattern_{number}",
        f"Fuse spelling {number} of attention in Inductor's list.",
        f"fuse_attention.py:_sfdp_pattern_{number}",
        kind="procedural",
        counter="fuse_attention",
        covered_by="fuse_attention",
        since=_ATTENTION_SINCE.get(number),
    )
    for number in range(1, 31)
)


def _algebra(name: str, summary: str, factory: str) -> PassRow:
    return _row(name, summary, kind="declared", factory=f"algebra.{factory}", origin="ours")


ALGEBRA_ROWS = (
    _algebra(
        "diagonal_of_product",
        "Compute the diagonal or trace of a product without the product.",
        "products:DiagonalOfProduct",
    ),
    _algebra(
        "sum_of_product",
        "Sum the factors of a product, not the product.",
        "products:SUM_OF_PRODUCT",
    ),
    _algebra(
        "reassociate_product",
        "Multiply three matrices in the cheaper order.",
        "products:REASSOCIATE_PRODUCT",
    ),
    _algebra(
        "product_of_diagonal",
        "Scale rows or columns where a diagonal matrix is multiplied.",
        "products:PRODUCT_OF_DIAGONAL",
    ),
    _algebra(
        "product_of_outer",
        "Multiply by an outer product without making it.",
        "products:ProductOfOuter",
    ),
    _algebra(
        "product_of_transposed",
        "Multiply without transposing the factors and the product.",
        "products:ProductOfTransposed",
    ),
    _algebra(
        "factor_out_product",
        "Add up factors, not products that share the other factor.",
        "products:FACTOR_OUT_PRODUCT",
    ),
    _algebra(
        "sum_of_expanded",
        "Multiply what is repeated and summed by how often it is.",
        "reductions:SUM_OF_EXPANDED",
    ),
    _algebra(
        "last_of_cumsum",
        "Sum where only the last of the running sums is read.",
        "reductions:LastOfCumsum",
    ),
    _algebra(
        "sum_of_cumsum",
        "Weigh rows by their place where running sums are summed.",
        "reductions:SumOfCumsum",
    ),
    _algebra(
        "max_of_monotone",
        "Take the maximum before exp, sigmoid or tanh.",
        "reductions:MaxOfMonotone",
    ),
    _algebra(
        "distances_by_product",
        "Compute squared distances of rows by one product.",
        "reductions:SquaredDistances",
    ),
    _algebra(
        "combine_exponentials",
        "Combine exponentials that are multiplied, divided, raised or undone.",
        "exponentials:COMBINE_EXPONENTIALS",
    ),
)

ROWS = (*STEP_ROWS, *ALGEBRA_ROWS, *PATTERN_ROWS, *ATTENTION_ROWS)
