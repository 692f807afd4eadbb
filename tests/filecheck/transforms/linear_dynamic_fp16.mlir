// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p linear_dynamic_fp16 | filecheck %s

// CHECK-LABEL: fx.graph @linear
fx.graph @linear stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 2], cpu>, %v : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f16[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %linear_dynamic_fp16 = onednn.linear_dynamic_fp16.default %x, %fx, %v : !fx.tensor<f32[s0, 2], cpu>
  // CHECK-NEXT: fx.output (%linear_dynamic_fp16,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = aten.addmm.default %v, %x, %c : !fx.tensor<f32[s0, 2], cpu>
  fx.output (%d,)
}

// oneDNN's relu gives a number for NaN.
// CHECK-LABEL: fx.graph @relu
fx.graph @relu stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f16[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %linear_dynamic_fp16 = onednn.linear_dynamic_fp16.default %x, %fx, none : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: %e = aten.relu.default %linear_dynamic_fp16 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%e,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = aten.mm.default %x, %c : !fx.tensor<f32[3, 2], cpu>
  %e = aten.relu.default %d : !fx.tensor<f32[3, 2], cpu>
  fx.output (%e,)
}

// Something else reads the rounded weight.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  // CHECK-NEXT: %d = aten.mm.default %x, %c : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%d, %a)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = aten.mm.default %x, %c : !fx.tensor<f32[3, 2], cpu>
  fx.output (%d, %a)
}

// A factor.
// CHECK-LABEL: fx.graph @factor
fx.graph @factor stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>, %v : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  // CHECK-NEXT: %d = aten.addmm.default %v, %x, %c, alpha = 2 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = aten.addmm.default %v, %x, %c, alpha = 2 : !fx.tensor<f32[3, 2], cpu>
  fx.output (%d,)
}

// 131008, 1, 2 and 3: the first is beyond float16.
// CHECK-LABEL: fx.graph @large
fx.graph @large stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  // CHECK-NEXT: %d = aten.mm.default %x, %c : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %a = quantized_decomposed.convert_element_type.no_fuse %w, f16 : !fx.tensor<f16[2, 2], cpu>
  %b = quantized_decomposed.convert_element_type.no_fuse %a, f32 : !fx.tensor<f32[2, 2], cpu>
  %c = aten.permute.default %b, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = aten.mm.default %x, %c : !fx.tensor<f32[3, 2], cpu>
  fx.output (%d,)
}

{-#
  dialect_resources: {
    fx: {
      factor.w: "0x040000000000803F000000400000404000008040",
      large.w: "0x0400000000E0FF470000803F0000004000004040",
      linear.w: "0x040000000000803F000000400000404000008040",
      relu.w: "0x040000000000803F000000400000404000008040",
      shared.w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
