// RUN: xductor-opt %s -p 'reassociate_product{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%a_1 : !fx.tensor<f32[8, 4], cpu>, %b_1 : !fx.tensor<f32[4, 6], cpu>, %c_1 : !fx.tensor<f32[6, 1], cpu>, %v_1 : !fx.tensor<f32[6], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %b_1, %c_1 : !fx.tensor<f32[4, 1], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %a_1, %mm : !fx.tensor<f32[8, 1], cpu>
  // CHECK-NEXT: %permute = aten.permute.default %c_1, [1, 0] : !fx.tensor<f32[1, 6][1, 1], cpu>
  // CHECK-NEXT: %permute_1 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[6, 4][1, 6], cpu>
  // CHECK-NEXT: %permute_2 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 8][1, 4], cpu>
  // CHECK-NEXT: %mm_2 = aten.mm.default %permute, %permute_1 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %mm_3 = aten.mm.default %mm_2, %permute_2 : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %b_1, %v_1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul, [1] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %a_1, %sum : !fx.tensor<f32[8, 4], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mul_1, [1] : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: fx.output (%mm_1, %mm_3, %sum_1)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[8, 6], cpu>
  %mm_1 = aten.mm.default %mm, %c_1 : !fx.tensor<f32[8, 1], cpu>
  %permute = aten.permute.default %c_1, [1, 0] : !fx.tensor<f32[1, 6][1, 1], cpu>
  %permute_1 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[6, 4][1, 6], cpu>
  %permute_2 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 8][1, 4], cpu>
  %mm_2 = aten.mm.default %permute_1, %permute_2 : !fx.tensor<f32[6, 8], cpu>
  %mm_3 = aten.mm.default %permute, %mm_2 : !fx.tensor<f32[1, 8], cpu>
  %mm_4 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[8, 6], cpu>
  %mul = aten.mul.Tensor %mm_4, %v_1 : !fx.tensor<f32[8, 6], cpu>
  %sum_1 = aten.sum.dim_IntList %mul, [1] : !fx.tensor<f32[8], cpu>
  fx.output (%mm_1, %mm_3, %sum_1)
}

// A product that is read elsewhere; orders that are the cheaper ones already.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%a_1 : !fx.tensor<f32[8, 4], cpu>, %b_1 : !fx.tensor<f32[4, 6], cpu>, %c_1 : !fx.tensor<f32[6, 1], cpu>, %d_1 : !fx.tensor<f32[6, 60], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[8, 6], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %mm, %c_1 : !fx.tensor<f32[8, 1], cpu>
  // CHECK-NEXT: %permute = aten.permute.default %c_1, [1, 0] : !fx.tensor<f32[1, 6][1, 1], cpu>
  // CHECK-NEXT: %permute_1 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[6, 4][1, 6], cpu>
  // CHECK-NEXT: %mm_2 = aten.mm.default %permute, %permute_1 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %permute_2 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 8][1, 4], cpu>
  // CHECK-NEXT: %mm_3 = aten.mm.default %mm_2, %permute_2 : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %mm_4 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[8, 6], cpu>
  // CHECK-NEXT: %mm_5 = aten.mm.default %mm_4, %d_1 : !fx.tensor<f32[8, 60], cpu>
  // CHECK-NEXT: fx.output (%mm, %mm_1, %mm_3, %mm_5)
  %mm = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[8, 6], cpu>
  %mm_1 = aten.mm.default %mm, %c_1 : !fx.tensor<f32[8, 1], cpu>
  %permute = aten.permute.default %c_1, [1, 0] : !fx.tensor<f32[1, 6][1, 1], cpu>
  %permute_1 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[6, 4][1, 6], cpu>
  %mm_2 = aten.mm.default %permute, %permute_1 : !fx.tensor<f32[1, 4], cpu>
  %permute_2 = aten.permute.default %a_1, [1, 0] : !fx.tensor<f32[4, 8][1, 4], cpu>
  %mm_3 = aten.mm.default %mm_2, %permute_2 : !fx.tensor<f32[1, 8], cpu>
  %mm_4 = aten.mm.default %a_1, %b_1 : !fx.tensor<f32[8, 6], cpu>
  %mm_5 = aten.mm.default %mm_4, %d_1 : !fx.tensor<f32[8, 60], cpu>
  fx.output (%mm, %mm_1, %mm_3, %mm_5)
}
