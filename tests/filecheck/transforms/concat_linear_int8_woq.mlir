// RUN: xductor-opt %s -p concat_linear_int8_woq | filecheck %s

// CHECK-LABEL: fx.graph @joined
fx.graph @joined stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<bf16[s0, 64], cpu>, %v : !fx.tensor<i8[3, 64], cpu>, %w : !fx.tensor<i8[5, 64], cpu>, %s : !fx.tensor<bf16[8], cpu>) {
  // CHECK-NEXT: %cat = aten.cat.default [%v, %w] : !fx.tensor<i8[8, 64], cpu>
  // CHECK-NEXT: %weight_int8pack_mm = xductor.weight_int8pack_mm.default %x, %cat, %s : !fx.tensor<bf16[s0, 8], cpu>
  // CHECK-NEXT: fx.output (%weight_int8pack_mm,)
  %a = aten.permute.default %v, [1, 0] : !fx.tensor<i8[64, 3][1, 64], cpu> aliases(0)
  %b = prims.convert_element_type.default %a, bf16 : !fx.tensor<bf16[64, 3][1, 64], cpu>
  %c = prims.convert_element_type.default %w, bf16 : !fx.tensor<bf16[5, 64], cpu>
  %d = aten.permute.default %c, [1, 0] : !fx.tensor<bf16[64, 5][1, 64], cpu> aliases(0)
  %e = aten.cat.default (%b, %d), 1 : !fx.tensor<bf16[64, 8], cpu>
  %f = aten.mm.default %x, %e : !fx.tensor<bf16[s0, 8], cpu>
  %g = aten.mul.Tensor %f, %s : !fx.tensor<bf16[s0, 8], cpu>
  fx.output (%g,)
}

// One weight is widened for another reader, too.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(post_grad) symbols() (%x : !fx.tensor<bf16[4, 64], cpu>, %v : !fx.tensor<i8[3, 64], cpu>, %s : !fx.tensor<bf16[6], cpu>) {
  // CHECK-NEXT: %c = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[3, 64], cpu>
  // CHECK-NEXT: %d = aten.permute.default %c, [1, 0] : !fx.tensor<bf16[64, 3][1, 64], cpu> aliases(0)
  // CHECK-NEXT: %e = aten.cat.default (%d, %d), 1 : !fx.tensor<bf16[64, 6], cpu>
  // CHECK-NEXT: %f = aten.mm.default %x, %e : !fx.tensor<bf16[4, 6], cpu>
  // CHECK-NEXT: %g = aten.mul.Tensor %f, %s : !fx.tensor<bf16[4, 6], cpu>
  // CHECK-NEXT: fx.output (%g, %c)
  %c = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[3, 64], cpu>
  %d = aten.permute.default %c, [1, 0] : !fx.tensor<bf16[64, 3][1, 64], cpu> aliases(0)
  %e = aten.cat.default (%d, %d), 1 : !fx.tensor<bf16[64, 6], cpu>
  %f = aten.mm.default %x, %e : !fx.tensor<bf16[4, 6], cpu>
  %g = aten.mul.Tensor %f, %s : !fx.tensor<bf16[4, 6], cpu>
  fx.output (%g, %c)
}

// Rows of 48 numbers are no whole vectors.
// CHECK-LABEL: fx.graph @short
fx.graph @short stage(post_grad) symbols() (%x : !fx.tensor<bf16[4, 48], cpu>, %v : !fx.tensor<i8[3, 48], cpu>, %s : !fx.tensor<bf16[3], cpu>) {
  // CHECK-NEXT: %c = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[3, 48], cpu>
  // CHECK-NEXT: %d = aten.permute.default %c, [1, 0] : !fx.tensor<bf16[48, 3][1, 48], cpu> aliases(0)
  // CHECK-NEXT: %e = aten.cat.default (%d,), 1 : !fx.tensor<bf16[48, 3], cpu>
  // CHECK-NEXT: %f = aten.mm.default %x, %e : !fx.tensor<bf16[4, 3], cpu>
  // CHECK-NEXT: %g = aten.mul.Tensor %f, %s : !fx.tensor<bf16[4, 3], cpu>
  // CHECK-NEXT: fx.output (%g,)
  %c = prims.convert_element_type.default %v, bf16 : !fx.tensor<bf16[3, 48], cpu>
  %d = aten.permute.default %c, [1, 0] : !fx.tensor<bf16[48, 3][1, 48], cpu> aliases(0)
  %e = aten.cat.default (%d,), 1 : !fx.tensor<bf16[48, 3], cpu>
  %f = aten.mm.default %x, %e : !fx.tensor<bf16[4, 3], cpu>
  %g = aten.mul.Tensor %f, %s : !fx.tensor<bf16[4, 3], cpu>
  fx.output (%g,)
}
