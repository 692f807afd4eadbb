// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p quant_lift_up | filecheck %s

// CHECK-LABEL: fx.graph @lifted
fx.graph @lifted stage(pre_grad) symbols(s0 : int positive [2, 64]) ambient(grad false) (%x : !fx.tensor<f32[s0, 8], cpu>, %w : !fx.tensor<f32[8, 8], cpu>) {
  // CHECK-NEXT: %a = aten.linear.default %x, %w : !fx.tensor<f32[s0, 8], cpu>
  // CHECK-NEXT: %quantize_per_tensor = quantized_decomposed.quantize_per_tensor.default %a, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[s0, 8], cpu>
  // CHECK-NEXT: %view = aten.view.default %quantize_per_tensor, [-1, 2, 4] : !fx.tensor<ui8[s0, 2, 4], cpu>
  // CHECK-NEXT: %transpose = aten.transpose.int %view, 0, 1 : !fx.tensor<ui8[2, s0, 4][4, 8, 1], cpu>
  // CHECK-NEXT: fx.output (%transpose,)
  %a = aten.linear.default %x, %w : !fx.tensor<f32[s0, 8], cpu>
  %b = aten.view.default %a, [-1, 2, 4] : !fx.tensor<f32[s0, 2, 4], cpu> aliases(0)
  %c = aten.transpose.int %b, 0, 1 : !fx.tensor<f32[2, s0, 4][4, 8, 1], cpu> aliases(0)
  %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[2, s0, 4][4, 8, 1], cpu>
  fx.output (%d,)
}

// Something else reads a view.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(pre_grad) ambient(grad false) (%x : !fx.tensor<f32[6, 8], cpu>) {
  // CHECK-NEXT: %b = aten.view.default %x, [-1, 2, 4] : !fx.tensor<f32[6, 2, 4], cpu> aliases(0)
  // CHECK-NEXT: %c = aten.permute.default %b, [1, 0, 2] : !fx.tensor<f32[2, 6, 4][4, 8, 1], cpu> aliases(0)
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[2, 6, 4][4, 8, 1], cpu>
  // CHECK-NEXT: %e = aten.neg.default %b : !fx.tensor<f32[6, 2, 4], cpu>
  // CHECK-NEXT: fx.output (%d, %e)
  %b = aten.view.default %x, [-1, 2, 4] : !fx.tensor<f32[6, 2, 4], cpu> aliases(0)
  %c = aten.permute.default %b, [1, 0, 2] : !fx.tensor<f32[2, 6, 4][4, 8, 1], cpu> aliases(0)
  %d = quantized_decomposed.quantize_per_tensor.default %c, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[2, 6, 4][4, 8, 1], cpu>
  %e = aten.neg.default %b : !fx.tensor<f32[6, 2, 4], cpu>
  fx.output (%d, %e)
}

// A slice leaves elements out.
// CHECK-LABEL: fx.graph @sliced
fx.graph @sliced stage(pre_grad) ambient(grad false) (%x : !fx.tensor<f32[6, 8], cpu>) {
  // CHECK-NEXT: %b = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 8], cpu, offset 8> aliases(0)
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[2, 8], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %b = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 8], cpu, offset 8> aliases(0)
  %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[2, 8], cpu>
  fx.output (%d,)
}
