// RUN: xductor-opt %s -p binary_folding | filecheck %s

// A product with a number goes into weight and bias.
// CHECK-LABEL: fx.graph @convolution
fx.graph @convolution stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 3, 3, 3], cpu>
  // CHECK-NEXT: %b = fx.get_attr "b" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %w, 2.5 : !fx.tensor<f32[4, 3, 3, 3], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %b, 2.5 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %convolution = aten.convolution.default %x, %mul, %mul_1, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%convolution,)
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 3, 3, 3], cpu>
  %b = fx.get_attr "b" : !fx.tensor<f32[4], cpu>
  %y = aten.convolution.default %x, %w, %b, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  %z = aten.mul.Tensor %y, 2.5 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  fx.output (%z,)
}

// A sum gives a product a bias.
// CHECK-LABEL: fx.graph @product
fx.graph @product stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %full = aten.full.default [4], 0.0, dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %full, 1.5, alpha = -2 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %addmm = aten.addmm.default %add, %x, %w : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%addmm,)
  %w = fx.get_attr "w" : !fx.tensor<f32[3, 4], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[2, 4], cpu>
  %z = aten.sub.Tensor %y, 1.5, alpha = 2 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%z,)
}

// Of what stands beside it no elements are known: they might be infinite.
// CHECK-LABEL: fx.graph @unknown_elements
fx.graph @unknown_elements stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = fx.get_attr "c" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %w : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %z = aten.mul.Tensor %y, %c : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %w = fx.get_attr "w" : !fx.tensor<f32[3, 4], cpu>
  %c = fx.get_attr "c" : !fx.tensor<f32[4], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[2, 4], cpu>
  %z = aten.mul.Tensor %y, %c : !fx.tensor<f32[2, 4], cpu>
  fx.output (%z,)
}

// A division by zero gives infinities of two signs, and weights that are infinite give NaN.
// CHECK-LABEL: fx.graph @division_by_zero
fx.graph @division_by_zero stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %w : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %z = aten.div.Tensor %y, 0.0 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %w = fx.get_attr "w" : !fx.tensor<f32[3, 4], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[2, 4], cpu>
  %z = aten.div.Tensor %y, 0.0 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%z,)
}

// oneDNN computes a hardsigmoid as a whole.
// CHECK-LABEL: fx.graph @hardsigmoid
fx.graph @hardsigmoid stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 3, 3, 3], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %y, 3 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: %c = aten.clamp_min.default %a, 0 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: %d = aten.clamp_max.default %c, 6 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: %e = aten.div.Tensor %d, 6 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%e,)
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 3, 3, 3], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  %a = aten.add.Tensor %y, 3 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  %c = aten.clamp_min.default %a, 0 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  %d = aten.clamp_max.default %c, 6 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  %e = aten.div.Tensor %d, 6 : !fx.tensor<f32[2, 4, 3, 3], cpu>
  fx.output (%e,)
}
