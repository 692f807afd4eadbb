// RUN: xductor-opt %s -p 'unfuse_bias_add_to_pointwise{policy="fast"}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[s0, 4], cuda:0>, %b : !fx.tensor<f32[4, 8], cuda:0>, %bias : !fx.tensor<f32[8], cuda:0>, %c : !fx.tensor<bf16[2, 4], cuda:0>, %d : !fx.tensor<bf16[4, 8], cuda:0>, %e : !fx.tensor<bf16[8], cuda:0>) {
  // CHECK-NEXT: %mm = aten.mm.default %a, %b : !fx.tensor<f32[s0, 8], cuda:0>
  // CHECK-NEXT: %add = aten.add.Tensor %bias, %mm : !fx.tensor<f32[s0, 8], cuda:0>
  // CHECK-NEXT: %x = aten.relu.default %add : !fx.tensor<f32[s0, 8], cuda:0>
  // CHECK-NEXT: %mm_1 = aten.mm.default %c, %d : !fx.tensor<bf16[2, 8], cuda:0>
  // CHECK-NEXT: %add_1 = aten.add.Tensor %e, %mm_1 : !fx.tensor<bf16[2, 8], cuda:0>
  // CHECK-NEXT: %y = aten.neg.default %add_1 : !fx.tensor<bf16[2, 8], cuda:0>
  // CHECK-NEXT: fx.output (%x, %y)
  %m = aten.addmm.default %bias, %a, %b : !fx.tensor<f32[s0, 8], cuda:0>
  %x = aten.relu.default %m : !fx.tensor<f32[s0, 8], cuda:0>
  %n = aten.addmm.default %e, %c, %d : !fx.tensor<bf16[2, 8], cuda:0>
  %y = aten.neg.default %n : !fx.tensor<bf16[2, 8], cuda:0>
  fx.output (%x, %y)
}

// Factors; what is returned, or read by a product or a sum; another device; integers.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%a : !fx.tensor<f32[8, 8], cuda:0>, %bias : !fx.tensor<f32[8], cuda:0>, %c : !fx.tensor<f32[8, 8], cpu>, %d : !fx.tensor<f32[8], cpu>) {
  // CHECK-NEXT: %l = aten.addmm.default %bias, %a, %a, beta = 0 : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %v = aten.relu.default %l : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %m = aten.addmm.default %bias, %a, %a, alpha = 2 : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %w = aten.relu.default %m : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %n = aten.addmm.default %bias, %a, %a : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %x = aten.relu.default %n : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %o = aten.addmm.default %bias, %a, %a : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %y = aten.mm.default %o, %a : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %p = aten.addmm.default %d, %c, %c : !fx.tensor<f32[8, 8], cpu>
  // CHECK-NEXT: %z = aten.relu.default %p : !fx.tensor<f32[8, 8], cpu>
  // CHECK-NEXT: fx.output (%v, %w, %n, %x, %y, %z)
  %l = aten.addmm.default %bias, %a, %a, beta = 0 : !fx.tensor<f32[8, 8], cuda:0>
  %v = aten.relu.default %l : !fx.tensor<f32[8, 8], cuda:0>
  %m = aten.addmm.default %bias, %a, %a, alpha = 2 : !fx.tensor<f32[8, 8], cuda:0>
  %w = aten.relu.default %m : !fx.tensor<f32[8, 8], cuda:0>
  %n = aten.addmm.default %bias, %a, %a : !fx.tensor<f32[8, 8], cuda:0>
  %x = aten.relu.default %n : !fx.tensor<f32[8, 8], cuda:0>
  %o = aten.addmm.default %bias, %a, %a : !fx.tensor<f32[8, 8], cuda:0>
  %y = aten.mm.default %o, %a : !fx.tensor<f32[8, 8], cuda:0>
  %p = aten.addmm.default %d, %c, %c : !fx.tensor<f32[8, 8], cpu>
  %z = aten.relu.default %p : !fx.tensor<f32[8, 8], cpu>
  fx.output (%v, %w, %n, %x, %y, %z)
}
