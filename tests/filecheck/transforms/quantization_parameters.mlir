// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p quantization_parameters | filecheck %s

// CHECK-LABEL: fx.graph @numbers
fx.graph @numbers stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %quantize_per_tensor = quantized_decomposed.quantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<ui8[s0, 4], cpu>
  // CHECK-NEXT: %dequantize_per_tensor = quantized_decomposed.dequantize_per_tensor.default %quantize_per_tensor, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: fx.output (%dequantize_per_tensor,)
  %s = fx.get_attr "s" : !fx.tensor<f32[], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[], cpu>
  %a = quantized_decomposed.quantize_per_tensor.tensor %x, %s, %z, 0, 255, ui8 : !fx.tensor<ui8[s0, 4], cpu>
  %b = quantized_decomposed.dequantize_per_tensor.tensor %a, %s, %z, 0, 255, ui8 : !fx.tensor<f32[s0, 4], cpu>
  fx.output (%b,)
}

// CHECK-LABEL: fx.graph @channels
fx.graph @channels stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %reshape = aten.reshape.default %z, [1, -1] : !fx.tensor<i64[1, 2], cpu> aliases(0)
  // CHECK-NEXT: %sub = aten.sub.Tensor %w, %reshape : !fx.tensor<i64[2, 2], cpu>
  // CHECK-NEXT: %reshape_1 = aten.reshape.default %s, [1, -1] : !fx.tensor<f32[1, 2], cpu> aliases(0)
  // CHECK-NEXT: %mul = aten.mul.Tensor %sub, %reshape_1 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%mul, %x)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %a = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 1, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  fx.output (%a, %x)
}

// Numbers that are given when the graph runs; zero points that are all 0.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>, %s : !fx.tensor<f32[], cpu>) {
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %a = quantized_decomposed.quantize_per_tensor.tensor %x, %s, %z, 0, 255, ui8 : !fx.tensor<ui8[4], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  // CHECK-NEXT: %t = fx.get_attr "t" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %y = fx.get_attr "y" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %b = quantized_decomposed.dequantize_per_channel.default %w, %t, %y, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %z = fx.get_attr "z" : !fx.tensor<i64[], cpu>
  %a = quantized_decomposed.quantize_per_tensor.tensor %x, %s, %z, 0, 255, ui8 : !fx.tensor<ui8[4], cpu>
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %t = fx.get_attr "t" : !fx.tensor<f32[2], cpu>
  %y = fx.get_attr "y" : !fx.tensor<i64[2], cpu>
  %b = quantized_decomposed.dequantize_per_channel.default %w, %t, %y, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  fx.output (%a, %b)
}

{-#
  dialect_resources: {
    fx: {
      numbers.s: "0x040000000000003F",
      numbers.z: "0x080000000300000000000000",
      channels.w: "0x0100000001020304",
      channels.s: "0x040000000000003F0000803F",
      channels.z: "0x0800000000000000000000000500000000000000",
      stays.z: "0x080000000300000000000000",
      stays.w: "0x0100000001020304",
      stays.t: "0x040000000000003F0000803F",
      stays.y: "0x0800000000000000000000000000000000000000"
    }
  }
#-}
