// RUN: xductor-opt %s -p decompose_auto_functionalized | filecheck %s

// Nothing says what need not be copied: all is.
// CHECK-LABEL: fx.graph @nothing_is_said
fx.graph @nothing_is_said stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %clone = aten.clone.default %y : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %clone_1 = aten.clone.default %i : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %_cummax_helper = aten._cummax_helper.default %x, %clone, %clone_1, 0 : !fx.none
  // CHECK-NEXT: fx.output (%clone, %clone_1)
  %n, %r, %k = higher_order.auto_functionalized_v2 fn<torch.ops.aten._cummax_helper.default>, self = %x, dim = 0, _values_base_index = 0, _indices_base_index = 1, _all_bases = [%y, %i] : !fx.none, !fx.tensor<f32[5, 4], cpu>, !fx.tensor<i64[5, 4], cpu> as (*, *, *)
  fx.output (%r, %k)
}

// It writes to what nothing says to copy.
// CHECK-LABEL: fx.graph @in_place
fx.graph @in_place stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %y : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %i : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %_cummax_helper = aten._cummax_helper.default %x, %a, %clone, 0 : !fx.none
  // CHECK-NEXT: fx.output (%a, %clone)
  %a = aten.exp.default %y : !fx.tensor<f32[5, 4], cpu>
  %n, %r, %k = higher_order.auto_functionalized_v2 fn<torch.ops.aten._cummax_helper.default>, self = %x, dim = 0, _values_base_index = 0, _indices_base_index = 1, _all_bases = [%a, %i] : !fx.none, !fx.tensor<f32[5, 4], cpu>, !fx.tensor<i64[5, 4], cpu> as (*, *, *) {only_clone = "[1]"}
  fx.output (%r, %k)
}

// A part of a base, as a slice of what stands for the base.
// CHECK-LABEL: fx.graph @of_a_slice
fx.graph @of_a_slice stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %clone = aten.clone.default %y : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %clone_1 = aten.clone.default %i : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %clone, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %_cummax_helper = aten._cummax_helper.default %x, %slice, %clone_1, 0 : !fx.none
  // CHECK-NEXT: fx.output (%clone, %clone_1)
  %n, %r, %k = higher_order.auto_functionalized_v2 fn<torch.ops.aten._cummax_helper.default>, self = %x, dim = 0, _values_base_index = 0, _values_slice_dim = 0, _values_slice_start = 1, _values_slice_end = 3, _indices_base_index = 1, _all_bases = [%y, %i] : !fx.none, !fx.tensor<f32[5, 4], cpu>, !fx.tensor<i64[5, 4], cpu> as (*, *, *)
  fx.output (%r, %k)
}

// Parts by their strides, and as aliases.
// CHECK-LABEL: fx.graph @by_strides
fx.graph @by_strides stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %clone = aten.clone.default %y : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %clone_1 = aten.clone.default %i : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %as_strided = aten.as_strided.default %clone, [2, 4], [8, 1], 4 : !fx.tensor<f32[2, 4][8, 1], cpu, offset 4>
  // CHECK-NEXT: %alias = aten.alias.default %clone_1 : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %_cummax_helper = aten._cummax_helper.default %x, %as_strided, %alias, 0 : !fx.none
  // CHECK-NEXT: fx.output (%clone, %clone_1)
  %n, %r, %k = higher_order.auto_functionalized_v2 fn<torch.ops.aten._cummax_helper.default>, self = %x, dim = 0, _values_base_index = 0, _values_size = [2, 4], _values_stride = [8, 1], _values_storage_offset = 4, _indices_base_index = 1, _indices_alias = true, _all_bases = [%y, %i] : !fx.none, !fx.tensor<f32[5, 4], cpu>, !fx.tensor<i64[5, 4], cpu> as (*, *, *)
  fx.output (%r, %k)
}

// The first form names what it copies.
// CHECK-LABEL: fx.graph @first_form
fx.graph @first_form stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %clone = aten.clone.default %i : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %_cummax_helper = aten._cummax_helper.default %x, %y, %clone, 0 : !fx.none
  // CHECK-NEXT: %s = aten.sin.default %clone : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %n, %r, %k = higher_order.auto_functionalized fn<torch.ops.aten._cummax_helper.default>, self = %x, values = %y, indices = %i, dim = 0 : !fx.none, !fx.tensor<f32[5, 4], cpu>, !fx.tensor<i64[5, 4], cpu> as (*, *, *) {only_clone = "[\"indices\"]"}
  %s = aten.sin.default %k : !fx.tensor<i64[5, 4], cpu>
  fx.output (%s,)
}

