// RUN: xductor-opt %s -p 'sum_of_expanded{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%x_1 : !fx.tensor<f32[3, 1], cpu>, %v_1 : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %squeeze = aten.squeeze.dim %x_1, 1 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %squeeze, 7 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %v_1, 7 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%mul, %mul_1)
  %expand = aten.expand.default %x_1, [3, 7] : !fx.tensor<f32[3, 7][1, 0], cpu>
  %sum_1 = aten.sum.dim_IntList %expand, [1] : !fx.tensor<f32[3], cpu>
  %expand_1 = aten.expand.default %v_1, [7, 4] : !fx.tensor<f32[7, 4][0, 1], cpu>
  %sum_2 = aten.sum.dim_IntList %expand_1, [0] : !fx.tensor<f32[4], cpu>
  fx.output (%sum_1, %sum_2)
}

// The dim that was not expanded; no times.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%x_1 : !fx.tensor<f32[3, 1], cpu>, %v_1 : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %expand = aten.expand.default %x_1, [3, 7] : !fx.tensor<f32[3, 7][1, 0], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %expand, [0] : !fx.tensor<f32[7], cpu>
  // CHECK-NEXT: %expand_1 = aten.expand.default %v_1, [7, 4] : !fx.tensor<f32[7, 4][0, 1], cpu>
  // CHECK-NEXT: %sum_2 = aten.sum.dim_IntList %expand_1, [1] : !fx.tensor<f32[7], cpu>
  // CHECK-NEXT: %expand_2 = aten.expand.default %x_1, [3, 0] : !fx.tensor<f32[3, 0][1, 0], cpu>
  // CHECK-NEXT: %sum_3 = aten.sum.dim_IntList %expand_2, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%sum_1, %sum_2, %sum_3)
  %expand = aten.expand.default %x_1, [3, 7] : !fx.tensor<f32[3, 7][1, 0], cpu>
  %sum_1 = aten.sum.dim_IntList %expand, [0] : !fx.tensor<f32[7], cpu>
  %expand_1 = aten.expand.default %v_1, [7, 4] : !fx.tensor<f32[7, 4][0, 1], cpu>
  %sum_2 = aten.sum.dim_IntList %expand_1, [1] : !fx.tensor<f32[7], cpu>
  %expand_2 = aten.expand.default %x_1, [3, 0] : !fx.tensor<f32[3, 0][1, 0], cpu>
  %sum_3 = aten.sum.dim_IntList %expand_2, [1] : !fx.tensor<f32[3], cpu>
  fx.output (%sum_1, %sum_2, %sum_3)
}
