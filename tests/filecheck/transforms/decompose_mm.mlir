// RUN: xductor-opt %s -p decompose_mm | filecheck %s
// RUN: xductor-opt %s -p 'decompose_mm{cpu_max_first_dimension_decomposition=4 cpu_max_other_dimension_decomposition=8 skip_dynamic_shape_dim_check=true}' | filecheck %s --check-prefix=MORE

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%a : !fx.tensor<f32[1, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %c : !fx.tensor<bf16[1, 4], cpu>, %d : !fx.tensor<bf16[4, 8], cpu>, %e : !fx.tensor<i8[1, 4], cpu>, %f : !fx.tensor<i8[4, 8], cpu>, %g : !fx.tensor<f32[10240, 31], cuda:0>, %h : !fx.tensor<f32[31, 31], cuda:0>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %a, 2 : !fx.tensor<f32[1, 4, 1], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %b, 0 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %mul, [1] : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %c, f32 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %convert_element_type, 2 : !fx.tensor<f32[1, 4, 1], cpu>
  // CHECK-NEXT: %convert_element_type_1 = prims.convert_element_type.default %d, f32 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %convert_element_type_1, 0 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %unsqueeze_2, %unsqueeze_3 : !fx.tensor<f32[1, 4, 8], cpu>
  // CHECK-NEXT: %sum_1 = aten.sum.dim_IntList %mul_1, [1] : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %convert_element_type_2 = prims.convert_element_type.default %sum_1, bf16 : !fx.tensor<bf16[1, 8], cpu>
  // CHECK-NEXT: %unsqueeze_4 = aten.unsqueeze.default %e, 2 : !fx.tensor<i8[1, 4, 1], cpu>
  // CHECK-NEXT: %unsqueeze_5 = aten.unsqueeze.default %f, 0 : !fx.tensor<i8[1, 4, 8], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %unsqueeze_4, %unsqueeze_5 : !fx.tensor<i8[1, 4, 8], cpu>
  // CHECK-NEXT: %sum_2 = aten.sum.dim_IntList %mul_2, [1], dtype = i8 : !fx.tensor<i8[1, 8], cpu>
  // CHECK-NEXT: %unsqueeze_6 = aten.unsqueeze.default %g, 2 : !fx.tensor<f32[10240, 31, 1], cuda:0>
  // CHECK-NEXT: %unsqueeze_7 = aten.unsqueeze.default %h, 0 : !fx.tensor<f32[1, 31, 31], cuda:0>
  // CHECK-NEXT: %mul_3 = aten.mul.Tensor %unsqueeze_6, %unsqueeze_7 : !fx.tensor<f32[10240, 31, 31], cuda:0>
  // CHECK-NEXT: %sum_3 = aten.sum.dim_IntList %mul_3, [1] : !fx.tensor<f32[10240, 31], cuda:0>
  // CHECK-NEXT: fx.output (%sum, %convert_element_type_2, %sum_2, %sum_3)
  %m = aten.mm.default %a, %b : !fx.tensor<f32[1, 8], cpu>
  %n = aten.mm.default %c, %d : !fx.tensor<bf16[1, 8], cpu>
  %o = aten.mm.default %e, %f : !fx.tensor<i8[1, 8], cpu>
  %p = aten.mm.default %g, %h : !fx.tensor<f32[10240, 31], cuda:0>
  fx.output (%m, %n, %o, %p)
}

