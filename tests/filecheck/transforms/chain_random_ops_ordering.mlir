// RUN: xductor-opt %s -p chain_random_ops_ordering --split-input-file | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 16]) (%n : !fx.symint<s0>, %x : !fx.tensor<f32[s0], cpu>) {
  // CHECK-NEXT: %a, %mask = aten.native_dropout.default %x
  %a, %mask = aten.native_dropout.default %x, 0.5, true : !fx.tensor<f32[s0], cpu>, !fx.tensor<i1[s0], cpu>
  // CHECK-NEXT: %b = higher_order.control_deps (pack(%a, %mask),), @subgraph_b, %n
  %b = aten.rand.default [%n] : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %c = higher_order.control_deps (%b,), @subgraph_c, %b
  %c = aten.bernoulli.default %b : !fx.tensor<f32[s0], cpu>
  fx.output (%a, %c)
}
// CHECK: fx.graph @subgraph_b
// CHECK-SAME: (%arg_0 : !fx.symint<s0>)
// CHECK-NEXT: %b = aten.rand.default [%arg_0]
// CHECK-NEXT: fx.output %b

// -----

// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: aten.rand_like.default
  %a = aten.rand_like.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: aten.native_dropout_backward.default
  %b = aten.native_dropout_backward.default %x, %a, 2.0 : !fx.tensor<f32[4], cpu>
  fx.output (%b,)
}
// CHECK-NOT: control_deps