// What begins somewhere in its storage is copied with what is before it.
// CHECK-LABEL: fx.graph @begins_elsewhere
fx.graph @begins_elsewhere stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %a = aten.slice.Tensor %y, 0, 1, 5 : !fx.tensor<f32[4, 4], cpu, offset 4>
  // CHECK-NEXT: %b = aten.slice.Tensor %i, 0, 0, 4 : !fx.tensor<i64[4, 4], cpu>
  // CHECK-NEXT: %as_strided = aten.as_strided.default %a, [20], [1], 0 : !fx.tensor<f32[20], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %as_strided : !fx.tensor<f32[20], cpu>
  // CHECK-NEXT: %as_strided_1 = aten.as_strided.default %clone, [4, 4], [4, 1], 4 : !fx.tensor<f32[4, 4], cpu, offset 4>
  // CHECK-NEXT: %clone_1 = aten.clone.default %b : !fx.tensor<i64[4, 4], cpu>
  // CHECK-NEXT: %_cummax_helper = aten._cummax_helper.default %x, %as_strided_1, %clone_1, 0 : !fx.none
  // CHECK-NEXT: fx.output (%as_strided_1, %clone_1)
  %a = aten.slice.Tensor %y, 0, 1, 5 : !fx.tensor<f32[4, 4], cpu, offset 4>
  %b = aten.slice.Tensor %i, 0, 0, 4 : !fx.tensor<i64[4, 4], cpu>
  %n, %r, %k = higher_order.auto_functionalized_v2 fn<torch.ops.aten._cummax_helper.default>, self = %x, dim = 0, _values_base_index = 0, _indices_base_index = 1, _all_bases = [%a, %b] : !fx.none, !fx.tensor<f32[4, 4], cpu, offset 4>, !fx.tensor<i64[4, 4], cpu> as (*, *, *)
  fx.output (%r, %k)
}

// A copy keeps the strides.
// CHECK-LABEL: fx.graph @transposed
fx.graph @transposed stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %a = aten.permute.default %y, [1, 0] : !fx.tensor<f32[4, 5][1, 4], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %a : !fx.tensor<f32[4, 5][1, 4], cpu>
  // CHECK-NEXT: %clone_1 = aten.clone.default %i : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %_cummax_helper = aten._cummax_helper.default %x, %clone, %clone_1, 0 : !fx.none
  // CHECK-NEXT: fx.output (%clone, %clone_1)
  %a = aten.permute.default %y, [1, 0] : !fx.tensor<f32[4, 5][1, 4], cpu>
  %n, %r, %k = higher_order.auto_functionalized_v2 fn<torch.ops.aten._cummax_helper.default>, self = %x, dim = 0, _values_base_index = 0, _indices_base_index = 1, _all_bases = [%a, %i] : !fx.none, !fx.tensor<f32[4, 5][1, 4], cpu>, !fx.tensor<i64[5, 4], cpu> as (*, *, *)
  fx.output (%r, %k)
}

// Lists of tensors, some by their views.
// CHECK-LABEL: fx.graph @a_list
fx.graph @a_list stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %slice = aten.slice.Tensor %y, 1, 0, 2 : !fx.tensor<f32[5, 2][4, 1], cpu>
  // CHECK-NEXT: %_foreach_zero_ = aten._foreach_zero_.default [%x, %slice] : !fx.none
  // CHECK-NEXT: %c = aten.copy_.default %x, %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %d = aten.copy_.default %y, %y : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %n, %r, %k = higher_order.auto_functionalized_v2 fn<torch.ops.aten._foreach_zero_.default>, _self_length = 2, _self_0_base_index = 0, _self_1_base_index = 1, _self_1_slice_dim = 1, _self_1_slice_start = 0, _self_1_slice_end = 2, _all_bases = [%x, %y] : !fx.none, !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu> as (*, *, *) {only_clone = "[]"}
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %k : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// A call that carries a graph is left.
// CHECK-LABEL: fx.graph @no_operator
fx.graph @no_operator stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>, %i : !fx.tensor<i64[5, 4], cpu>) {
  // CHECK-NEXT: %n, %r = higher_order.auto_functionalized_v2 fn<torch.ops.higher_order.cond>, _x_base_index = 0, _all_bases = [%x] : !fx.none, !fx.tensor<f32[5, 4], cpu> as (*, *)
  // CHECK-NEXT: fx.output (%r,)
  %n, %r = higher_order.auto_functionalized_v2 fn<torch.ops.higher_order.cond>, _x_base_index = 0, _all_bases = [%x] : !fx.none, !fx.tensor<f32[5, 4], cpu> as (*, *)
  fx.output (%r,)
}
