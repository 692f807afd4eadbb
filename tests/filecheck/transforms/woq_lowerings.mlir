// RUN: xductor-opt %s -p woq_lowerings | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<bf16[s0, 64], cpu>, %w : !fx.tensor<i8[5, 64], cpu>, %s : !fx.tensor<bf16[5], cpu>, %y : !fx.tensor<bf16[2, 3, 32], cpu>, %v : !fx.tensor<i8[5, 32], cpu>) {
  // CHECK-NEXT: %weight_int8pack_mm = xductor.weight_int8pack_mm.default %x, %w, %s : !fx.tensor<bf16[s0, 5], cpu>
  // CHECK-NEXT: %e = aten.reshape.default %y, [6, 32] : !fx.tensor<bf16[6, 32], cpu>
  // CHECK-NEXT: %weight_int8pack_mm_1 = xductor.weight_int8pack_mm.default %e, %v, %s : !fx.tensor<bf16[6, 5], cpu>
  // CHECK-NEXT: %reshape = aten.reshape.default %weight_int8pack_mm_1, [2, 3, 5] : !fx.tensor<bf16[2, 3, 5], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%weight_int8pack_mm, %reshape)
  %a = prims.convert_element_type.default %w, bf16 : !fx.tensor<bf16[5, 64], cpu>
  %b = aten.permute.default %a, [1, 0] : !fx.tensor<bf16[64, 5][1, 64], cpu>
  %c = aten.mm.default %x, %b : !fx.tensor<bf16[s0, 5], cpu>
  %d = aten.mul.Tensor %c, %s : !fx.tensor<bf16[s0, 5], cpu>
  %e = aten.reshape.default %y, [6, 32] : !fx.tensor<bf16[6, 32], cpu>
  %f = aten.permute.default %v, [1, 0] : !fx.tensor<i8[32, 5][1, 32], cpu>
  %g = prims.convert_element_type.default %f, bf16 : !fx.tensor<bf16[32, 5][1, 32], cpu>
  %h = aten.mm.default %e, %g : !fx.tensor<bf16[6, 5], cpu>
  %i = aten.reshape.default %h, [2, 3, 5] : !fx.tensor<bf16[2, 3, 5], cpu>
  %j = aten.mul.Tensor %s, %i : !fx.tensor<bf16[2, 3, 5], cpu>
  fx.output (%d, %j)
}

// Rows that are no whole vectors; one scale for all; a product that is read elsewhere.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<bf16[4, 33], cpu>, %w : !fx.tensor<i8[5, 33], cpu>, %s : !fx.tensor<bf16[5], cpu>, %y : !fx.tensor<bf16[4, 32], cpu>, %v : !fx.tensor<i8[5, 32], cpu>, %t : !fx.tensor<bf16[1], cpu>) {
  // CHECK-NEXT: %a = prims.convert_element_type.default %w, bf16 : !fx.tensor<bf16[5, 33], cpu>
  // CHECK-NEXT: %b = aten.permute.default %a, [1, 0] : !fx.tensor<bf16[33, 5][1, 33], cpu>
  // CHECK-NEXT: %c = aten.mm.default %x, %b : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: %d = aten.mul.Tensor %c, %s : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: %e = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[5, 32], cpu>
  // CHECK-NEXT: %f = aten.permute.default %e, [1, 0] : !fx.tensor<bf16[32, 5][1, 32], cpu>
  // CHECK-NEXT: %g = aten.mm.default %y, %f : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: %h = aten.mul.Tensor %g, %t : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: %i = aten.mm.default %y, %f : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: %j = aten.mul.Tensor %i, %s : !fx.tensor<bf16[4, 5], cpu>
  // CHECK-NEXT: fx.output (%d, %h, %i, %j)
  %a = prims.convert_element_type.default %w, bf16 : !fx.tensor<bf16[5, 33], cpu>
  %b = aten.permute.default %a, [1, 0] : !fx.tensor<bf16[33, 5][1, 33], cpu>
  %c = aten.mm.default %x, %b : !fx.tensor<bf16[4, 5], cpu>
  %d = aten.mul.Tensor %c, %s : !fx.tensor<bf16[4, 5], cpu>
  %e = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[5, 32], cpu>
  %f = aten.permute.default %e, [1, 0] : !fx.tensor<bf16[32, 5][1, 32], cpu>
  %g = aten.mm.default %y, %f : !fx.tensor<bf16[4, 5], cpu>
  %h = aten.mul.Tensor %g, %t : !fx.tensor<bf16[4, 5], cpu>
  %i = aten.mm.default %y, %f : !fx.tensor<bf16[4, 5], cpu>
  %j = aten.mul.Tensor %i, %s : !fx.tensor<bf16[4, 5], cpu>
  fx.output (%d, %h, %i, %j)
}
