// RUN: xductor-opt %s --import torch.ao.quantization.fx._decomposed -p qlinear_weight_prepack | filecheck %s

// A product.
// CHECK-LABEL: fx.graph @packed
fx.graph @packed stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param3" : !fx.tensor<i8[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param4" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.default %x, 0.5, 3, %fx, %s, %fx_1, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_pointwise,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  %y = aten.mm.default %d, %t : !fx.tensor<f32[4, 2], cpu>
  fx.output (%y,)
}

// Rows of any number of dims, with a bias.
// CHECK-LABEL: fx.graph @rows
fx.graph @rows stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<ui8[s0, 3, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %n = aten.sym_size.int %x, 0 : !fx.symint<s0>
  // CHECK-NEXT: %m = pyfn._operator.mul %n, 3 : !fx.symint<3*s0>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param3" : !fx.tensor<i8[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param4" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.default %x, 0.5, 3, %fx, %s, %fx_1, %b, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[s0, 3, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_pointwise,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[s0, 3, 2], cpu>
  %n = aten.sym_size.int %x, 0 : !fx.symint<s0>
  %m = pyfn._operator.mul %n, 3 : !fx.symint<3*s0>
  %r = aten.reshape.default %d, [%m, 2] : !fx.tensor<f32[3*s0, 2], cpu> aliases(0)
  %p = aten.addmm.default %b, %r, %t : !fx.tensor<f32[3*s0, 2], cpu>
  %y = aten.reshape.default %p, [%n, 3, 2] : !fx.tensor<f32[s0, 3, 2], cpu> aliases(0)
  fx.output (%y,)
}

// Products of batches with one weight; the sum with a vector is the bias.
// CHECK-LABEL: fx.graph @batches
fx.graph @batches stage(post_grad) symbols() (%x : !fx.tensor<ui8[3, 4, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param3" : !fx.tensor<i8[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param4" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.default %x, 0.5, 3, %fx, %s, %fx_1, %b, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[3, 4, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_pointwise,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[3, 4, 2], cpu>
  %e = aten.expand.default %t, [3, 2, 2] : !fx.tensor<f32[3, 2, 2][0, 1, 2], cpu> aliases(0)
  %p = aten.bmm.default %d, %e : !fx.tensor<f32[3, 4, 2], cpu>
  %y = aten.add.Tensor %p, %b : !fx.tensor<f32[3, 4, 2], cpu>
  fx.output (%y,)
}

// A scale and a zero point that are computed.
// CHECK-LABEL: fx.graph @computed
fx.graph @computed stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %c : !fx.tensor<f32[], cpu>, %o : !fx.tensor<i64[], cpu>) {
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param3" : !fx.tensor<i8[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param4" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.tensor %x, %c, %o, %fx, %s, %fx_1, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_pointwise,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = quantized_decomposed.dequantize_per_tensor.tensor %x, %c, %o, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  %y = aten.mm.default %d, %t : !fx.tensor<f32[4, 2], cpu>
  fx.output (%y,)
}

// A weight that is not turned: its columns have the scales.
// CHECK-LABEL: fx.graph @not_turned
fx.graph @not_turned stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %d, %dw : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  %y = aten.mm.default %d, %dw : !fx.tensor<f32[4, 2], cpu>
  fx.output (%y,)
}

// A factor.
// CHECK-LABEL: fx.graph @factor
fx.graph @factor stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %y = aten.addmm.default %b, %d, %t, alpha = 2 : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  %y = aten.addmm.default %b, %d, %t, alpha = 2 : !fx.tensor<f32[4, 2], cpu>
  fx.output (%y,)
}

// A bias that is no vector.
// CHECK-LABEL: fx.graph @matrix
fx.graph @matrix stage(post_grad) symbols() (%x : !fx.tensor<ui8[4, 2], cpu>, %b : !fx.tensor<f32[4, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  // CHECK-NEXT: %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %y = aten.addmm.default %b, %d, %t : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[2], cpu>
  %z = fx.get_attr "z" : !fx.tensor<i64[2], cpu>
  %dw = quantized_decomposed.dequantize_per_channel.default %w, %s, %z, 0, -128, 127, i8 : !fx.tensor<f32[2, 2], cpu>
  %t = aten.permute.default %dw, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu> aliases(0)
  %d = quantized_decomposed.dequantize_per_tensor.default %x, 0.5, 3, 0, 255, ui8 : !fx.tensor<f32[4, 2], cpu>
  %y = aten.addmm.default %b, %d, %t : !fx.tensor<f32[4, 2], cpu>
  fx.output (%y,)
}

{-#
  dialect_resources: {
    fx: {
      packed.w: "0x0100000001020304",
      packed.s: "0x040000000000003F0000803F",
      packed.z: "0x0800000000000000000000000000000000000000",
      rows.w: "0x0100000001020304",
      rows.s: "0x040000000000003F0000803F",
      rows.z: "0x0800000000000000000000000000000000000000",
      batches.w: "0x0100000001020304",
      batches.s: "0x040000000000003F0000803F",
      batches.z: "0x0800000000000000000000000000000000000000",
      computed.w: "0x0100000001020304",
      computed.s: "0x040000000000003F0000803F",
      computed.z: "0x0800000000000000000000000000000000000000",
      not_turned.w: "0x0100000001020304",
      not_turned.s: "0x040000000000003F0000803F",
      not_turned.z: "0x0800000000000000000000000000000000000000",
      factor.w: "0x0100000001020304",
      factor.s: "0x040000000000003F0000803F",
      factor.z: "0x0800000000000000000000000000000000000000",
      matrix.w: "0x0100000001020304",
      matrix.s: "0x040000000000003F0000803F",
      matrix.z: "0x0800000000000000000000000000000000000000"
    }
  }
#-}
