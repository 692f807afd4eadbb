// RUN: xductor-opt %s -p pad_addmm | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%i : !fx.tensor<f32[5], cuda:0>, %a : !fx.tensor<f32[8, 8], cuda:0>, %b : !fx.tensor<f32[8, 5], cuda:0>) {
  // CHECK-NEXT: %constant_pad_nd = aten.constant_pad_nd.default %b, [0, 3, 0, 0] : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %constant_pad_nd_1 = aten.constant_pad_nd.default %i, [0, 3] : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: %addmm = aten.addmm.default %constant_pad_nd_1, %a, %constant_pad_nd : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %slice = aten.slice.Tensor %addmm, 1, 0, -3 : !fx.tensor<f32[8, 5][8, 1], cuda:0>
  // CHECK-NEXT: %z = aten.neg.default %slice : !fx.tensor<f32[8, 5], cuda:0>
  // CHECK-NEXT: fx.output (%z,)
  %y = aten.addmm.default %i, %a, %b : !fx.tensor<f32[8, 5], cuda:0>
  %z = aten.neg.default %y : !fx.tensor<f32[8, 5], cuda:0>
  fx.output (%z,)
}

// Sizes that are aligned.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%i : !fx.tensor<f32[4], cuda:0>, %a : !fx.tensor<f32[8, 8], cuda:0>, %b : !fx.tensor<f32[8, 4], cuda:0>) {
  // CHECK-NEXT: %y = aten.addmm.default %i, %a, %b : !fx.tensor<f32[8, 4], cuda:0>
  // CHECK-NEXT: fx.output (%y,)
  %y = aten.addmm.default %i, %a, %b : !fx.tensor<f32[8, 4], cuda:0>
  fx.output (%y,)
}
