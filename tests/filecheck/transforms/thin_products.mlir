// RUN: xductor-opt %s -p thin_products | filecheck %s

// Columns times rows, and the experts of each token, as they are and transposed.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%c : !fx.tensor<bf16[8, 4, 1], cuda:0>, %r : !fx.tensor<bf16[8, 1, 3], cuda:0>, %x : !fx.tensor<bf16[2, 4, 5], cuda:0>, %i : !fx.tensor<i64[8], cuda:0>, %v : !fx.tensor<bf16[8, 5, 1], cuda:0>, %w : !fx.tensor<bf16[8, 4, 1], cuda:0>) {
  // CHECK-NEXT: %mul = aten.mul.Tensor %c, %r : !fx.tensor<bf16[8, 4, 3], cuda:0>
  // CHECK-NEXT: %g = aten.index.Tensor %x, [%i] : !fx.tensor<bf16[8, 4, 5], cuda:0>
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %g, f32 : !fx.tensor<f32[8, 4, 5], cuda:0>
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %convert_element_type, 3 : !fx.tensor<f32[8, 4, 5, 1], cuda:0>
  // CHECK-NEXT: %convert_element_type_1 = prims.convert_element_type.default %v, f32 : !fx.tensor<f32[8, 5, 1], cuda:0>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %convert_element_type_1, 1 : !fx.tensor<f32[8, 1, 5, 1], cuda:0>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[8, 4, 5, 1], cuda:0>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul_1, [2] : !fx.tensor<f32[8, 4, 1], cuda:0>
  // CHECK-NEXT: %convert_element_type_2 = prims.convert_element_type.default %sum, bf16 : !fx.tensor<bf16[8, 4, 1], cuda:0>
  // CHECK-NEXT: %permute = aten.permute.default %g, [0, 2, 1] : !fx.tensor<bf16[8, 5, 4][20, 1, 5], cuda:0>
  // CHECK-NEXT: %convert_element_type_3 = prims.convert_element_type.default %permute, f32 : !fx.tensor<f32[8, 5, 4][20, 1, 5], cuda:0>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %convert_element_type_3, 3 : !fx.tensor<f32[8, 5, 4, 1][20, 1, 5, 1], cuda:0>
  // CHECK-NEXT: %convert_element_type_4 = prims.convert_element_type.default %w, f32 : !fx.tensor<f32[8, 4, 1], cuda:0>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %convert_element_type_4, 1 : !fx.tensor<f32[8, 1, 4, 1], cuda:0>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %unsqueeze_2, %unsqueeze_3 : !fx.tensor<f32[8, 5, 4, 1][20, 1, 5, 1], cuda:0>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mul_2, [2] : !fx.tensor<f32[8, 5, 1], cuda:0>
  // CHECK-NEXT: %convert_element_type_5 = prims.convert_element_type.default %sum_1, bf16 : !fx.tensor<bf16[8, 5, 1], cuda:0>
  // CHECK-NEXT: fx.output (%mul, %convert_element_type_2, %convert_element_type_5)
  %a = aten.bmm.default %c, %r : !fx.tensor<bf16[8, 4, 3], cuda:0>
  %g = aten.index.Tensor %x, [%i] : !fx.tensor<bf16[8, 4, 5], cuda:0>
  %b = aten.bmm.default %g, %v : !fx.tensor<bf16[8, 4, 1], cuda:0>
  %t = aten.permute.default %g, [0, 2, 1] : !fx.tensor<bf16[8, 5, 4][20, 1, 5], cuda:0>
  %d = aten.bmm.default %t, %w : !fx.tensor<bf16[8, 5, 1], cuda:0>
  fx.output (%a, %b, %d)
}

// More than one term; more than one column; a matrix that was not gathered; a CPU.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%c : !fx.tensor<bf16[8, 4, 2], cuda:0>, %r : !fx.tensor<bf16[8, 2, 3], cuda:0>, %x : !fx.tensor<bf16[2, 4, 5], cuda:0>, %i : !fx.tensor<i64[8], cuda:0>, %v : !fx.tensor<bf16[8, 5, 2], cuda:0>, %m : !fx.tensor<bf16[8, 4, 5], cuda:0>, %u : !fx.tensor<bf16[8, 5, 1], cuda:0>, %e : !fx.tensor<f32[8, 4, 1], cpu>, %f : !fx.tensor<f32[8, 1, 3], cpu>) {
  // CHECK-NEXT: %a = aten.bmm.default %c, %r : !fx.tensor<bf16[8, 4, 3], cuda:0>
  // CHECK-NEXT: %g = aten.index.Tensor %x, [%i] : !fx.tensor<bf16[8, 4, 5], cuda:0>
  // CHECK-NEXT: %b = aten.bmm.default %g, %v : !fx.tensor<bf16[8, 4, 2], cuda:0>
  // CHECK-NEXT: %d = aten.bmm.default %m, %u : !fx.tensor<bf16[8, 4, 1], cuda:0>
  // CHECK-NEXT: %h = aten.bmm.default %e, %f : !fx.tensor<f32[8, 4, 3], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %d, %h)
  %a = aten.bmm.default %c, %r : !fx.tensor<bf16[8, 4, 3], cuda:0>
  %g = aten.index.Tensor %x, [%i] : !fx.tensor<bf16[8, 4, 5], cuda:0>
  %b = aten.bmm.default %g, %v : !fx.tensor<bf16[8, 4, 2], cuda:0>
  %d = aten.bmm.default %m, %u : !fx.tensor<bf16[8, 4, 1], cuda:0>
  %h = aten.bmm.default %e, %f : !fx.tensor<f32[8, 4, 3], cpu>
  fx.output (%a, %b, %d, %h)
}
