// RUN: xductor-opt %s -p decompose_addmm | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cpu>, %a : !fx.tensor<f32[1, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %y : !fx.tensor<f16[1], cpu>, %c : !fx.tensor<f16[1, 4], cpu>, %d : !fx.tensor<f16[4, 8], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %a, 2 : !fx.tensor<f32[1, 4, 1], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %b, 0 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul, [1] : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %sum, %x : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %c, f32 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %convert_element_type, 2 : !fx.tensor<f32[1, 4, 1], cpu>
  // CHECK-NEXT: %convert_element_type_1 = prims.convert_element_type.default %d, f32 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %convert_element_type_1, 0 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %unsqueeze_2, %unsqueeze_3 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mul_1, [1] : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %sum_1, 3 : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %convert_element_type_2 = prims.convert_element_type.default %y, f32 : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %add_1 = aten.add.Tensor %mul_2, %convert_element_type_2, alpha = 0.5 : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %convert_element_type_3 = prims.convert_element_type.default %add_1, f16 : !fx.tensor<f16[1, 8], cpu>
  // CHECK-NEXT: %unsqueeze_4 = aten.unsqueeze.default %a, 2 : !fx.tensor<f32[1, 4, 1], cpu>
  // CHECK-NEXT: %unsqueeze_5 = aten.unsqueeze.default %b, 0 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %mul_3 = aten.mul.Tensor %unsqueeze_4, %unsqueeze_5 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %sum_2 = aten.sum.dim_IntList %mul_3, [1] : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: fx.output (%add, %convert_element_type_3, %sum_2)
  %m = aten.addmm.default %x, %a, %b : !fx.tensor<f32[1, 8], cpu>
  %n = aten.addmm.default %y, %c, %d, beta = 0.5, alpha = 3 : !fx.tensor<f16[1, 8], cpu>
  %o = aten.addmm.default %x, %a, %b, beta = 0 : !fx.tensor<f32[1, 8], cpu>
  fx.output (%m, %n, %o)
}

// A factor that may be nothing; too many rows.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cpu>, %a : !fx.tensor<f32[1, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %c : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %m = aten.addmm.default %x, %a, %b, alpha = 0 : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %n = aten.addmm.default %x, %a, %b, beta = 1e-40 : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %o = aten.addmm.default %x, %c, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%m, %n, %o)
  %m = aten.addmm.default %x, %a, %b, alpha = 0 : !fx.tensor<f32[1, 8], cpu>
  %n = aten.addmm.default %x, %a, %b, beta = 1e-40 : !fx.tensor<f32[1, 8], cpu>
  %o = aten.addmm.default %x, %c, %b : !fx.tensor<f32[2, 8], cpu>
  fx.output (%m, %n, %o)
}
