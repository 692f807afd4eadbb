// RUN: xductor-opt %s -p decompose_bmm | filecheck %s

// On a GPU two of three sizes are below the limit.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [1, 64]) (%a : !fx.tensor<f32[1, s0, 4], cpu>, %b : !fx.tensor<f32[1, 4, 8], cpu>, %c : !fx.tensor<f16[10240, 3, 100], cuda:0>, %d : !fx.tensor<f16[10240, 100, 5], cuda:0>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %a, 3 : !fx.tensor<f32[1, s0, 4, 1], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %b, 1 : !fx.tensor<f32[1, 1, 4, 8], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[1, s0, 4, 8], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul, [2] : !fx.tensor<f32[1, s0, 8], cpu>
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %c, f32 : !fx.tensor<f32[10240, 3, 100], cuda:0>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %convert_element_type, 3 : !fx.tensor<f32[10240, 3, 100, 1], cuda:0>
  // CHECK-NEXT: %convert_element_type_1 = prims.convert_element_type.default %d, f32 : !fx.tensor<f32[10240, 100, 5], cuda:0>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %convert_element_type_1, 1 : !fx.tensor<f32[10240, 1, 100, 5], cuda:0>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %unsqueeze_2, %unsqueeze_3 : !fx.tensor<f32[10240, 3, 100, 5], cuda:0>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mul_1, [2] : !fx.tensor<f32[10240, 3, 5], cuda:0>
  // CHECK-NEXT: %convert_element_type_2 = prims.convert_element_type.default %sum_1, f16 : !fx.tensor<f16[10240, 3, 5], cuda:0>
  // CHECK-NEXT: fx.output (%sum, %convert_element_type_2)
  %m = aten.bmm.default %a, %b : !fx.tensor<f32[1, s0, 8], cpu>
  %n = aten.bmm.default %c, %d : !fx.tensor<f16[10240, 3, 5], cuda:0>
  fx.output (%m, %n)
}

// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols(s0 : int positive [1, 64]) (%a : !fx.tensor<f32[2, 3, 4], cpu>, %b : !fx.tensor<f32[2, 4, 8], cpu>, %c : !fx.tensor<f32[s0, 3, 4], cpu>, %d : !fx.tensor<f32[s0, 4, 8], cpu>, %e : !fx.tensor<f16[10240, 32, 100], cuda:0>, %f : !fx.tensor<f16[10240, 100, 5], cuda:0>) {
  // CHECK-NEXT: %m = aten.bmm.default %a, %b : !fx.tensor<f32[2, 3, 8], cpu>
  // CHECK-NEXT: %n = aten.bmm.default %c, %d : !fx.tensor<f32[s0, 3, 8], cpu>
  // CHECK-NEXT: %o = aten.bmm.default %e, %f : !fx.tensor<f16[10240, 32, 5], cuda:0>
  // CHECK-NEXT: fx.output (%m, %n, %o)
  %m = aten.bmm.default %a, %b : !fx.tensor<f32[2, 3, 8], cpu>
  %n = aten.bmm.default %c, %d : !fx.tensor<f32[s0, 3, 8], cpu>
  %o = aten.bmm.default %e, %f : !fx.tensor<f16[10240, 32, 5], cuda:0>
  fx.output (%m, %n, %o)
}
