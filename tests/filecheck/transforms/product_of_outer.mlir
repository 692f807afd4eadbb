// RUN: xductor-opt %s -p 'product_of_outer{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%u_1 : !fx.tensor<f32[3], cpu>, %v_1 : !fx.tensor<f32[4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>) {
  // CHECK-NEXT: %view = aten.view.default %u_1, [3, 1] : !fx.tensor<f32[3, 1], cpu>
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %v_1, 0 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %unsqueeze, %b_1 : !fx.tensor<f32[1, 5], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %view, %mm : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%mul,)
  %view = aten.view.default %u_1, [3, 1] : !fx.tensor<f32[3, 1], cpu>
  %mul = aten.mul.Tensor %view, %v_1 : !fx.tensor<f32[3, 4], cpu>
  %mm = aten.mm.default %mul, %b_1 : !fx.tensor<f32[3, 5], cpu>
  fx.output (%mm,)
}

// An outer product that is read elsewhere; rows that are scaled.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%u_1 : !fx.tensor<f32[3], cpu>, %v_1 : !fx.tensor<f32[4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>, %c_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %view = aten.view.default %u_1, [3, 1] : !fx.tensor<f32[3, 1], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %view, %v_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %mul, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %c_1, %v_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %mul_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%mul, %mm, %mm_1)
  %view = aten.view.default %u_1, [3, 1] : !fx.tensor<f32[3, 1], cpu>
  %mul = aten.mul.Tensor %view, %v_1 : !fx.tensor<f32[3, 4], cpu>
  %mm = aten.mm.default %mul, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %mul_1 = aten.mul.Tensor %c_1, %v_1 : !fx.tensor<f32[3, 4], cpu>
  %mm_1 = aten.mm.default %mul_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  fx.output (%mul, %mm, %mm_1)
}
