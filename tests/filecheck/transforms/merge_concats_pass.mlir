// RUN: xductor-opt %s -p merge_concats_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %cat_1 = pyfn.torch.cat [%l_x_, %add, %l_x_], 1 : !fx.tensor<f32[4, 18], cpu>
  // CHECK-NEXT: %exp = method.exp %cat_1 : !fx.tensor<f32[4, 18], cpu>
  // CHECK-NEXT: fx.output (%exp,)
  %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  %cat = pyfn.torch.cat [%l_x_, %add], 1 : !fx.tensor<f32[4, 12], cpu>
  %cat_1 = pyfn.torch.cat [%cat, %l_x_], -1 : !fx.tensor<f32[4, 18], cpu>
  %exp = method.exp %cat_1 : !fx.tensor<f32[4, 18], cpu>
  fx.output (%exp,)
}

// Another dim, a cat with another reader, a cast.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %cat = pyfn.torch.cat [%l_x_, %l_x_], 0 : !fx.tensor<f32[8, 6], cpu>
  // CHECK-NEXT: %cat_1 = pyfn.torch.cat [%l_x_, %l_x_], 0 : !fx.tensor<f32[8, 6], cpu>
  // CHECK-NEXT: %cat_2 = pyfn.torch.cat [%cat, %cat_1], 1 : !fx.tensor<f32[8, 12], cpu>
  // CHECK-NEXT: %exp = method.exp %cat_2 : !fx.tensor<f32[8, 12], cpu>
  // CHECK-NEXT: %cat_3 = pyfn.torch.cat [%l_x_, %l_x_] : !fx.tensor<f32[8, 6], cpu>
  // CHECK-NEXT: %cat_4 = pyfn.torch.cat [%cat_3, %l_x_] : !fx.tensor<f32[12, 6], cpu>
  // CHECK-NEXT: %exp_1 = method.exp %cat_4 : !fx.tensor<f32[12, 6], cpu>
  // CHECK-NEXT: %sum_1 = method.sum %cat_3 : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %add = pyfn._operator.add %exp_1, %sum_1 : !fx.tensor<f32[12, 6], cpu>
  // CHECK-NEXT: %cat_5 = pyfn.torch.cat [%l_x_, %l_x_] : !fx.tensor<f32[8, 6], cpu>
  // CHECK-NEXT: %double = method.double %l_x_ : !fx.tensor<f64[4, 6], cpu>
  // CHECK-NEXT: %cat_6 = pyfn.torch.cat [%cat_5, %double] : !fx.tensor<f64[12, 6], cpu>
  // CHECK-NEXT: %exp_2 = method.exp %cat_6 : !fx.tensor<f64[12, 6], cpu>
  // CHECK-NEXT: fx.output (%exp, %add, %exp_2)
  %cat = pyfn.torch.cat [%l_x_, %l_x_], 0 : !fx.tensor<f32[8, 6], cpu>
  %cat_1 = pyfn.torch.cat [%l_x_, %l_x_], 0 : !fx.tensor<f32[8, 6], cpu>
  %cat_2 = pyfn.torch.cat [%cat, %cat_1], 1 : !fx.tensor<f32[8, 12], cpu>
  %exp = method.exp %cat_2 : !fx.tensor<f32[8, 12], cpu>
  %cat_3 = pyfn.torch.cat [%l_x_, %l_x_] : !fx.tensor<f32[8, 6], cpu>
  %cat_4 = pyfn.torch.cat [%cat_3, %l_x_] : !fx.tensor<f32[12, 6], cpu>
  %exp_1 = method.exp %cat_4 : !fx.tensor<f32[12, 6], cpu>
  %sum_1 = method.sum %cat_3 : !fx.tensor<f32[], cpu>
  %add = pyfn._operator.add %exp_1, %sum_1 : !fx.tensor<f32[12, 6], cpu>
  %cat_5 = pyfn.torch.cat [%l_x_, %l_x_] : !fx.tensor<f32[8, 6], cpu>
  %double = method.double %l_x_ : !fx.tensor<f64[4, 6], cpu>
  %cat_6 = pyfn.torch.cat [%cat_5, %double] : !fx.tensor<f64[12, 6], cpu>
  %exp_2 = method.exp %cat_6 : !fx.tensor<f64[12, 6], cpu>
  fx.output (%exp, %add, %exp_2)
}
