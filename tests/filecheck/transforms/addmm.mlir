// RUN: xductor-opt %s -p addmm | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[s0, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %bias : !fx.tensor<f32[8], cpu>, %c : !fx.tensor<bf16[2, 4], cpu>, %d : !fx.tensor<bf16[4, 8], cpu>, %e : !fx.tensor<bf16[2, 8], cpu>) {
  // CHECK-NEXT: %addmm = aten.addmm.default %bias, %a, %b, beta = 2 : !fx.tensor<f32[s0, 8], cpu>
  // CHECK-NEXT: %addmm_1 = aten.addmm.default %e, %c, %d, alpha = 3 : !fx.tensor<bf16[2, 8], cpu>
  // CHECK-NEXT: fx.output (%addmm, %addmm_1)
  %m = aten.mm.default %a, %b : !fx.tensor<f32[s0, 8], cpu>
  %y = aten.add.Tensor %m, %bias, alpha = 2 : !fx.tensor<f32[s0, 8], cpu>
  %n = aten.mm.default %c, %d : !fx.tensor<bf16[2, 8], cpu>
  %z = aten.add.Tensor %e, %n, alpha = 3 : !fx.tensor<bf16[2, 8], cpu>
  fx.output (%y, %z)
}

// A product that is read elsewhere; a sum of more dims, or of another dtype; a factor of 0.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%a : !fx.tensor<f32[2, 4], cpu>, %b : !fx.tensor<f32[4, 8], cpu>, %c : !fx.tensor<f32[3, 2, 8], cpu>, %d : !fx.tensor<f64[2, 8], cpu>, %e : !fx.tensor<f32[2, 8], cpu>) {
  // CHECK-NEXT: %l = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %v = aten.add.Tensor %l, %e : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %m = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %x = aten.add.Tensor %m, %c : !fx.tensor<f32[3, 2, 8], cpu>
  // CHECK-NEXT: %n = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %y = aten.add.Tensor %n, %d : !fx.tensor<f64[2, 8], cpu>
  // CHECK-NEXT: %o = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %o, %e, alpha = 0 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%l, %v, %x, %y, %z)
  %l = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %v = aten.add.Tensor %l, %e : !fx.tensor<f32[2, 8], cpu>
  %m = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %x = aten.add.Tensor %m, %c : !fx.tensor<f32[3, 2, 8], cpu>
  %n = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %y = aten.add.Tensor %n, %d : !fx.tensor<f64[2, 8], cpu>
  %o = aten.mm.default %a, %b : !fx.tensor<f32[2, 8], cpu>
  %z = aten.add.Tensor %o, %e, alpha = 0 : !fx.tensor<f32[2, 8], cpu>
  fx.output (%l, %v, %x, %y, %z)
}
