// RUN: xductor-opt %s -p smooth_quant_linear | filecheck %s

// CHECK-LABEL: fx.graph @scaled
fx.graph @scaled stage(post_grad) symbols() (%x : !fx.tensor<i8[3, 2], cpu>, %r : !fx.tensor<f32[3, 1], cpu>, %c : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<i8[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param2" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %reshape = aten.reshape.default %c, [-1] : !fx.tensor<f32[2], cpu> aliases(0)
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.default %x, 1.0, 0, %fx, %reshape, %fx_1, none, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: %e = aten.mul.Tensor %qlinear_pointwise, %r : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%e,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  %d = aten.mul.Tensor %b, %r : !fx.tensor<f32[3, 2], cpu>
  %e = aten.mul.Tensor %d, %c : !fx.tensor<f32[3, 2], cpu>
  fx.output (%e,)
}

// One number for all rows, and a bias.
// CHECK-LABEL: fx.graph @bias
fx.graph @bias stage(post_grad) symbols() (%x : !fx.tensor<i8[3, 2], cpu>, %r : !fx.tensor<f32[], cpu>, %c : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<i8[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param2" : !fx.tensor<i32[2], cpu>
  // CHECK-NEXT: %reshape = aten.reshape.default %c, [-1] : !fx.tensor<f32[2], cpu> aliases(0)
  // CHECK-NEXT: %reshape_1 = aten.reshape.default %r, [-1] : !fx.tensor<f32[1], cpu> aliases(0)
  // CHECK-NEXT: %mul = aten.mul.Tensor %reshape, %reshape_1 : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %qlinear_pointwise = onednn.qlinear_pointwise.default %x, 1.0, 0, %fx, %mul, %fx_1, %c, 1.0, 0, f32, "none", [], "" : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%qlinear_pointwise,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  %d = aten.mul.Tensor %r, %c : !fx.tensor<f32[2], cpu>
  %e = aten.mul.Tensor %b, %d : !fx.tensor<f32[3, 2], cpu>
  %f = aten.add.Tensor %e, %c : !fx.tensor<f32[3, 2], cpu>
  fx.output (%f,)
}

// Nothing scales the columns.
// CHECK-LABEL: fx.graph @rows
fx.graph @rows stage(post_grad) symbols() (%x : !fx.tensor<i8[3, 2], cpu>, %r : !fx.tensor<f32[3, 1], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  // CHECK-NEXT: %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  // CHECK-NEXT: %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: %d = aten.mul.Tensor %b, %r : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  %d = aten.mul.Tensor %b, %r : !fx.tensor<f32[3, 2], cpu>
  fx.output (%d,)
}

// The weight is no constant.
// CHECK-LABEL: fx.graph @input
fx.graph @input stage(post_grad) symbols() (%x : !fx.tensor<i8[3, 2], cpu>, %w : !fx.tensor<i8[2, 2], cpu>, %c : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  // CHECK-NEXT: %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: %d = aten.mul.Tensor %b, %c : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  %d = aten.mul.Tensor %b, %c : !fx.tensor<f32[3, 2], cpu>
  fx.output (%d,)
}

// Something else reads the product.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(post_grad) symbols() (%x : !fx.tensor<i8[3, 2], cpu>, %c : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  // CHECK-NEXT: %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  // CHECK-NEXT: %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: %d = aten.mul.Tensor %b, %c : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%d, %a)
  %w = fx.get_attr "w" : !fx.tensor<i8[2, 2], cpu>
  %a = aten._int_mm.default %x, %w : !fx.tensor<i32[3, 2], cpu>
  %b = prims.convert_element_type.default %a, f32 : !fx.tensor<f32[3, 2], cpu>
  %d = aten.mul.Tensor %b, %c : !fx.tensor<f32[3, 2], cpu>
  fx.output (%d, %a)
}

{-#
  dialect_resources: {
    fx: {
      bias.w: "0x0400000001020304",
      rows.w: "0x0400000001020304",
      scaled.w: "0x0400000001020304",
      shared.w: "0x0400000001020304"
    }
  }
#-}
