// RUN: xductor-opt %s -p bmm_to_mm | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[1, s0, 4], cuda:0>, %b : !fx.tensor<f32[1, 4, 8], cuda:0>) {
  // CHECK-NEXT: %squeeze = aten.squeeze.dim %a, 0 : !fx.tensor<f32[s0, 4], cuda:0>
  // CHECK-NEXT: %squeeze_1 = aten.squeeze.dim %b, 0 : !fx.tensor<f32[4, 8], cuda:0>
  // CHECK-NEXT: %mm = aten.mm.default %squeeze, %squeeze_1 : !fx.tensor<f32[s0, 8], cuda:0>
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %mm, 0 : !fx.tensor<f32[1, s0, 8], cuda:0>
  // CHECK-NEXT: fx.output (%unsqueeze,)
  %y = aten.bmm.default %a, %b : !fx.tensor<f32[1, s0, 8], cuda:0>
  fx.output (%y,)
}

// Several products; a device where it does not pay; complex numbers, whose kernels differ.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%a : !fx.tensor<f32[2, 3, 4], cuda:0>, %b : !fx.tensor<f32[2, 4, 8], cuda:0>, %c : !fx.tensor<f32[1, 3, 4], cpu>, %d : !fx.tensor<f32[1, 4, 8], cpu>, %e : !fx.tensor<complex<f32>[1, 3, 4], cuda:0>, %f : !fx.tensor<complex<f32>[1, 4, 8], cuda:0>) {
  // CHECK-NEXT: %x = aten.bmm.default %a, %b : !fx.tensor<f32[2, 3, 8], cuda:0>
  // CHECK-NEXT: %y = aten.bmm.default %c, %d : !fx.tensor<f32[1, 3, 8], cpu>
  // CHECK-NEXT: %z = aten.bmm.default %e, %f : !fx.tensor<complex<f32>[1, 3, 8], cuda:0>
  // CHECK-NEXT: fx.output (%x, %y, %z)
  %x = aten.bmm.default %a, %b : !fx.tensor<f32[2, 3, 8], cuda:0>
  %y = aten.bmm.default %c, %d : !fx.tensor<f32[1, 3, 8], cpu>
  %z = aten.bmm.default %e, %f : !fx.tensor<complex<f32>[1, 3, 8], cuda:0>
  fx.output (%x, %y, %z)
}
