// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p qlinear_post_op_fusion | filecheck %s

// A quantisation.
// CHECK-LABEL: fx.graph @quantised
fx.graph @quantised stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %w : !fx.tensor<i8[2, 2], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>) {
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 0.1, 5, ui8, "none", [], "" : !fx.tensor<ui8[4, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_pointwise,)
  %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %y, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[4, 2], cpu>
  fx.output (%q,)
}

// GELU and a quantisation.
// CHECK-LABEL: fx.graph @gelu
fx.graph @gelu stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %w : !fx.tensor<i8[2, 2], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>) {
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 0.1, 5, ui8, "gelu", [], "none" : !fx.tensor<ui8[4, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_pointwise,)
  %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  %a = aten.mul.Tensor %y, 0.5 : !fx.tensor<f32[4, 2], cpu>
  %b = aten.mul.Tensor %y, 0.7071067811865476 : !fx.tensor<f32[4, 2], cpu>
  %e = aten.erf.default %b : !fx.tensor<f32[4, 2], cpu>
  %f = aten.add.Tensor %e, 1 : !fx.tensor<f32[4, 2], cpu>
  %g = aten.mul.Tensor %a, %f : !fx.tensor<f32[4, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %g, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[4, 2], cpu>
  fx.output (%q,)
}

// A sum and a quantisation of its relu.
// CHECK-LABEL: fx.graph @sum
fx.graph @sum stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %w : !fx.tensor<i8[2, 2], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>, %o : !fx.tensor<f32[4, 2], cpu>) {
  // CHECK-NEXT: %qlinear_binary = xductor.qlinear_binary.default %x, 0.5, 3, %w, %s, %z, %o, none, 0.1, 5, ui8, "relu" : !fx.tensor<ui8[4, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_binary,)
  %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  %p = aten.add.Tensor %o, %y : !fx.tensor<f32[4, 2], cpu>
  %r = aten.relu.default %p : !fx.tensor<f32[4, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %r, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[4, 2], cpu>
  fx.output (%q,)
}

// What is added may be NaN, of which oneDNN's relu would make a number.
// CHECK-LABEL: fx.graph @nan
fx.graph @nan stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %w : !fx.tensor<i8[2, 2], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>, %o : !fx.tensor<f32[4, 2], cpu>) {
  // CHECK-NEXT: %qlinear_binary = xductor.qlinear_binary.default %x, 0.5, 3, %w, %s, %z, %o, none, 1.0, 0, f32, "none" : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %r = aten.relu.default %qlinear_binary : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%r,)
  %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  %p = aten.add.Tensor %o, %y : !fx.tensor<f32[4, 2], cpu>
  %r = aten.relu.default %p : !fx.tensor<f32[4, 2], cpu>
  fx.output (%r,)
}

// A row that is added to all.
// CHECK-LABEL: fx.graph @row
fx.graph @row stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %w : !fx.tensor<i8[2, 2], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>, %o : !fx.tensor<f32[1, 2], cpu>) {
  // CHECK-NEXT: %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %p = aten.add.Tensor %y, %o : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%p,)
  %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  %p = aten.add.Tensor %y, %o : !fx.tensor<f32[4, 2], cpu>
  fx.output (%p,)
}

// A factor.
// CHECK-LABEL: fx.graph @factor
fx.graph @factor stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %w : !fx.tensor<i8[2, 2], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>, %o : !fx.tensor<f32[4, 2], cpu>) {
  // CHECK-NEXT: %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %p = aten.add.Tensor %y, %o, alpha = 2 : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%p,)
  %y = onednn.qlinear_pointwise.default %x, 0.5, 3, %w, %s, %z, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  %p = aten.add.Tensor %y, %o, alpha = 2 : !fx.tensor<f32[4, 2], cpu>
  fx.output (%p,)
}
