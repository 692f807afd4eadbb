// RUN: xductor-opt %s -p 'sum_of_product{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>) {
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %a_1, [0] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %sum_3 = aten.sum.dim_IntList %b_1, [1] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %sum, %sum_3 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.default %mul : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %sum_4 = aten.sum.dim_IntList %b_1, [1] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %a_1, %sum_4 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum_2 = aten.sum.dim_IntList %mul_1, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %sum_5 = aten.sum.dim_IntList %a_1, [0], true : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %sum_5, %b_1 : !fx.tensor<f32[1, 5], cpu>
  // CHECK-NEXT: %squeeze = aten.squeeze.dim %mm, 0 : !fx.tensor<f32[5], cpu>
  // CHECK-NEXT: %mean = aten.mean.dim %b_1, [1] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %a_1, %mean : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum_6 = aten.sum.dim_IntList %mul_2, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%sum_1, %sum_2, %squeeze, %sum_6)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %sum_1 = aten.sum.default %mm : !fx.tensor<f32[], cpu>
  %mm_1 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %sum_2 = aten.sum.dim_IntList %mm_1, [1] : !fx.tensor<f32[3], cpu>
  %mm_2 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %sum_3 = aten.sum.dim_IntList %mm_2, [0] : !fx.tensor<f32[5], cpu>
  %mm_3 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %mean = aten.mean.dim %mm_3, [1] : !fx.tensor<f32[3], cpu>
  fx.output (%sum_1, %sum_2, %sum_3, %mean)
}

// A product that is read elsewhere; a kept dim; a sum of nothing; 16-bit floats.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>, %c_1 : !fx.tensor<f32[4, 0], cpu>, %d_1 : !fx.tensor<bf16[2, 2], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mm, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %sum_2 = aten.sum.dim_IntList %mm_1, [1], true : !fx.tensor<f32[3, 1], cpu>
  // CHECK-NEXT: %mm_2 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 0], cpu>
  // CHECK-NEXT: %sum_3 = aten.sum.dim_IntList %mm_2, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %convert_element_type_1 = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %mm_3 = aten.mm.default %d_1, %d_1 : !fx.tensor<bf16[2, 2], cpu>
  // CHECK-NEXT: %sum_4 = aten.sum.default %mm_3 : !fx.tensor<bf16[], cpu>
  // CHECK-NEXT: fx.output (%mm, %sum_1, %sum_2, %sum_3, %sum_4)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %sum_1 = aten.sum.dim_IntList %mm, [1] : !fx.tensor<f32[3], cpu>
  %mm_1 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %sum_2 = aten.sum.dim_IntList %mm_1, [1], true : !fx.tensor<f32[3, 1], cpu>
  %mm_2 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 0], cpu>
  %sum_3 = aten.sum.dim_IntList %mm_2, [1] : !fx.tensor<f32[3], cpu>
  %convert_element_type = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  %convert_element_type_1 = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  %mm_3 = aten.mm.default %d_1, %d_1 : !fx.tensor<bf16[2, 2], cpu>
  %sum_4 = aten.sum.default %mm_3 : !fx.tensor<bf16[], cpu>
  fx.output (%mm, %sum_1, %sum_2, %sum_3, %sum_4)
}
