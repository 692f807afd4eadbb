// RUN: xductor-opt %s -p last_of_cumsum | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %x_1, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %sum, 1 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %x_1, [0] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %sum_1, 2 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%add, %mul)
  %cumsum = aten.cumsum.default %x_1, 1 : !fx.tensor<f32[3, 4], cpu>
  %select = aten.select.int %cumsum, 1, -1 : !fx.tensor<f32[3][4], cpu, offset 3>
  %add = aten.add.Tensor %select, 1 : !fx.tensor<f32[3], cpu>
  %cumsum_1 = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  %select_1 = aten.select.int %cumsum_1, 0, -1 : !fx.tensor<f32[4], cpu, offset 8>
  %mul = aten.mul.Tensor %select_1, 2 : !fx.tensor<f32[4], cpu>
  fx.output (%add, %mul)
}

// Another element; another dim; a running sum that is read elsewhere; integers; a result that shows where it begins in its storage.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>, %n_1 : !fx.tensor<i64[4], cpu>) {
  // CHECK-NEXT: %cumsum = aten.cumsum.default %x_1, 1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %select = aten.select.int %cumsum, 1, -2 : !fx.tensor<f32[3][4], cpu, offset 2>
  // CHECK-NEXT: %cumsum_1 = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %select_1 = aten.select.int %cumsum_1, 1, -1 : !fx.tensor<f32[3][4], cpu, offset 3>
  // CHECK-NEXT: %cumsum_2 = aten.cumsum.default %x_1, 1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %select_2 = aten.select.int %cumsum_2, 1, -1 : !fx.tensor<f32[3][4], cpu, offset 3>
  // CHECK-NEXT: %cumsum_3 = aten.cumsum.default %n_1, 0 : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %select_3 = aten.select.int %cumsum_3, 0, -1 : !fx.tensor<i64[], cpu, offset 3>
  // CHECK-NEXT: %cumsum_4 = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %select_4 = aten.select.int %cumsum_4, 0, -1 : !fx.tensor<f32[4], cpu, offset 8>
  // CHECK-NEXT: fx.output (%select, %select_1, %cumsum_2, %select_2, %select_3, %select_4)
  %cumsum = aten.cumsum.default %x_1, 1 : !fx.tensor<f32[3, 4], cpu>
  %select = aten.select.int %cumsum, 1, -2 : !fx.tensor<f32[3][4], cpu, offset 2>
  %cumsum_1 = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  %select_1 = aten.select.int %cumsum_1, 1, -1 : !fx.tensor<f32[3][4], cpu, offset 3>
  %cumsum_2 = aten.cumsum.default %x_1, 1 : !fx.tensor<f32[3, 4], cpu>
  %select_2 = aten.select.int %cumsum_2, 1, -1 : !fx.tensor<f32[3][4], cpu, offset 3>
  %cumsum_3 = aten.cumsum.default %n_1, 0 : !fx.tensor<i64[4], cpu>
  %select_3 = aten.select.int %cumsum_3, 0, -1 : !fx.tensor<i64[], cpu, offset 3>
  %cumsum_4 = aten.cumsum.default %x_1, 0 : !fx.tensor<f32[3, 4], cpu>
  %select_4 = aten.select.int %cumsum_4, 0, -1 : !fx.tensor<f32[4], cpu, offset 8>
  fx.output (%select, %select_1, %cumsum_2, %select_2, %select_3, %select_4)
}
