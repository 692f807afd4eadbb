// RUN: xductor-opt %s -p 'sum_of_cumsum{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %iota = prims.iota.default 3, start = 3, step = -1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %iota, 1 : !fx.tensor<i64[3, 1], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x_1, %unsqueeze : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mul, [0] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%sum_1,)
  %cumsum = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  %sum_1 = aten.sum.dim_IntList %cumsum, [0] : !fx.tensor<f32[4], cpu>
  fx.output (%sum_1,)
}

// Another dim; a running sum that is read elsewhere.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %cumsum = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %cumsum, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %cumsum_1 = aten.cumsum.default %x_1, 1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum_2 = aten.sum.dim_IntList %cumsum_1, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %cumsum_2 = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum_3 = aten.sum.dim_IntList %cumsum_2, [0] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%sum_1, %sum_2, %cumsum_2, %sum_3)
  %cumsum = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  %sum_1 = aten.sum.dim_IntList %cumsum, [1] : !fx.tensor<f32[3], cpu>
  %cumsum_1 = aten.cumsum.default %x_1, 1 : !fx.tensor<f32[3, 4], cpu>
  %sum_2 = aten.sum.dim_IntList %cumsum_1, [1] : !fx.tensor<f32[3], cpu>
  %cumsum_2 = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  %sum_3 = aten.sum.dim_IntList %cumsum_2, [0] : !fx.tensor<f32[4], cpu>
  fx.output (%sum_1, %sum_2, %cumsum_2, %sum_3)
}
