// RUN: xductor-opt %s -p unnecessary_dtype_convert | filecheck %s

// CHECK-LABEL: fx.graph @same
fx.graph @same stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<bf16[s0, 2], cpu>) {
  // CHECK-NEXT: %y = aten.exp.default %x : !fx.tensor<bf16[s0, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %cast = prims.convert_element_type.default %x, bf16 : !fx.tensor<bf16[s0, 2], cpu>
  %y = aten.exp.default %cast : !fx.tensor<bf16[s0, 2], cpu>
  fx.output (%y,)
}

// CHECK-LABEL: fx.graph @other
fx.graph @other stage(post_grad) symbols() (%x : !fx.tensor<bf16[2, 2], cpu>) {
  // CHECK-NEXT: %cast = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.exp.default %cast : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %cast = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[2, 2], cpu>
  %y = aten.exp.default %cast : !fx.tensor<f32[2, 2], cpu>
  fx.output (%y,)
}

// The cast is a copy, to which the caller may write.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %cast = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%cast,)
  %cast = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[2, 2], cpu>
  fx.output (%cast,)
}

// The cast has other strides, which a view needs.
// CHECK-LABEL: fx.graph @strides
fx.graph @strides stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2][4, 1], cpu>) {
  // CHECK-NEXT: %cast = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.view.default %cast, [4] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %z = aten.exp.default %y : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %cast = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[2, 2], cpu>
  %y = aten.view.default %cast, [4] : !fx.tensor<f32[4], cpu>
  %z = aten.exp.default %y : !fx.tensor<f32[4], cpu>
  fx.output (%z,)
}
