// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p qcat,qreshape | filecheck %s

// CHECK-LABEL: fx.graph @joined
fx.graph @joined stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<ui8[s0, 4], cpu>, %y : !fx.tensor<ui8[s0, 3], cpu>) {
  // CHECK-NEXT: %cat = aten.cat.default [%x, %y], 1 : !fx.tensor<ui8[s0, 7], cpu>
  // CHECK-NEXT: fx.output (%cat,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[s0, 4], cpu>
  %b = quantized_decomposed.dequantize_per_tensor.default %y, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[s0, 3], cpu>
  %c = aten.cat.default (%a, %b), 1 : !fx.tensor<f32[s0, 7], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[s0, 7], cpu>
  fx.output (%d,)
}

// One piece has another scale.
// CHECK-LABEL: fx.graph @scale
fx.graph @scale stage(post_grad) symbols() (%x : !fx.tensor<ui8[2, 4], cpu>, %y : !fx.tensor<ui8[2, 4], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.dequantize_per_tensor.default %y, 0.25, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %c = aten.cat.default (%a, %b) : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[4, 4], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  %b = quantized_decomposed.dequantize_per_tensor.default %y, 0.25, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  %c = aten.cat.default (%a, %b) : !fx.tensor<f32[4, 4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[4, 4], cpu>
  fx.output (%d,)
}

// The result has another dtype.
// CHECK-LABEL: fx.graph @dtype
fx.graph @dtype stage(post_grad) symbols() (%x : !fx.tensor<ui8[2, 4], cpu>, %y : !fx.tensor<ui8[2, 4], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.dequantize_per_tensor.default %y, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %c = aten.cat.default (%a, %b) : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, -128, 127, i8 : !fx.tensor<i8[4, 4], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  %b = quantized_decomposed.dequantize_per_tensor.default %y, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  %c = aten.cat.default (%a, %b) : !fx.tensor<f32[4, 4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, -128, 127, i8 : !fx.tensor<i8[4, 4], cpu>
  fx.output (%d,)
}

// The cat is read elsewhere.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(post_grad) symbols() (%x : !fx.tensor<ui8[2, 4], cpu>, %y : !fx.tensor<ui8[2, 4], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.dequantize_per_tensor.default %y, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %c = aten.cat.default (%a, %b) : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[4, 4], cpu>
  // CHECK-NEXT: fx.output (%c, %d)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  %b = quantized_decomposed.dequantize_per_tensor.default %y, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[2, 4], cpu>
  %c = aten.cat.default (%a, %b) : !fx.tensor<f32[4, 4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[4, 4], cpu>
  fx.output (%c, %d)
}
