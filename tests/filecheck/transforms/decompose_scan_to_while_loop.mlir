// RUN: xductor-opt %s -p decompose_scan_to_while_loop | filecheck %s

// Each row is written to a buffer that is made before the loop.
builtin.module {
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, int_oo] hint 5) (%c : !fx.tensor<f32[3], cpu>, %x : !fx.tensor<f32[s0, 3], cpu>, %w : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %full = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %sym_size = aten.sym_size.int %x, 0 : !fx.symint<s0>
  // CHECK-NEXT: %empty_strided = aten.empty_strided.default [%sym_size, 3], [3, 1], dtype = f32, device = device<cpu> : !fx.tensor<f32[s0, 3], cpu>
  // CHECK-NEXT: %higher_order#0, %higher_order#1, %higher_order#2, %higher_order#3 = higher_order.while_loop @while_loop_cond_graph_0, @while_loop_body_graph_0, (%full, %empty_strided, %c, %x), (%w,) : !fx.tensor<i64[], cpu>, !fx.tensor<f32[s0, 3], cpu>, !fx.tensor<f32[3], cpu>, !fx.tensor<f32[s0, 3], cpu> as (*, *, *, *)
  // CHECK-NEXT: fx.output (%higher_order#2, %higher_order#1)
  %a, %b = higher_order.scan @step, [%c], [%x], (%w,) : !fx.tensor<f32[3], cpu>, !fx.tensor<f32[s0, 3], cpu> as (*, *) {node = "scan"}
  fx.output (%a, %b)
}
// CHECK-LABEL: fx.graph @step
fx.graph @step stage(post_grad) symbols() (%c : !fx.tensor<f32[3], cpu>, %x : !fx.tensor<f32[3], cpu>, %w : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %mul = aten.mul.Tensor %c, %w : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %mul, %x : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output [%add, %mul]
  %mul = aten.mul.Tensor %c, %w : !fx.tensor<f32[3], cpu>
  %add = aten.add.Tensor %mul, %x : !fx.tensor<f32[3], cpu>
  fx.output [%add, %mul]
}
}

// Graphs that the pass makes.
// CHECK-LABEL: fx.graph @while_loop_cond_graph_0
// CHECK-NEXT: %sym_size = aten.sym_size.int %arg_3, 0 : !fx.symint<s0>
// CHECK-NEXT: %lt = aten.lt.Scalar %arg_0, %sym_size : !fx.tensor<i1[], cpu>
// CHECK-NEXT: fx.output %lt
// CHECK-LABEL: fx.graph @while_loop_body_graph_0
// CHECK-NEXT: %_local_scalar_dense = aten._local_scalar_dense.default %arg_0 : !fx.symint<u0> {unbacked_bindings = "u0 = self"}
// CHECK-NEXT: %sym_size = aten.sym_size.int %arg_3, 0 : !fx.symint<s0>
// CHECK-NEXT: %_operator = pyfn._operator.ge %_local_scalar_dense, 0 : !fx.symbool<ge(u0, 0)>
// CHECK-NEXT: aten._assert_scalar.default %_operator, "row ge(u0, 0) of higher_order.scan"
// CHECK-NEXT: %_operator_1 = pyfn._operator.lt %_local_scalar_dense, %sym_size : !fx.symbool<lt(u0, s0)>
// CHECK-NEXT: aten._assert_scalar.default %_operator_1, "row lt(u0, s0) of higher_order.scan"
// CHECK-NEXT: %select = aten.select.int %arg_3, 0, %_local_scalar_dense : !fx.tensor<f32[3], cpu, offset 3*u0>
// CHECK-NEXT: %mul = aten.mul.Tensor %arg_2, %arg_4 : !fx.tensor<f32[3], cpu>
// CHECK-NEXT: %add = aten.add.Tensor %mul, %select : !fx.tensor<f32[3], cpu>
// CHECK-NEXT: %select_1 = aten.select.int %arg_1, 0, %_local_scalar_dense : !fx.tensor<f32[3], cpu, offset 3*u0>
// CHECK-NEXT: %copy_ = aten.copy_.default %select_1, %mul : !fx.tensor<f32[3], cpu, offset 3*u0>
// CHECK-NEXT: %add_1 = aten.add.Tensor %arg_0, 1 : !fx.tensor<i64[], cpu>
// CHECK-NEXT: fx.output (%add_1, %arg_1, %add, %arg_3)
