// RUN: xductor-opt %s -p mm_plus_mm | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[s0, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %c : !fx.tensor<f32[s0, 6], cpu>, %d : !fx.tensor<f32[6, 8], cpu>, %e : !fx.tensor<bf16[2, 4], cpu>, %f : !fx.tensor<bf16[4, 8], cpu>, %g : !fx.tensor<bf16[4, 8], cpu>) {
  // CHECK-NEXT: %mm_plus_mm = xductor.mm_plus_mm.default %a, %b, %c, %d : !fx.tensor<f32[s0, 8], cpu>
  // CHECK-NEXT: %mm_plus_mm_1 = xductor.mm_plus_mm.default %e, %f, %e, %g : !fx.tensor<bf16[2, 8], cpu>
  // CHECK-NEXT: fx.output (%mm_plus_mm, %mm_plus_mm_1)
  %m = aten.mm.default %a, %b : !fx.tensor<f32[s0, 8], cpu>
  %n = aten.mm.default %c, %d : !fx.tensor<f32[s0, 8], cpu>
  %x = aten.add.Tensor %m, %n : !fx.tensor<f32[s0, 8], cpu>
  %o = aten.mm.default %e, %f : !fx.tensor<bf16[2, 8], cpu>
  %p = aten.mm.default %e, %g : !fx.tensor<bf16[2, 8], cpu>
  %y = aten.add.Tensor %o, %p : !fx.tensor<bf16[2, 8], cpu>
  fx.output (%x, %y)
}

// A factor; a product that is read elsewhere; products of two dtypes; a product that is broadcast.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%a : !fx.tensor<f32[2, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %c : !fx.tensor<f64[2, 4], cpu>, %d : !fx.tensor<f64[4, 8], cpu>, %e : !fx.tensor<f32[1, 4], cpu>) {
  // CHECK-NEXT: %l = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %m = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %w = aten.add.Tensor %l, %m, alpha = 3 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %n = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %o = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %x = aten.add.Tensor %n, %o : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %p = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %q = aten.mm.default %c, %d : !fx.tensor<f64[2, 8], cpu>
  // CHECK-NEXT: %y = aten.add.Tensor %p, %q : !fx.tensor<f64[2, 8], cpu>
  // CHECK-NEXT: %r = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %s = aten.mm.default %e, %b : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %r, %s : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%w, %o, %x, %y, %z)
  %l = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %m = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %w = aten.add.Tensor %l, %m, alpha = 3 : !fx.tensor<f32[2, 8], cpu>
  %n = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %o = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %x = aten.add.Tensor %n, %o : !fx.tensor<f32[2, 8], cpu>
  %p = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %q = aten.mm.default %c, %d : !fx.tensor<f64[2, 8], cpu>
  %y = aten.add.Tensor %p, %q : !fx.tensor<f64[2, 8], cpu>
  %r = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %s = aten.mm.default %e, %b : !fx.tensor<f32[1, 8], cpu>
  %z = aten.add.Tensor %r, %s : !fx.tensor<f32[2, 8], cpu>
  fx.output (%w, %o, %x, %y, %z)
}

// Whether the sizes are equal is not known.
// CHECK-LABEL: fx.graph @unknown
fx.graph @unknown stage(post_grad) symbols(s0 : int positive [1, 64]) (%a : !fx.tensor<f32[s0, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %e : !fx.tensor<f32[1, 4], cpu>) {
  // CHECK-NEXT: %r = aten.mm.default %a, %b : !fx.tensor<f32[s0, 8], cpu>
  // CHECK-NEXT: %s = aten.mm.default %e, %b : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %r, %s : !fx.tensor<f32[s0, 8], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.mm.default %a, %b : !fx.tensor<f32[s0, 8], cpu>
  %s = aten.mm.default %e, %b : !fx.tensor<f32[1, 8], cpu>
  %z = aten.add.Tensor %r, %s : !fx.tensor<f32[s0, 8], cpu>
  fx.output (%z)
}
