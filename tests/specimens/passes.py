"""The graphs on which each of our procedural passes is validated: `xductor validate` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tests.specimens import (
    attention_specimens,
    b2b_gemm_specimens,
    control_flow_specimens,
    device_specimens,
    equal_op_specimens,
    fp16_product_specimens,
    freezing_specimens,
    group_specimens,
    in_place_specimens,
    int8_product_specimens,
    int8_specimens,
    kernel_specimens,
    loop_specimens,
    loss_specimens,
    moved_constructor_specimens,
    narrow_weight_specimens,
    onednn_specimens,
    order_specimens,
    piece_specimens,
    pre_grad_group_specimens,
    pre_grad_piece_specimens,
    product_specimens,
    quantised_specimens,
    random_specimens,
    realized_specimens,
    spelling_specimens,
    table_specimens,
    uniform_specimens,
    unused_op_specimens,
    view_specimens,
)
from xductor.backend.pass_validation.close_results import close_results
from xductor.backend.pass_validation.comparison import same_results, same_results_as_fx
from xductor.backend.pass_validation.same_draws import (
    same_given_draws,
    same_given_draws_on_cpu,
    same_given_dropped_columns,
    same_given_generator,
)
from xductor.backend.pass_validation.specimen import Specimens

_DRAWS = "given the same draws"
_WRITES = "writes have no meaning in the prover"
_MOVES = "moves ops, and changes none"
_ERASES = "erases ops whose results nobody reads, and changes none"
_CALLS = "calls of graphs have no meaning in the prover"
_KERNELS = "oneDNN's calls have no meaning in the prover"
_RUNS = "runs the ops that it replaces, of which nothing else is claimed"
_NARROW = "products with packed weights have no meaning in the prover"
_NO_MEANING = "random draws have no meaning in the prover"

SPECIMENS: Mapping[str, Specimens] = {
    "canonicalize_quant_mapping": Specimens(
        quantised_specimens.quantised,
        same_results_as_fx,
        unproved=_CALLS,
    ),
    "constant_fold_uniform_value": Specimens(uniform_specimens.folding, same_results),
    "remove_no_ops": Specimens(uniform_specimens.no_ops, same_results),
    "remove_redundant_views": Specimens(
        view_specimens.views,
        same_results,
        unproved="the bits of one dtype as another have no meaning in the prover",
    ),
    "auto_chunker": Specimens(
        loss_specimens.losses,
        loss_specimens.close_to_exact,
        "finite inputs",
        unproved="sums are rounded otherwise, chunk by chunk",
    ),
    "replace_random": Specimens(
        random_specimens.floats, same_given_draws, _DRAWS, unproved=_NO_MEANING
    ),
    "replace_randint": Specimens(
        random_specimens.integers, same_given_draws, _DRAWS, unproved=_NO_MEANING
    ),
    "fuse_seed_creation_pass": Specimens(
        random_specimens.seeds, same_given_draws, _DRAWS, unproved=_NO_MEANING
    ),
    "fuse_offset_creation_pass": Specimens(
        random_specimens.offsets, same_given_draws_on_cpu, _DRAWS, unproved=_NO_MEANING
    ),
    "fix_iota_device": Specimens(
        device_specimens.ranges,
        device_specimens.same_but_for_the_device,
        "devices taken for one",
        unproved="moves a range to another device, and nothing else",
    ),
    "move_constructors_to_gpu": Specimens(
        moved_constructor_specimens.moved,
        moved_constructor_specimens.same_on_one_device,
        "devices taken for one",
        unproved="moves tensors to another device, and nothing else",
    ),
    "decompose_scan_to_while_loop": Specimens(
        loop_specimens.scans, same_results_as_fx, unproved=_CALLS
    ),
    "decompose_map_to_while_loop": Specimens(
        loop_specimens.maps, same_results_as_fx, unproved=_CALLS
    ),
    "unroll_while_loop": Specimens(
        control_flow_specimens.loops, same_results_as_fx, unproved=_CALLS
    ),
    "cond_to_where": Specimens(control_flow_specimens.conds, same_results_as_fx, unproved=_CALLS),
    "binary_folding": Specimens(
        freezing_specimens.folded,
        close_results,
        "finite inputs",
        unproved="asks for the elements of constants, of which the prover knows nothing",
    ),
    "mkldnn_convolution_packing": Specimens(
        onednn_specimens.packed_convolutions, close_results, "finite inputs", unproved=_KERNELS
    ),
    "mkldnn_linear_packing": Specimens(
        onednn_specimens.packed_products, close_results, "finite inputs", unproved=_KERNELS
    ),
    "mkldnn_rnn_layer": Specimens(
        onednn_specimens.packed_recurrent, close_results, "finite inputs", unproved=_KERNELS
    ),
    "linear_dynamic_fp16": Specimens(
        fp16_product_specimens.rounded_products, close_results, "finite inputs", unproved=_KERNELS
    ),
    "smooth_quant_linear": Specimens(
        int8_product_specimens.smooth_quantised, close_results, unproved=_KERNELS
    ),
    "mkldnn_unary_fusion": Specimens(
        onednn_specimens.unary,
        close_results,
        "finite inputs",
        unproved=_KERNELS,
    ),
    "grouped_gemm_pass": Specimens(onednn_specimens.grouped, same_results, unproved=_KERNELS),
    "mkldnn_binary_fusion": Specimens(onednn_specimens.binary, same_results, unproved=_KERNELS),
    "constant_fold": Specimens(freezing_specimens.computed, same_results, unproved=_RUNS),
    "realize_before_expand": Specimens(realized_specimens.realized, same_results),
    "fold_tables": Specimens(table_specimens.tables, same_results, unproved=_RUNS),
    "int8_woq_fusion_pattern": Specimens(
        narrow_weight_specimens.int8_products,
        close_results,
        "finite inputs",
        unproved=_NARROW,
    ),
    "quantization_parameters": Specimens(
        narrow_weight_specimens.quantization_parameters,
        same_results,
        unproved="asks for the elements of constants, of which the prover knows nothing",
    ),
    "concat_linear_woq_int4": Specimens(
        narrow_weight_specimens.int4_products, close_results, "finite inputs", unproved=_NARROW
    ),
    **{
        name: Specimens(
            make, int8_specimens.one_step_apart, "within one step of 8 bits", unproved=_NARROW
        )
        for name, make in (
            ("qconv_weight_prepack", int8_specimens.packed_convolutions),
            ("qlinear_weight_prepack", int8_specimens.packed_products),
            ("qconv_post_op_fusion", int8_specimens.convolutions_with_post_ops),
            ("qlinear_post_op_fusion", int8_specimens.products_with_post_ops),
        )
    },
    "matmul_fuse_pattern": Specimens(freezing_specimens.products, close_results, "finite inputs"),
    "addmm_fuse_pattern_second": Specimens(
        freezing_specimens.linears, close_results, "finite inputs"
    ),
    "batch_linear_post_grad": Specimens(group_specimens.linears, same_results),
    "group_linear": Specimens(
        group_specimens.unlike_linears,
        same_results,
        "a loop for fbgemm's operator",
        unproved="the operator of fbgemm has no meaning in the prover",
    ),
    **{
        name: Specimens(partial(group_specimens.pointwise, name), same_results)
        for name in group_specimens.POINTWISE
    },
    "batch_linear": Specimens(pre_grad_group_specimens.linears, same_results),
    "batch_linear_lhs": Specimens(pre_grad_group_specimens.linears_of_one, same_results),
    "fuse_parallel_linear_pass": Specimens(
        pre_grad_group_specimens.parallel_products, same_results
    ),
    "fuse_split_linear_add_pass": Specimens(product_specimens.sums_of_products, same_results),
    "normalize_node_kwargs_pass": Specimens(spelling_specimens.calls, same_results),
    "numpy_compat_normalization": Specimens(spelling_specimens.numpy_calls, same_results),
    "normalization_pass": Specimens(spelling_specimens.normalized, same_results),
    "batch_layernorm": Specimens(pre_grad_group_specimens.layer_norms, same_results),
    **{
        name: Specimens(partial(pre_grad_group_specimens.pointwise, name), same_results)
        for name in pre_grad_group_specimens.POINTWISE
        if name != "batch_dropout"
    },
    "batch_dropout": Specimens(
        partial(pre_grad_group_specimens.pointwise, "batch_dropout"),
        same_given_dropped_columns,
        _DRAWS,
        unproved=_NO_MEANING,
    ),
    "cat_of_pieces": Specimens(piece_specimens.pieces, same_results),
    "move_view_after_cat_aten_pass": Specimens(piece_specimens.moved_views, same_results),
    "select_cat_aten_pass": Specimens(piece_specimens.select_cats, same_results),
    "split_cat_aten_pass": Specimens(piece_specimens.split_cats, same_results),
    "unbind_stack_aten_pass": Specimens(piece_specimens.stacks, same_results),
    **{
        name: Specimens(partial(pre_grad_piece_specimens.pieces, name), same_results)
        for name in pre_grad_piece_specimens.PASSES
    },
    "reinplace_inplaceable_ops": Specimens(
        in_place_specimens.reinplaced, same_results, unproved=_WRITES
    ),
    "decompose_auto_functionalized": Specimens(
        in_place_specimens.decomposed, same_results, unproved=_WRITES
    ),
    "decompose_triton_kernel_wrapper_functional": Specimens(
        kernel_specimens.kernels,
        kernel_specimens.same_with_kernels,
        "other kernels for Triton's",
        unproved=_WRITES,
    ),
    "b2b_gemm_pass": Specimens(
        b2b_gemm_specimens.products,
        b2b_gemm_specimens.same_on_cpu,
        "devices taken for one",
        unproved=_CALLS,
    ),
    "stable_topological_sort": Specimens(order_specimens.orders, same_results, unproved=_MOVES),
    "reorder_for_locality": Specimens(order_specimens.localities, same_results, unproved=_MOVES),
    "chain_random_ops_ordering": Specimens(
        random_specimens.chained,
        same_given_generator,
        "from the same state of the generator",
        unproved=_NO_MEANING,
    ),
    "common_subexpression_elimination": Specimens(equal_op_specimens.equal_ops, same_results),
    "dead_code_elimination": Specimens(unused_op_specimens.unused, same_results, unproved=_ERASES),
    "remove_assert_ops": Specimens(unused_op_specimens.assertions, same_results, unproved=_ERASES),
    "remove_profiler_ops": Specimens(unused_op_specimens.marks, same_results, unproved=_ERASES),
    "view_to_reshape": Specimens(view_specimens.reshapes, same_results),
    **{
        f"_sfdp_pattern_{number}": Specimens(
            partial(attention_specimens.attention, number),
            close_results,
            "finite inputs",
            unproved="the kernel rounds otherwise than the ops that it stands for",
            owner="fuse_attention",
        )
        for number in range(1, 31)
    },
}


__all__ = ["SPECIMENS"]
