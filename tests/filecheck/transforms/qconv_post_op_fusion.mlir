// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p qconv_post_op_fusion | filecheck %s

// A quantisation.
// CHECK-LABEL: fx.graph @quantised
fx.graph @quantised stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>) {
  // CHECK-NEXT: %qconv = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 0.1, 5, ui8, "none", [], "" : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%qconv,)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %y, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%q,)
}

// An activation and a quantisation.
// CHECK-LABEL: fx.graph @activation
fx.graph @activation stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>) {
  // CHECK-NEXT: %qconv = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 0.1, 5, ui8, "relu", [], "" : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%qconv,)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %r = aten.relu.default %y : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %r, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%q,)
}

// Bounds that the dtype has not.
// CHECK-LABEL: fx.graph @bounds
fx.graph @bounds stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>) {
  // CHECK-NEXT: %qconv = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 0.1, 5, ui8, "none", [], "" : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %clamp_max = aten.clamp_max.default %qconv, 127 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%clamp_max,)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %y, 0.1, 5, 0, 127, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%q,)
}

// An activation alone: the result is a number.
// CHECK-LABEL: fx.graph @float
fx.graph @float stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>) {
  // CHECK-NEXT: %qconv = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "relu", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%qconv,)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %r = aten.relu.default %y : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%r,)
}

// A sum with what was quantised, and a relu of it.
// CHECK-LABEL: fx.graph @sum
fx.graph @sum stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>, %a : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %qconv_binary = xductor.qconv_binary.default %x, 0.5, 3, %w, %s, %z, %a, none, [1, 1], [0, 0], [1, 1], 1, 0.1, 5, ui8, 0.25, 7, "relu" : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%qconv_binary,)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %o = quantized_decomposed.dequantize_per_tensor.default %a, 0.25, 7, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %p = aten.add.Tensor %o, %y : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %r = aten.relu.default %p : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %r, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%q,)
}

// What is added was quantised to another dtype.
// CHECK-LABEL: fx.graph @other_dtype
fx.graph @other_dtype stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>, %a : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %o = quantized_decomposed.dequantize_per_tensor.default %a, 0.25, 7, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %p = aten.add.Tensor %o, %y : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %q = quantized_decomposed.quantize_per_tensor.default %p, 0.1, 5, -128, 127, i8 : !fx.tensor<i8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%q,)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %o = quantized_decomposed.dequantize_per_tensor.default %a, 0.25, 7, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %p = aten.add.Tensor %o, %y : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %p, 0.1, 5, -128, 127, i8 : !fx.tensor<i8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%q,)
}

// What is added was not quantised.
// CHECK-LABEL: fx.graph @not_quantised
fx.graph @not_quantised stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>, %a : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %p = aten.add.Tensor %a, %y : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %q = quantized_decomposed.quantize_per_tensor.default %p, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%q,)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %p = aten.add.Tensor %a, %y : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %p, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%q,)
}

// Something else reads the result.
// CHECK-LABEL: fx.graph @read
fx.graph @read stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>, %w : !fx.tensor<i8[2, 2, 1, 1], cpu>, %s : !fx.tensor<f32[2], cpu>, %z : !fx.tensor<i32[2], cpu>) {
  // CHECK-NEXT: %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %q = quantized_decomposed.quantize_per_tensor.default %y, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%q, %y)
  %y = xductor.qconv.default %x, 0.5, 3, %w, %s, %z, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %q = quantized_decomposed.quantize_per_tensor.default %y, 0.1, 5, 0, 255, ui8 : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%q, %y)
}
