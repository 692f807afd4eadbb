// RUN: xductor-opt %s -p decompose_map_to_while_loop | filecheck %s

builtin.module {
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 3], cpu>, %w : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %full = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %empty_strided = aten.empty_strided.default [5, 3], [3, 1], dtype = f32, device = device<cpu> : !fx.tensor<f32[5, 3], cpu>
  // CHECK-NEXT: %higher_order#0, %higher_order#1, %higher_order#2 = higher_order.while_loop @while_loop_cond_graph_0, @while_loop_body_graph_0, (%full, %empty_strided, %x), (%w,) : !fx.tensor<i64[], cpu>, !fx.tensor<f32[5, 3], cpu>, !fx.tensor<f32[5, 3], cpu> as (*, *, *)
  // CHECK-NEXT: fx.output (%higher_order#1,)
  %b = higher_order.map_impl @step, [%x], [%w] : !fx.tensor<f32[5, 3], cpu> as (*,) {node = "map"}
  fx.output (%b,)
}
// CHECK-LABEL: fx.graph @step
fx.graph @step stage(post_grad) symbols() (%x : !fx.tensor<f32[3], cpu>, %w : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %mul = aten.mul.Tensor %x, %w : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%mul,)
  %mul = aten.mul.Tensor %x, %w : !fx.tensor<f32[3], cpu>
  fx.output (%mul,)
}
}

// Graphs that the pass makes.
// CHECK-LABEL: fx.graph @while_loop_cond_graph_0
// CHECK-NEXT: %lt = aten.lt.Scalar %arg_0, 5 : !fx.tensor<i1[], cpu>
// CHECK-NEXT: fx.output %lt
// CHECK-LABEL: fx.graph @while_loop_body_graph_0
// CHECK-NEXT: %_local_scalar_dense = aten._local_scalar_dense.default %arg_0 : !fx.symint<u0> {unbacked_bindings = "u0 = self"}
// CHECK-NEXT: %_operator = pyfn._operator.ge %_local_scalar_dense, 0 : !fx.symbool<ge(u0, 0)>
// CHECK-NEXT: aten._assert_scalar.default %_operator, "row ge(u0, 0) of higher_order.map_impl"
// CHECK-NEXT: %_operator_1 = pyfn._operator.lt %_local_scalar_dense, 5 : !fx.symbool<lt(u0, 5)>
// CHECK-NEXT: aten._assert_scalar.default %_operator_1, "row lt(u0, 5) of higher_order.map_impl"
// CHECK-NEXT: %select = aten.select.int %arg_2, 0, %_local_scalar_dense : !fx.tensor<f32[3], cpu, offset 3*u0>
// CHECK-NEXT: %mul = aten.mul.Tensor %select, %arg_3 : !fx.tensor<f32[3], cpu>
// CHECK-NEXT: %select_1 = aten.select.int %arg_1, 0, %_local_scalar_dense : !fx.tensor<f32[3], cpu, offset 3*u0>
// CHECK-NEXT: %copy_ = aten.copy_.default %select_1, %mul : !fx.tensor<f32[3], cpu, offset 3*u0>
// CHECK-NEXT: %add = aten.add.Tensor %arg_0, 1 : !fx.tensor<i64[], cpu>
// CHECK-NEXT: fx.output (%add, %arg_1, %arg_2)
