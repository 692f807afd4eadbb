// RUN: xductor-opt %s -p accumulate_in_float32 | filecheck %s

// The backward of a gather, and of an index.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<bf16[4, 8], cuda:0>, %i : !fx.tensor<i64[4, 64], cuda:0>, %src : !fx.tensor<bf16[4, 64], cuda:0>, %y : !fx.tensor<f16[8, 3], cuda:0>, %j : !fx.tensor<i64[20], cuda:0>, %v : !fx.tensor<f16[20, 3], cuda:0>) {
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[4, 8], cuda:0>
  // CHECK-NEXT: %convert_element_type_1 = prims.convert_element_type.default %src, f32 : !fx.tensor<f32[4, 64], cuda:0>
  // CHECK-NEXT: %scatter_add = aten.scatter_add.default %convert_element_type, 1, %i, %convert_element_type_1 : !fx.tensor<f32[4, 8], cuda:0>
  // CHECK-NEXT: %convert_element_type_2 = prims.convert_element_type.default %scatter_add, bf16 : !fx.tensor<bf16[4, 8], cuda:0>
  // CHECK-NEXT: %convert_element_type_3 = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[4, 8], cuda:0>
  // CHECK-NEXT: %convert_element_type_4 = prims.convert_element_type.default %src, f32 : !fx.tensor<f32[4, 64], cuda:0>
  // CHECK-NEXT: %scatter_reduce = aten.scatter_reduce.two %convert_element_type_3, 1, %i, %convert_element_type_4, "sum", include_self = false : !fx.tensor<f32[4, 8], cuda:0>
  // CHECK-NEXT: %convert_element_type_5 = prims.convert_element_type.default %scatter_reduce, bf16 : !fx.tensor<bf16[4, 8], cuda:0>
  // CHECK-NEXT: %convert_element_type_6 = prims.convert_element_type.default %y, f32 : !fx.tensor<f32[8, 3], cuda:0>
  // CHECK-NEXT: %convert_element_type_7 = prims.convert_element_type.default %v, f32 : !fx.tensor<f32[20, 3], cuda:0>
  // CHECK-NEXT: %index_put = aten.index_put.default %convert_element_type_6, [%j], %convert_element_type_7, true : !fx.tensor<f32[8, 3], cuda:0>
  // CHECK-NEXT: %convert_element_type_8 = prims.convert_element_type.default %index_put, f16 : !fx.tensor<f16[8, 3], cuda:0>
  // CHECK-NEXT: fx.output (%convert_element_type_2, %convert_element_type_5, %convert_element_type_8)
  %a = aten.scatter_add.default %x, 1, %i, %src : !fx.tensor<bf16[4, 8], cuda:0>
  %b = aten.scatter_reduce.two %x, 1, %i, %src, "sum", include_self = false : !fx.tensor<bf16[4, 8], cuda:0>
  %c = aten.index_put.default %y, [%j], %v, true : !fx.tensor<f16[8, 3], cuda:0>
  fx.output (%a, %b, %c)
}

// Float32; a maximum; without adding up; a mask; few terms; a CPU; rows.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<bf16[4, 8], cuda:0>, %i : !fx.tensor<i64[4, 64], cuda:0>, %src : !fx.tensor<bf16[4, 64], cuda:0>, %f : !fx.tensor<f32[4, 8], cuda:0>, %g : !fx.tensor<f32[4, 64], cuda:0>, %j : !fx.tensor<i64[9], cuda:0>, %v : !fx.tensor<bf16[9, 8], cuda:0>, %m : !fx.tensor<i1[4], cuda:0>, %s : !fx.tensor<bf16[], cuda:0>, %big : !fx.tensor<bf16[100, 8], cuda:0>, %h : !fx.tensor<bf16[4, 8], cpu>, %k : !fx.tensor<i64[4, 64], cpu>, %t : !fx.tensor<bf16[4, 64], cpu>, %w : !fx.tensor<bf16[2, 4], cuda:0>, %z : !fx.tensor<bf16[9, 4], cuda:0>) {
  // CHECK-NEXT: %a = aten.scatter_add.default %f, 1, %i, %g : !fx.tensor<f32[4, 8], cuda:0>
  // CHECK-NEXT: %b = aten.scatter_reduce.two %x, 1, %i, %src, "amax" : !fx.tensor<bf16[4, 8], cuda:0>
  // CHECK-NEXT: %c = aten.index_put.default %x, [%j], %v : !fx.tensor<bf16[4, 8], cuda:0>
  // CHECK-NEXT: %d = aten.index_put.default %x, [%m], %s, true : !fx.tensor<bf16[4, 8], cuda:0>
  // CHECK-NEXT: %e = aten.index_put.default %big, [%j], %v, true : !fx.tensor<bf16[100, 8], cuda:0>
  // CHECK-NEXT: %n = aten.scatter_add.default %h, 1, %k, %t : !fx.tensor<bf16[4, 8], cpu>
  // CHECK-NEXT: %o = aten.index_put.default %w, [%j], %z, true : !fx.tensor<bf16[2, 4], cuda:0>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d, %e, %n, %o)
  %a = aten.scatter_add.default %f, 1, %i, %g : !fx.tensor<f32[4, 8], cuda:0>
  %b = aten.scatter_reduce.two %x, 1, %i, %src, "amax" : !fx.tensor<bf16[4, 8], cuda:0>
  %c = aten.index_put.default %x, [%j], %v : !fx.tensor<bf16[4, 8], cuda:0>
  %d = aten.index_put.default %x, [%m], %s, true : !fx.tensor<bf16[4, 8], cuda:0>
  %e = aten.index_put.default %big, [%j], %v, true : !fx.tensor<bf16[100, 8], cuda:0>
  %n = aten.scatter_add.default %h, 1, %k, %t : !fx.tensor<bf16[4, 8], cpu>
  %o = aten.index_put.default %w, [%j], %z, true : !fx.tensor<bf16[2, 4], cuda:0>
  fx.output (%a, %b, %c, %d, %e, %n, %o)
}
