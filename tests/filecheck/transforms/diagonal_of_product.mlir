// RUN: xductor-opt %s -p diagonal_of_product | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 3], cpu>) {
  // CHECK-NEXT: %permute = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[3, 4][1, 3], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %a_1, %permute : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%sum,)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 3], cpu>
  %diagonal = aten.diagonal.default %mm : !fx.tensor<f32[3][4], cpu>
  %clone = aten.clone.default %diagonal, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3], cpu>
  fx.output (%clone,)
}

// The trace is the sum of the diagonal.
// CHECK-LABEL: fx.graph @trace
fx.graph @trace stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 3], cpu>) {
  // CHECK-NEXT: %permute = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[3, 4][1, 3], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %a_1, %permute : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.default %sum : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: fx.output (%sum_1,)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 3], cpu>
  %diagonal = aten.diagonal.default %mm : !fx.tensor<f32[3][4], cpu>
  %clone = aten.clone.default %diagonal, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3], cpu>
  %sum_1 = aten.sum.default %clone : !fx.tensor<f32[], cpu>
  fx.output (%sum_1,)
}

// A product that is read elsewhere; another diagonal; a product that is not square; 16-bit floats.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 3], cpu>, %c_1 : !fx.tensor<f32[4, 5], cpu>, %d_1 : !fx.tensor<bf16[2, 2], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %diagonal = aten.diagonal.default %mm : !fx.tensor<f32[3][4], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %diagonal, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %diagonal_1 = aten.diagonal.default %mm_1, 1 : !fx.tensor<f32[2][4], cpu, offset 1>
  // CHECK-NEXT: %clone_1 = aten.clone.default %diagonal_1, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %mm_2 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %diagonal_2 = aten.diagonal.default %mm_2 : !fx.tensor<f32[3][6], cpu>
  // CHECK-NEXT: %clone_2 = aten.clone.default %diagonal_2, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %convert_element_type_1 = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %mm_3 = aten.mm.default %d_1, %d_1 : !fx.tensor<bf16[2, 2], cpu>
  // CHECK-NEXT: %diagonal_3 = aten.diagonal.default %mm_3 : !fx.tensor<bf16[2][3], cpu>
  // CHECK-NEXT: %clone_3 = aten.clone.default %diagonal_3, memory_format = memory_format<contiguous_format> : !fx.tensor<bf16[2], cpu>
  // CHECK-NEXT: fx.output (%mm, %clone, %clone_1, %clone_2, %clone_3)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 3], cpu>
  %diagonal = aten.diagonal.default %mm : !fx.tensor<f32[3][4], cpu>
  %clone = aten.clone.default %diagonal, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3], cpu>
  %mm_1 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 3], cpu>
  %diagonal_1 = aten.diagonal.default %mm_1, 1 : !fx.tensor<f32[2][4], cpu, offset 1>
  %clone_1 = aten.clone.default %diagonal_1, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[2], cpu>
  %mm_2 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 5], cpu>
  %diagonal_2 = aten.diagonal.default %mm_2 : !fx.tensor<f32[3][6], cpu>
  %clone_2 = aten.clone.default %diagonal_2, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3], cpu>
  %convert_element_type = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  %convert_element_type_1 = prims.convert_element_type.default %d_1, f32 : !fx.tensor<f32[2, 2], cpu>
  %mm_3 = aten.mm.default %d_1, %d_1 : !fx.tensor<bf16[2, 2], cpu>
  %diagonal_3 = aten.diagonal.default %mm_3 : !fx.tensor<bf16[2][3], cpu>
  %clone_3 = aten.clone.default %diagonal_3, memory_format = memory_format<contiguous_format> : !fx.tensor<bf16[2], cpu>
  fx.output (%mm, %clone, %clone_1, %clone_2, %clone_3)
}
