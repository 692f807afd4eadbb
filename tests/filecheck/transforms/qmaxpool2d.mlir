// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p qmaxpool2d | filecheck %s

// CHECK-LABEL: fx.graph @pooled
fx.graph @pooled stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<ui8[s0, 4, 8, 8], cpu>) {
  // CHECK-NEXT: %max_pool2d = xductor.max_pool2d.default %x, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<ui8[s0, 4, 4, 4], cpu>
  // CHECK-NEXT: fx.output (%max_pool2d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[s0, 4, 8, 8], cpu>
  %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[s0, 4, 4, 4], cpu>, !fx.tensor<i8[s0, 4, 4, 4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[s0, 4, 4, 4], cpu>
  fx.output (%d,)
}

// A window of any size, and narrower bounds.
// CHECK-LABEL: fx.graph @large
fx.graph @large stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 4, 8, 8], cpu>) {
  // CHECK-NEXT: %clamp_max = aten.clamp_max.default %x, 127 : !fx.tensor<ui8[1, 4, 8, 8], cpu>
  // CHECK-NEXT: %max_pool2d = xductor.max_pool2d.default %clamp_max, [7, 7], [1, 1], [0, 0], [1, 1], false : !fx.tensor<ui8[1, 4, 2, 2], cpu>
  // CHECK-NEXT: fx.output (%max_pool2d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 4, 8, 8], cpu>
  %b, %c = aten.max_pool2d_with_indices.default %a, [7, 7], [1, 1] : !fx.tensor<f32[1, 4, 2, 2], cpu>, !fx.tensor<i64[1, 4, 2, 2], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 127, ui8 : !fx.tensor<ui8[1, 4, 2, 2], cpu>
  fx.output (%d,)
}

// Another scale.
// CHECK-LABEL: fx.graph @scale
fx.graph @scale stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 4, 8, 8], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 4, 8, 8], cpu>
  // CHECK-NEXT: %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cpu>, !fx.tensor<i8[1, 4, 4, 4], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %b, 0.25, 3, 0, 255, ui8 : !fx.tensor<ui8[1, 4, 4, 4], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 4, 8, 8], cpu>
  %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cpu>, !fx.tensor<i8[1, 4, 4, 4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %b, 0.25, 3, 0, 255, ui8 : !fx.tensor<ui8[1, 4, 4, 4], cpu>
  fx.output (%d,)
}

// The least number is out of bounds: it is what a window of nothing but padding would have.
// CHECK-LABEL: fx.graph @least
fx.graph @least stage(post_grad) symbols() (%x : !fx.tensor<i8[1, 4, 8, 8], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, -128, 127, i8 : !fx.tensor<f32[1, 4, 8, 8], cpu>
  // CHECK-NEXT: %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cpu>, !fx.tensor<i8[1, 4, 4, 4], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, -127, 127, i8 : !fx.tensor<i8[1, 4, 4, 4], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, -128, 127, i8 : !fx.tensor<f32[1, 4, 8, 8], cpu>
  %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cpu>, !fx.tensor<i8[1, 4, 4, 4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, -127, 127, i8 : !fx.tensor<i8[1, 4, 4, 4], cpu>
  fx.output (%d,)
}

// The places of the maxima are read too.
// CHECK-LABEL: fx.graph @places
fx.graph @places stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 4, 8, 8], cpu>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 4, 8, 8], cpu>
  // CHECK-NEXT: %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cpu>, !fx.tensor<i8[1, 4, 4, 4], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[1, 4, 4, 4], cpu>
  // CHECK-NEXT: fx.output (%c, %d)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 4, 8, 8], cpu>
  %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cpu>, !fx.tensor<i8[1, 4, 4, 4], cpu>
  %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[1, 4, 4, 4], cpu>
  fx.output (%c, %d)
}

// On another device than a CPU.
// CHECK-LABEL: fx.graph @device
fx.graph @device stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 4, 8, 8], cuda:0>) {
  // CHECK-NEXT: %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 4, 8, 8], cuda:0>
  // CHECK-NEXT: %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cuda:0>, !fx.tensor<i8[1, 4, 4, 4], cuda:0>
  // CHECK-NEXT: %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[1, 4, 4, 4], cuda:0>
  // CHECK-NEXT: fx.output (%d,)
  %a = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 4, 8, 8], cuda:0>
  %b, %c = prims._low_memory_max_pool_with_offsets.default %a, [2, 2], [2, 2], [0, 0], [1, 1], false : !fx.tensor<f32[1, 4, 4, 4], cuda:0>, !fx.tensor<i8[1, 4, 4, 4], cuda:0>
  %d = quantized_decomposed.quantize_per_tensor.default %b, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[1, 4, 4, 4], cuda:0>
  fx.output (%d,)
}
