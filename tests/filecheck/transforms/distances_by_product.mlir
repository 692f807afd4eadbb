// RUN: xductor-opt %s -p 'distances_by_product{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>, %y_1 : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %mul = aten.mul.Tensor %x_1, %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul, [1], true : !fx.tensor<f32[3, 1], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %y_1, %y_1 : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mul_1, [1] : !fx.tensor<f32[5], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %sum, %sum_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %permute = aten.permute.default %y_1, [1, 0] : !fx.tensor<f32[4, 5][1, 4], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %x_1, %permute : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %mm, -2 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %add_1 = aten.add.Tensor %add, %mul_2 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %clamp_min = aten.clamp_min.default %add_1, 0 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%clamp_min,)
  %unsqueeze = aten.unsqueeze.default %x_1, 1 : !fx.tensor<f32[3, 1, 4], cpu>
  %unsqueeze_1 = aten.unsqueeze.default %y_1, 0 : !fx.tensor<f32[1, 5, 4], cpu>
  %sub = aten.sub.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[3, 5, 4], cpu>
  %pow_1 = aten.pow.Tensor_Scalar %sub, 2 : !fx.tensor<f32[3, 5, 4], cpu>
  %sum_1 = aten.sum.dim_IntList %pow_1, [-1] : !fx.tensor<f32[3, 5], cpu>
  fx.output (%sum_1,)
}

// Another dim; another power.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>, %y_1 : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %x_1, 1 : !fx.tensor<f32[3, 1, 4], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %y_1, 0 : !fx.tensor<f32[1, 5, 4], cpu>
  // CHECK-NEXT: %sub = aten.sub.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[3, 5, 4], cpu>
  // CHECK-NEXT: %pow_1 = aten.pow.Tensor_Scalar %sub, 2 : !fx.tensor<f32[3, 5, 4], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %pow_1, [1] : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %x_1, 1 : !fx.tensor<f32[3, 1, 4], cpu>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %y_1, 0 : !fx.tensor<f32[1, 5, 4], cpu>
  // CHECK-NEXT: %sub_1 = aten.sub.Tensor %unsqueeze_2, %unsqueeze_3 : !fx.tensor<f32[3, 5, 4], cpu>
  // CHECK-NEXT: %pow_2 = aten.pow.Tensor_Scalar %sub_1, 3 : !fx.tensor<f32[3, 5, 4], cpu>
  // CHECK-NEXT: %sum_2 = aten.sum.dim_IntList %pow_2, [-1] : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%sum_1, %sum_2)
  %unsqueeze = aten.unsqueeze.default %x_1, 1 : !fx.tensor<f32[3, 1, 4], cpu>
  %unsqueeze_1 = aten.unsqueeze.default %y_1, 0 : !fx.tensor<f32[1, 5, 4], cpu>
  %sub = aten.sub.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[3, 5, 4], cpu>
  %pow_1 = aten.pow.Tensor_Scalar %sub, 2 : !fx.tensor<f32[3, 5, 4], cpu>
  %sum_1 = aten.sum.dim_IntList %pow_1, [1] : !fx.tensor<f32[3, 4], cpu>
  %unsqueeze_2 = aten.unsqueeze.default %x_1, 1 : !fx.tensor<f32[3, 1, 4], cpu>
  %unsqueeze_3 = aten.unsqueeze.default %y_1, 0 : !fx.tensor<f32[1, 5, 4], cpu>
  %sub_1 = aten.sub.Tensor %unsqueeze_2, %unsqueeze_3 : !fx.tensor<f32[3, 5, 4], cpu>
  %pow_2 = aten.pow.Tensor_Scalar %sub_1, 3 : !fx.tensor<f32[3, 5, 4], cpu>
  %sum_2 = aten.sum.dim_IntList %pow_2, [-1] : !fx.tensor<f32[3, 5], cpu>
  fx.output (%sum_1, %sum_2)
}
