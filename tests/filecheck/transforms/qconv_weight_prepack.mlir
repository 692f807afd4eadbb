// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p qconv_weight_prepack | filecheck %s

// Data of uint8 by an int8 weight: oneDNN gets both as they are.
// CHECK-LABEL: fx.graph @packed
fx.graph @packed stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param3" : !fx.tensor<i8[2, 2, 1, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param4" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %qconv = xductor.qconv.default %x, 0.5, 3, %fx, %s, %fx_1, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%qconv,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%y,)
}

// What is dequantised may have other readers.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param3" : !fx.tensor<i8[2, 2, 1, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param4" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %qconv = xductor.qconv.default %x, 0.5, 3, %fx, %s, %fx_1, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %r = aten.relu.default %d : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%qconv, %r)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %r = aten.relu.default %d : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%y, %r)
}

// Data and weight that are cast.
// CHECK-LABEL: fx.graph @cast
fx.graph @cast stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param3" : !fx.tensor<i8[2, 2, 1, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param4" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %qconv = xductor.qconv.default %x, 0.5, 3, %fx, %s, %fx_1, none, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, bf16, "none", [], "" : !fx.tensor<bf16[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%qconv,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %dc = prims.convert_element_type.default %d, bf16 : !fx.tensor<bf16[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %wc = prims.convert_element_type.default %dw, bf16 : !fx.tensor<bf16[2, 2, 1, 1], cpu>
  %wl = aten.clone.default %wc, memory_format = memory_format<channels_last> : !fx.tensor<bf16[2, 2, 1, 1][2, 1, 2, 2], cpu>
  %y = aten.convolution.default %dc, %wl, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<bf16[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%y,)
}

// A transposed convolution.
// CHECK-LABEL: fx.graph @transposed
fx.graph @transposed stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], true, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], true, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%y,)
}

// Scales of the other dim of the weight.
// CHECK-LABEL: fx.graph @other_axis
fx.graph @other_axis stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 1, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 1, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%y,)
}

// Zero points of the weight.
// CHECK-LABEL: fx.graph @zero_points
fx.graph @zero_points stage(post_grad) symbols() (%x : !fx.tensor<ui8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%y,)
}

// Data of int8, which oneDNN does not take.
// CHECK-LABEL: fx.graph @signed
fx.graph @signed stage(post_grad) symbols() (%x : !fx.tensor<i8[1, 2, 3, 3][18, 1, 6, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, -128, 127, i8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2, 1, 1], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, -128, 127, i8 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  %y = aten.convolution.default %d, %dw, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  fx.output (%y,)
}

{-#
  dialect_resources: {
    fx: {
      packed.w: "0x0100000001020304",
      packed.s: "0x040000000000003F0000803F",
      packed.z: "0x0800000000000000000000000000000000000000",
      shared.w: "0x0100000001020304",
      shared.s: "0x040000000000003F0000803F",
      shared.z: "0x0800000000000000000000000000000000000000",
      cast.w: "0x0100000001020304",
      cast.s: "0x040000000000003F0000803F",
      cast.z: "0x0800000000000000000000000000000000000000",
      transposed.w: "0x0100000001020304",
      transposed.s: "0x040000000000003F0000803F",
      transposed.z: "0x0800000000000000000000000000000000000000",
      other_axis.w: "0x0100000001020304",
      other_axis.s: "0x040000000000003F0000803F",
      other_axis.z: "0x0800000000000000000000000000000000000000",
      zero_points.w: "0x0100000001020304",
      zero_points.s: "0x040000000000003F0000803F",
      zero_points.z: "0x0800000000000000000000000500000000000000",
      signed.w: "0x0100000001020304",
      signed.s: "0x040000000000003F0000803F",
      signed.z: "0x0800000000000000000000000000000000000000"
    }
  }
#-}
