// RUN: xductor-opt %s -p b2b_gemm_pass | filecheck %s

builtin.module {
// CHECK-LABEL: fx.graph @right
fx.graph @right stage(post_grad) symbols() (%a : !fx.tensor<f32[16, 128], cuda:0>, %b : !fx.tensor<f32[128, 8], cuda:0>, %c : !fx.tensor<f32[8, 128], cuda:0>) {
  // CHECK-NEXT: %higher_order = higher_order.b2b_gemm @b2b_gemm_between, %a, %b, %c, false : !fx.tensor<f32[16, 128], cuda:0>
  // CHECK-NEXT: fx.output (%higher_order,)
  %p = aten.mm.default %b, %c : !fx.tensor<f32[128, 128], cuda:0>
  %v = aten.relu.default %p : !fx.tensor<f32[128, 128], cuda:0>
  %r = aten.mm.default %a, %v : !fx.tensor<f32[16, 128], cuda:0>
  fx.output (%r,)
}

// Somebody else reads what stands between.
// CHECK-LABEL: fx.graph @read_elsewhere
fx.graph @read_elsewhere stage(post_grad) symbols() (%a : !fx.tensor<f32[16, 128], cuda:0>, %b : !fx.tensor<f32[128, 8], cuda:0>, %c : !fx.tensor<f32[8, 128], cuda:0>) {
  // CHECK-NEXT: %p = aten.mm.default %b, %c : !fx.tensor<f32[128, 128], cuda:0>
  // CHECK-NEXT: %v = aten.relu.default %p : !fx.tensor<f32[128, 128], cuda:0>
  // CHECK-NEXT: %r = aten.mm.default %a, %v : !fx.tensor<f32[16, 128], cuda:0>
  // CHECK-NEXT: fx.output (%r, %v)
  %p = aten.mm.default %b, %c : !fx.tensor<f32[128, 128], cuda:0>
  %v = aten.relu.default %p : !fx.tensor<f32[128, 128], cuda:0>
  %r = aten.mm.default %a, %v : !fx.tensor<f32[16, 128], cuda:0>
  fx.output (%r, %v)
}
}

// Graphs that the pass makes.
// CHECK-LABEL: fx.graph @b2b_gemm_between
// CHECK-NEXT: %v = aten.relu.default %product : !fx.tensor<f32[128, 128], cuda:0>
// CHECK-NEXT: fx.output %v
