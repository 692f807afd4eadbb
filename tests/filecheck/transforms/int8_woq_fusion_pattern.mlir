// RUN: xductor-opt %s -p 'int8_woq_fusion_pattern{enable_concat_linear=true}' | filecheck %s

// The weight is widened and turned, or turned and widened.
// CHECK-LABEL: fx.graph @two
fx.graph @two stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<bf16[s0, 32], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<i8[5, 32], cpu>
  // CHECK-NEXT: %vs = fx.get_attr "vs" : !fx.tensor<bf16[5], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[3, 32], cpu>
  // CHECK-NEXT: %ws = fx.get_attr "ws" : !fx.tensor<bf16[3], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%v, %w] : !fx.tensor<i8[8, 32], cpu>
  // CHECK-NEXT: %cat_1 = aten.cat.default [%vs, %ws] : !fx.tensor<bf16[8], cpu>
  // CHECK-NEXT: %weight_int8pack_mm = xductor.weight_int8pack_mm.default %x, %cat, %cat_1 : !fx.tensor<bf16[s0, 8], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %weight_int8pack_mm, 1, 0, 5 : !fx.tensor<bf16[s0, 5][8, 1], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %weight_int8pack_mm, 1, 5, 8 : !fx.tensor<bf16[s0, 3][8, 1], cpu, offset 5>
  // CHECK-NEXT: %e = aten.relu.default %slice : !fx.tensor<bf16[s0, 5], cpu>
  // CHECK-NEXT: %j = aten.relu.default %slice_1 : !fx.tensor<bf16[s0, 3], cpu>
  // CHECK-NEXT: fx.output (%e, %j)
  %v = fx.get_attr "v" : !fx.tensor<i8[5, 32], cpu>
  %vs = fx.get_attr "vs" : !fx.tensor<bf16[5], cpu>
  %w = fx.get_attr "w" : !fx.tensor<i8[3, 32], cpu>
  %ws = fx.get_attr "ws" : !fx.tensor<bf16[3], cpu>
  %a = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[5, 32], cpu>
  %b = aten.permute.default %a, [1, 0] : !fx.tensor<bf16[32, 5][1, 32], cpu>
  %c = aten.mm.default %x, %b : !fx.tensor<bf16[s0, 5], cpu>
  %d = aten.mul.Tensor %c, %vs : !fx.tensor<bf16[s0, 5], cpu>
  %e = aten.relu.default %d : !fx.tensor<bf16[s0, 5], cpu>
  %f = aten.permute.default %w, [1, 0] : !fx.tensor<i8[32, 3][1, 32], cpu>
  %g = prims.convert_element_type.default %f, bf16 : !fx.tensor<bf16[32, 3][1, 32], cpu>
  %h = aten.mm.default %x, %g : !fx.tensor<bf16[s0, 3], cpu>
  %i = aten.mul.Tensor %ws, %h : !fx.tensor<bf16[s0, 3], cpu>
  %j = aten.relu.default %i : !fx.tensor<bf16[s0, 3], cpu>
  fx.output (%e, %j)
}

// Another tensor; scales that are no vector; one product alone.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<bf16[4, 32], cpu>, %y : !fx.tensor<bf16[4, 32], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<i8[5, 32], cpu>
  // CHECK-NEXT: %vs = fx.get_attr "vs" : !fx.tensor<bf16[5], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i8[3, 32], cpu>
  // CHECK-NEXT: %ws = fx.get_attr "ws" : !fx.tensor<bf16[3], cpu>
  // CHECK-NEXT: %u = fx.get_attr "u" : !fx.tensor<i8[3, 32], cpu>
  // CHECK-NEXT: %us = fx.get_attr "us" : !fx.tensor<bf16[1], cpu>
  // CHECK-NEXT: %a = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[5, 32], cpu>
  // CHECK-NEXT: %b = aten.permute.default %a, [1, 0] : !fx.tensor<bf16[32, 5][1, 32], cpu>
  // CHECK-NEXT: %c = aten.mm.default %x, %b : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: %d = aten.mul.Tensor %c, %vs : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: %f = prims.convert_element_type.default %w, bf16 : !fx.tensor<bf16[3, 32], cpu>
  // CHECK-NEXT: %g = aten.permute.default %f, [1, 0] : !fx.tensor<bf16[32, 3][1, 32], cpu>
  // CHECK-NEXT: %h = aten.mm.default %y, %g : !fx.tensor<bf16[4, 3], cpu>
  // CHECK-NEXT: %i = aten.mul.Tensor %h, %ws : !fx.tensor<bf16[4, 3], cpu>
  // CHECK-NEXT: %k = prims.convert_element_type.default %u, bf16 : !fx.tensor<bf16[3, 32], cpu>
  // CHECK-NEXT: %l = aten.permute.default %k, [1, 0] : !fx.tensor<bf16[32, 3][1, 32], cpu>
  // CHECK-NEXT: %m = aten.mm.default %x, %l : !fx.tensor<bf16[4, 3], cpu>
  // CHECK-NEXT: %n = aten.mul.Tensor %m, %us : !fx.tensor<bf16[4, 3], cpu>
  // CHECK-NEXT: fx.output (%d, %i, %n)
  %v = fx.get_attr "v" : !fx.tensor<i8[5, 32], cpu>
  %vs = fx.get_attr "vs" : !fx.tensor<bf16[5], cpu>
  %w = fx.get_attr "w" : !fx.tensor<i8[3, 32], cpu>
  %ws = fx.get_attr "ws" : !fx.tensor<bf16[3], cpu>
  %u = fx.get_attr "u" : !fx.tensor<i8[3, 32], cpu>
  %us = fx.get_attr "us" : !fx.tensor<bf16[1], cpu>
  %a = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[5, 32], cpu>
  %b = aten.permute.default %a, [1, 0] : !fx.tensor<bf16[32, 5][1, 32], cpu>
  %c = aten.mm.default %x, %b : !fx.tensor<bf16[4, 5], cpu>
  %d = aten.mul.Tensor %c, %vs : !fx.tensor<bf16[4, 5], cpu>
  %f = prims.convert_element_type.default %w, bf16 : !fx.tensor<bf16[3, 32], cpu>
  %g = aten.permute.default %f, [1, 0] : !fx.tensor<bf16[32, 3][1, 32], cpu>
  %h = aten.mm.default %y, %g : !fx.tensor<bf16[4, 3], cpu>
  %i = aten.mul.Tensor %h, %ws : !fx.tensor<bf16[4, 3], cpu>
  %k = prims.convert_element_type.default %u, bf16 : !fx.tensor<bf16[3, 32], cpu>
  %l = aten.permute.default %k, [1, 0] : !fx.tensor<bf16[32, 3][1, 32], cpu>
  %m = aten.mm.default %x, %l : !fx.tensor<bf16[4, 3], cpu>
  %n = aten.mul.Tensor %m, %us : !fx.tensor<bf16[4, 3], cpu>
  fx.output (%d, %i, %n)
}
