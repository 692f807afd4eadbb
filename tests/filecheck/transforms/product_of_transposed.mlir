// RUN: xductor-opt %s -p product_of_transposed | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%mm,)
  %permute = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[5, 4][1, 5], cpu>
  %permute_1 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 3][1, 4], cpu>
  %mm = aten.mm.default %permute, %permute_1 : !fx.tensor<f32[5, 3], cpu>
  %permute_2 = aten.permute.default %mm, [1, 0] : !fx.tensor<f32[3, 5][1, 3], cpu>
  %clone = aten.clone.default %permute_2, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3, 5], cpu>
  fx.output (%clone,)
}

// A product that is read elsewhere; one factor as it is; a result that is no copy.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>, %c_1 : !fx.tensor<f32[4, 3], cpu>) {
  // CHECK-NEXT: %permute = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[5, 4][1, 5], cpu>
  // CHECK-NEXT: %permute_1 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 3][1, 4], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %permute, %permute_1 : !fx.tensor<f32[5, 3], cpu>
  // CHECK-NEXT: %permute_2 = aten.permute.default %mm, [1, 0] : !fx.tensor<f32[3, 5][1, 3], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %permute_2, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %permute_3 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[5, 4][1, 5], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %permute_3, %c_1 : !fx.tensor<f32[5, 3], cpu>
  // CHECK-NEXT: %permute_4 = aten.permute.default %mm_1, [1, 0] : !fx.tensor<f32[3, 5][1, 3], cpu>
  // CHECK-NEXT: %clone_1 = aten.clone.default %permute_4, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %permute_5 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[5, 4][1, 5], cpu>
  // CHECK-NEXT: %permute_6 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 3][1, 4], cpu>
  // CHECK-NEXT: %mm_2 = aten.mm.default %permute_5, %permute_6 : !fx.tensor<f32[5, 3], cpu>
  // CHECK-NEXT: %permute_7 = aten.permute.default %mm_2, [1, 0] : !fx.tensor<f32[3, 5][1, 3], cpu>
  // CHECK-NEXT: fx.output (%mm, %clone, %clone_1, %permute_7)
  %permute = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[5, 4][1, 5], cpu>
  %permute_1 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 3][1, 4], cpu>
  %mm = aten.mm.default %permute, %permute_1 : !fx.tensor<f32[5, 3], cpu>
  %permute_2 = aten.permute.default %mm, [1, 0] : !fx.tensor<f32[3, 5][1, 3], cpu>
  %clone = aten.clone.default %permute_2, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3, 5], cpu>
  %permute_3 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[5, 4][1, 5], cpu>
  %mm_1 = aten.mm.default %permute_3, %c_1 : !fx.tensor<f32[5, 3], cpu>
  %permute_4 = aten.permute.default %mm_1, [1, 0] : !fx.tensor<f32[3, 5][1, 3], cpu>
  %clone_1 = aten.clone.default %permute_4, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3, 5], cpu>
  %permute_5 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[5, 4][1, 5], cpu>
  %permute_6 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 3][1, 4], cpu>
  %mm_2 = aten.mm.default %permute_5, %permute_6 : !fx.tensor<f32[5, 3], cpu>
  %permute_7 = aten.permute.default %mm_2, [1, 0] : !fx.tensor<f32[3, 5][1, 3], cpu>
  fx.output (%mm, %clone, %clone_1, %permute_7)
}
