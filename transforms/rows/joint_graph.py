"""Registry rows of the joint stage."""

from __future__ import annotations

from xductor.transforms.rows.pass_row import RowMaker

_row = RowMaker("joint", "joint_graph.py")


STEP_ROWS = (
    _row(
        "canonicalize_aten_ir_passes",
        "One form for what quantised models record; first of all steps.",
        kind="procedural",
        flag="",
        covered_by="canonicalize_quant_mapping",
        parts=("canonicalize_quant_mapping",),
    ),
    _row(
        "canonicalize_quant_mapping",
        "Calls of the quantisation wrapper as calls of the function they wrap.",
        kind="procedural",
        flag="",
        factory="joint_graph.canonicalize_quant_mapping:CanonicalizeQuantMapping",
    ),
    _row(
        "joint_custom_pre_pass",
        "The user's own passes, before ours: callables on FX, typed ones on the typed graph.",
        "../config.py:joint_custom_pre_pass",
        kind="hook",
        flag="joint_custom_pre_pass",
    ),
    _row(
        "remove_noop_ops",
        "Ops that give back their input: views to the same shape, casts to the same dtype, clones.",
        kind="procedural",
        flag="",
        factory="noops.remove_noop_ops:RemoveNoopOps",
    ),
    _row(
        "constant_fold_uniform_value",
        "Values that are one number everywhere, as full.",
        kind="procedural",
        flag="joint_graph_constant_folding",
        factory="uniform_values.constant_fold_uniform_value:ConstantFoldUniformValue",
    ),
    _row(
        "remove_no_ops",
        "x + 0, x - 0, x * 1, x / 1, with the constants that folding found.",
        kind="procedural",
        flag="joint_graph_constant_folding",
        factory="noops.remove_no_ops:RemoveNoOps",
    ),
    _row(
        "remove_redundant_views",
        "Views of one tensor to one dtype, once.",
        kind="procedural",
        flag="joint_graph_constant_folding",
        factory="joint_graph.remove_redundant_views:RemoveRedundantViews",
    ),
    _row(
        "auto_chunker",
        "A large product and what follows it, cut into chunks to save memory.",
        kind="procedural",
        flag="auto_chunker.enable",
        factory="auto_chunker:AutoChunker",
    ),
    _row(
        "replace_random_passes",
        "Random ops as the compiler's own generator: the four passes below.",
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
        "rand and randn from a seed of the compiler's.",
        kind="procedural",
        flag="not fallback_random",
        factory="random.replace_random:ReplaceRandom",
    ),
    _row(
        "replace_randint",
        "randint from a seed of the compiler's.",
        kind="procedural",
        flag="not fallback_random",
        factory="random.replace_random:ReplaceRandint",
    ),
    _row(
        "fuse_seed_creation_pass",
        "All seeds of a device made at once.",
        kind="procedural",
        flag="not fallback_random",
        factory="random.fuse_seed_creation_pass:FuseSeedCreationPass",
    ),
    _row(
        "fuse_offset_creation_pass",
        "All offsets of a device read at once.",
        kind="procedural",
        flag="align_random_eager",
        since=(2, 12),
        factory="random.fuse_seed_creation_pass:FuseOffsetCreationPass",
    ),
    _row(
        "joint_custom_post_pass",
        "The user's own passes, after ours: callables on FX, typed ones on the typed graph.",
        "../config.py:joint_custom_post_pass",
        kind="hook",
        flag="joint_custom_post_pass",
    ),
    _row(
        "stable_topological_sort",
        "Definitions before uses, else in the order they stood.",
        kind="procedural",
        flag="",
        factory="post_grad.stable_topological_sort:StableTopologicalSort",
    ),
)

PATTERN_ROWS = (
    _row(
        "pointless_view",
        "A view to the shape its input has.",
        kind="declared",
        factory="joint_graph.pointless_view:PointlessView",
        table="early_patterns",
    ),
    _row(
        "pointless_view_pair",
        "A view of a view, back to the shape before both.",
        kind="declared",
        factory="joint_graph.pointless_view:PointlessViewPair",
        table="early_patterns",
    ),
    _row(
        "pointless_permute_pair",
        "Two permutes that undo each other.",
        kind="declared",
        factory="joint_graph.pointless_permute_pair:PointlessPermutePair",
        table="early_patterns",
    ),
    _row(
        "fix_iota_device",
        "A range that only indexes tensors of a device is made there.",
        kind="procedural",
        factory="joint_graph.fix_iota_device:FixIotaDevice",
        table="pass_patterns[0]",
    ),
    _row(
        "pointless_convert",
        "A cast of a cast, without the one in the middle.",
        kind="declared",
        factory="joint_graph.pointless_convert:REWRITES",
        table="pass_patterns[0]",
    ),
    _row(
        "bmm_to_mm",
        "A bmm whose batch is one is an mm.",
        kind="declared",
        factory="joint_graph.bmm_to_mm:BmmToMm",
        table="pass_patterns[0]",
    ),
    _row(
        "scatter_upon_const_tensor",
        "A scatter of one value into a constant: a comparison and a where.",
        flag="optimize_scatter_upon_const_tensor",
        kind="declared",
        factory="joint_graph.scatter_upon_const_tensor:ScatterUponConstTensor",
        table="pass_patterns[0]",
    ),
    _row(
        "pad_mm",
        "Operands of an mm padded to sizes that hardware likes.",
        flag="shape_padding",
        factory="padding.pad_mm:PAD_MM",
        kind="declared",
        table="pass_patterns[0]",
    ),
    _row(
        "pad_bmm",
        "Operands of a bmm padded to sizes that hardware likes.",
        flag="shape_padding",
        factory="padding.pad_mm:PAD_BMM",
        kind="declared",
        table="pass_patterns[0]",
    ),
    _row(
        "pad_addmm",
        "Operands of an addmm padded to sizes that hardware likes.",
        flag="shape_padding",
        factory="padding.pad_mm:PAD_ADDMM",
        kind="declared",
        table="pass_patterns[0]",
    ),
    _row(
        "randperm_index_add",
        "Adding at a random permutation needs no atomics.",
        kind="declared",
        factory="random.randperm_index:RandpermIndexAdd",
        table="pass_patterns[0]",
    ),
    _row(
        "randperm_index",
        "Indexing by a random permutation needs no checks.",
        kind="declared",
        factory="random.randperm_index:RandpermIndex",
        table="pass_patterns[0]",
    ),
    _row(
        "mul_softmax_pattern",
        "Softmax of a scaled input: the maximum before the scale.",
        kind="declared",
        factory="joint_graph.scaled_softmax:MulSoftmax",
        table="pass_patterns[1]",
    ),
    _row(
        "div_softmax_pattern",
        "Softmax of a divided input: the maximum before the division.",
        kind="declared",
        factory="joint_graph.scaled_softmax:DivSoftmax",
        table="pass_patterns[1]",
    ),
)

_ATTENTION_SINCE = {28: (2, 12), 29: (2, 13), 30: (2, 13)}

ATTENTION_ROWS = tuple(
    _row(
        f"_sfdp_pattern_{number}",
        f"Attention spelling {number} of Inductor's: one fused attention.",
        f"fuse_attention.py:_sfdp_pattern_{number}",
        kind="procedural",
        counter="fuse_attention",
        covered_by="fuse_attention",
        since=_ATTENTION_SINCE.get(number),
    )
    for number in range(1, 31)
)

ROWS = (*STEP_ROWS, *PATTERN_ROWS, *ATTENTION_ROWS)
