// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p qreshape | filecheck %s

// CHECK-LABEL: fx.graph @reshaped
fx.graph @reshaped stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<ui8[s0, 4], cpu>) {
  // CHECK-NEXT: %reshape = aten.reshape.default %x, [-1, 2, 2] : !fx.tensor<ui8[s0, 2, 2], cpu> aliases(0)
  // CHECK-NEXT: %d = aten.add.Tensor %reshape, 1 : !fx.tensor<ui8[s0, 2, 2], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[s0, 4], cpu>
  %b = aten.reshape.default %a, [-1, 2, 2] : !fx.tensor<f32[s0, 2, 2], cpu> aliases(0)
  %c = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[s0, 2, 2], cpu>
  %d = aten.add.Tensor %c, 1 : !fx.tensor<ui8[s0, 2, 2], cpu>
  fx.output (%d,)
}

// Narrower bounds.
// CHECK-LABEL: fx.graph @clamped
fx.graph @clamped stage(post_grad) symbols() (%x : !fx.tensor<i8[4], cpu>) {
  // CHECK-NEXT: %clamp_max = aten.clamp_max.default %x, 100 : !fx.tensor<i8[4], cpu>
  // CHECK-NEXT: fx.output (%clamp_max,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, -128, 127, i8 : !fx.tensor<f32[4], cpu>
  %b = quantized_decomposed.quantize_per_tensor.default %a, 0.5, 3, -128, 100, i8 : !fx.tensor<i8[4], cpu>
  fx.output (%b,)
}

// Another zero point, a scale near 0, another dtype.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<ui8[4], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.quantize_per_tensor.default %a, 0.5, 4, 0, 255, ui8 : !fx.tensor<ui8[4], cpu>
  // CHECK-NEXT: %c = quantized_decomposed.dequantize_per_tensor.default %x, 1e-39, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %c, 1e-39, 3, 0, 255, ui8 : !fx.tensor<ui8[4], cpu>
  // CHECK-NEXT: %e = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %f = quantized_decomposed.quantize_per_tensor.default %e, 0.5, 3, -128, 127, i8 : !fx.tensor<i8[4], cpu>
  // CHECK-NEXT: fx.output (%b, %d, %f)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  %b = quantized_decomposed.quantize_per_tensor.default %a, 0.5, 4, 0, 255, ui8 : !fx.tensor<ui8[4], cpu>
  %c = quantized_decomposed.dequantize_per_tensor.default %x, 1e-39, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %c, 1e-39, 3, 0, 255, ui8 : !fx.tensor<ui8[4], cpu>
  %e = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  %f = quantized_decomposed.quantize_per_tensor.default %e, 0.5, 3, -128, 127, i8 : !fx.tensor<i8[4], cpu>
  fx.output (%b, %d, %f)
}

// Something else reads the dequantised numbers.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(post_grad) symbols() (%x : !fx.tensor<ui8[4], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %quantize_per_tensor = quantized_decomposed.quantize_per_tensor.default %a, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[4], cpu>
  // CHECK-NEXT: %reshape = aten.reshape.default %quantize_per_tensor, [2, 2] : !fx.tensor<ui8[2, 2], cpu> aliases(0)
  // CHECK-NEXT: %d = aten.neg.default %a : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%reshape, %d)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4], cpu>
  %b = aten.reshape.default %a, [2, 2] : !fx.tensor<f32[2, 2], cpu> aliases(0)
  %c = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[2, 2], cpu>
  %d = aten.neg.default %a : !fx.tensor<f32[4], cpu>
  fx.output (%c, %d)
}