// Too many rows or columns; sizes that are not known to be few; complex numbers. With other
// thresholds: what depends on data stays.
// CHECK-LABEL: fx.graph @stays
// MORE-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols(s0 : int positive [1, 64], u0 : int unbacked [1, 64]) (%a : !fx.tensor<f32[2, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %c : !fx.tensor<f32[1, 4], cpu>, %d : !fx.tensor<f32[4, 2049], cpu>, %e : !fx.tensor<f32[s0, 4], cpu>, %f : !fx.tensor<f32[u0, 4], cpu>, %g : !fx.tensor<f32[10240, 31], cuda:0>, %h : !fx.tensor<f32[31, 32], cuda:0>, %i : !fx.tensor<f32[10239, 31], cuda:0>, %j : !fx.tensor<f32[31, 31], cuda:0>, %k : !fx.tensor<complex<f32>[1, 4], cpu>, %l : !fx.tensor<complex<f32>[4, 8], cpu>) {
  // MORE-NEXT: %unsqueeze = aten.unsqueeze.default %a, 2 : !fx.tensor<f32[2, 4, 1], cpu>
  // MORE-NEXT: %unsqueeze_1 = aten.unsqueeze.default %b, 0 : !fx.tensor<f32[1, 4, 8], cpu>
  // MORE-NEXT: %mul = aten.mul.Tensor %unsqueeze, %unsqueeze_1 : !fx.tensor<f32[2, 4, 8], cpu>
  // MORE-NEXT: %sum = aten.sum.dim_IntList %mul, [1] : !fx.tensor<f32[2, 8], cpu>
  // MORE-NEXT: %n = aten.mm.default %c, %d : !fx.tensor<f32[1, 2049], cpu>
  // MORE-NEXT: %unsqueeze_2 = aten.unsqueeze.default %e, 2 : !fx.tensor<f32[s0, 4, 1], cpu>
  // MORE-NEXT: %unsqueeze_3 = aten.unsqueeze.default %b, 0 : !fx.tensor<f32[1, 4, 8], cpu>
  // MORE-NEXT: %mul_1 = aten.mul.Tensor %unsqueeze_2, %unsqueeze_3 : !fx.tensor<f32[s0, 4, 8], cpu>
  // MORE-NEXT: %sum_1 = aten.sum.dim_IntList %mul_1, [1] : !fx.tensor<f32[s0, 8], cpu>
  // MORE-NEXT: %p = aten.mm.default %f, %b : !fx.tensor<f32[u0, 8], cpu>
  // MORE-NEXT: %q = aten.mm.default %g, %h : !fx.tensor<f32[10240, 32], cuda:0>
  // MORE-NEXT: %r = aten.mm.default %i, %j : !fx.tensor<f32[10239, 31], cuda:0>
  // MORE-NEXT: %s = aten.mm.default %k, %l : !fx.tensor<complex<f32>[1, 8], cpu>
  // MORE-NEXT: fx.output (%sum, %n, %sum_1, %p, %q, %r, %s)
  // CHECK-NEXT: %m = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %n = aten.mm.default %c, %d : !fx.tensor<f32[1, 2049], cpu>
  // CHECK-NEXT: %o = aten.mm.default %e, %b : !fx.tensor<f32[s0, 8], cpu>
  // CHECK-NEXT: %p = aten.mm.default %f, %b : !fx.tensor<f32[u0, 8], cpu>
  // CHECK-NEXT: %q = aten.mm.default %g, %h : !fx.tensor<f32[10240, 32], cuda:0>
  // CHECK-NEXT: %r = aten.mm.default %i, %j : !fx.tensor<f32[10239, 31], cuda:0>
  // CHECK-NEXT: %s = aten.mm.default %k, %l : !fx.tensor<complex<f32>[1, 8], cpu>
  // CHECK-NEXT: fx.output (%m, %n, %o, %p, %q, %r, %s)
  %m = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %n = aten.mm.default %c, %d : !fx.tensor<f32[1, 2049], cpu>
  %o = aten.mm.default %e, %b : !fx.tensor<f32[s0, 8], cpu>
  %p = aten.mm.default %f, %b : !fx.tensor<f32[u0, 8], cpu>
  %q = aten.mm.default %g, %h : !fx.tensor<f32[10240, 32], cuda:0>
  %r = aten.mm.default %i, %j : !fx.tensor<f32[10239, 31], cuda:0>
  %s = aten.mm.default %k, %l : !fx.tensor<complex<f32>[1, 8], cpu>
  fx.output (%m, %n, %o, %p, %q, %r, %s)
}
