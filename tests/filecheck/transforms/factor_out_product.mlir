// RUN: xductor-opt %s -p 'factor_out_product{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>, %c_1 : !fx.tensor<f32[4, 5], cpu>, %d_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %add = aten.add.Tensor %b_1, %c_1 : !fx.tensor<f32[4, 5], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %a_1, %add : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %add_1 = aten.add.Tensor %a_1, %d_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %add_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%mm, %mm_1)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %mm_1 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 5], cpu>
  %add = aten.add.Tensor %mm, %mm_1 : !fx.tensor<f32[3, 5], cpu>
  %mm_2 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %mm_3 = aten.mm.default %d_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %add_1 = aten.add.Tensor %mm_2, %mm_3 : !fx.tensor<f32[3, 5], cpu>
  fx.output (%add, %add_1)
}

// A product that is read elsewhere; no factor in common; a factor of the sum; sums of other sizes.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%a_1 : !fx.tensor<f32[3, 4], cpu>, %b_1 : !fx.tensor<f32[4, 5], cpu>, %c_1 : !fx.tensor<f32[4, 5], cpu>, %d_1 : !fx.tensor<f32[2, 5], cpu>, %e_1 : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %mm, %mm_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mm_2 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mm_3 = aten.mm.default %e_1, %d_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %add_1 = aten.add.Tensor %mm_2, %mm_3 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mm_4 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mm_5 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %add_2 = aten.add.Tensor %mm_4, %mm_5, alpha = 2 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %mm_6 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %a_1, 0, 0, 1 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %mm_7 = aten.mm.default %slice_1, %b_1 : !fx.tensor<f32[1, 5], cpu>
  // CHECK-NEXT: %add_3 = aten.add.Tensor %mm_6, %mm_7 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%mm, %add, %add_1, %add_2, %add_3)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %mm_1 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 5], cpu>
  %add = aten.add.Tensor %mm, %mm_1 : !fx.tensor<f32[3, 5], cpu>
  %mm_2 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %mm_3 = aten.mm.default %e_1, %d_1 : !fx.tensor<f32[3, 5], cpu>
  %add_1 = aten.add.Tensor %mm_2, %mm_3 : !fx.tensor<f32[3, 5], cpu>
  %mm_4 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %mm_5 = aten.mm.default %a_1, %c_1 : !fx.tensor<f32[3, 5], cpu>
  %add_2 = aten.add.Tensor %mm_4, %mm_5, alpha = 2 : !fx.tensor<f32[3, 5], cpu>
  %mm_6 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[3, 5], cpu>
  %slice_1 = aten.slice.Tensor %a_1, 0, 0, 1 : !fx.tensor<f32[1, 4], cpu>
  %mm_7 = aten.mm.default %slice_1, %b_1 : !fx.tensor<f32[1, 5], cpu>
  %add_3 = aten.add.Tensor %mm_6, %mm_7 : !fx.tensor<f32[3, 5], cpu>
  fx.output (%mm, %add, %add_1, %add_2, %add_3)
}
