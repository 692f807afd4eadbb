// RUN: xductor-opt %s -p onednn_linear | filecheck %s

// A weight in columns, as a module's is, and one in rows, as the backward reads it.
// CHECK-LABEL: fx.graph @mm
fx.graph @mm stage(post_grad) symbols() (%x : !fx.tensor<f32[64, 256], cpu>, %w : !fx.tensor<f32[128, 256], cpu>, %v : !fx.tensor<f32[256, 128], cpu>) {
  // CHECK-NEXT: %t = aten.permute.default %w, [1, 0] : !fx.tensor<f32[256, 128][1, 256], cpu>
  // CHECK-NEXT: %onednn_mm = xductor.onednn_mm.default %x, %t, none : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: %onednn_mm_1 = xductor.onednn_mm.default %x, %v, none : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: fx.output (%onednn_mm, %onednn_mm_1)
  %t = aten.permute.default %w, [1, 0] : !fx.tensor<f32[256, 128][1, 256], cpu>
  %a = aten.mm.default %x, %t : !fx.tensor<f32[64, 128], cpu>
  %b = aten.mm.default %x, %v : !fx.tensor<f32[64, 128], cpu>
  fx.output (%a, %b)
}

// With a bias; in bfloat16 small ones too.
// CHECK-LABEL: fx.graph @addmm
fx.graph @addmm stage(post_grad) symbols() (%x : !fx.tensor<f32[64, 256], cpu>, %v : !fx.tensor<f32[256, 128], cpu>, %b : !fx.tensor<f32[128], cpu>, %y : !fx.tensor<bf16[1, 128], cpu>, %u : !fx.tensor<bf16[128, 128], cpu>, %c : !fx.tensor<bf16[128], cpu>) {
  // CHECK-NEXT: %onednn_mm = xductor.onednn_mm.default %x, %v, %b : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: %onednn_mm_1 = xductor.onednn_mm.default %y, %u, %c : !fx.tensor<bf16[1, 128], cpu>
  // CHECK-NEXT: fx.output (%onednn_mm, %onednn_mm_1)
  %a = aten.addmm.default %b, %x, %v : !fx.tensor<f32[64, 128], cpu>
  %d = aten.addmm.default %c, %y, %u : !fx.tensor<bf16[1, 128], cpu>
  fx.output (%a, %d)
}

// Data in columns, as the gradient of a weight has it, is copied for a large product.
// CHECK-LABEL: fx.graph @columns
fx.graph @columns stage(post_grad) symbols() (%g : !fx.tensor<f32[512, 128], cpu>, %x : !fx.tensor<f32[512, 128], cpu>) {
  // CHECK-NEXT: %t = aten.permute.default %g, [1, 0] : !fx.tensor<f32[128, 512][1, 128], cpu>
  // CHECK-NEXT: %onednn_mm = xductor.onednn_mm.default %t, %x, none : !fx.tensor<f32[128, 128], cpu>
  // CHECK-NEXT: fx.output (%onednn_mm,)
  %t = aten.permute.default %g, [1, 0] : !fx.tensor<f32[128, 512][1, 128], cpu>
  %a = aten.mm.default %t, %x : !fx.tensor<f32[128, 128], cpu>
  fx.output (%a,)
}

// Not for a small one, nor for few columns.
// CHECK-LABEL: fx.graph @small_columns
fx.graph @small_columns stage(post_grad) symbols() (%g : !fx.tensor<f32[256, 128], cpu>, %x : !fx.tensor<f32[256, 128], cpu>, %h : !fx.tensor<f32[4096, 128], cpu>, %y : !fx.tensor<f32[4096, 16], cpu>) {
  // CHECK-NEXT: %t = aten.permute.default %g, [1, 0] : !fx.tensor<f32[128, 256][1, 128], cpu>
  // CHECK-NEXT: %a = aten.mm.default %t, %x : !fx.tensor<f32[128, 128], cpu>
  // CHECK-NEXT: %s = aten.permute.default %h, [1, 0] : !fx.tensor<f32[128, 4096][1, 128], cpu>
  // CHECK-NEXT: %b = aten.mm.default %s, %y : !fx.tensor<f32[128, 16], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %t = aten.permute.default %g, [1, 0] : !fx.tensor<f32[128, 256][1, 128], cpu>
  %a = aten.mm.default %t, %x : !fx.tensor<f32[128, 128], cpu>
  %s = aten.permute.default %h, [1, 0] : !fx.tensor<f32[128, 4096][1, 128], cpu>
  %b = aten.mm.default %s, %y : !fx.tensor<f32[128, 16], cpu>
  fx.output (%a, %b)
}

// Small products; one row and a weight in rows; a weight with gaps; one that is repeated.
// CHECK-LABEL: fx.graph @small
fx.graph @small stage(post_grad) symbols() (%x : !fx.tensor<f32[64, 128], cpu>, %w : !fx.tensor<f32[128, 128], cpu>, %y : !fx.tensor<f32[1, 2048], cpu>, %v : !fx.tensor<f32[2048, 2048], cpu>, %z : !fx.tensor<f32[64, 256], cpu>, %g : !fx.tensor<f32[256, 128][256, 1], cpu>, %r : !fx.tensor<f32[256, 128][0, 1], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %w : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: %b = aten.mm.default %y, %v : !fx.tensor<f32[1, 2048], cpu>
  // CHECK-NEXT: %c = aten.mm.default %z, %g : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: %d = aten.mm.default %z, %r : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d)
  %a = aten.mm.default %x, %w : !fx.tensor<f32[64, 128], cpu>
  %b = aten.mm.default %y, %v : !fx.tensor<f32[1, 2048], cpu>
  %c = aten.mm.default %z, %g : !fx.tensor<f32[64, 128], cpu>
  %d = aten.mm.default %z, %r : !fx.tensor<f32[64, 128], cpu>
  fx.output (%a, %b, %c, %d)
}

// ATen calls the same kernel for bfloat16 without a bias, and its own for few numbers; few columns.
// CHECK-LABEL: fx.graph @bfloat16
fx.graph @bfloat16 stage(post_grad) symbols() (%x : !fx.tensor<bf16[512, 256], cpu>, %v : !fx.tensor<bf16[256, 128], cpu>, %y : !fx.tensor<bf16[16, 16], cpu>, %u : !fx.tensor<bf16[16, 16], cpu>, %b : !fx.tensor<bf16[16], cpu>, %t : !fx.tensor<bf16[256, 1], cpu>, %c : !fx.tensor<bf16[1], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %v : !fx.tensor<bf16[512, 128], cpu>
  // CHECK-NEXT: %d = aten.addmm.default %b, %y, %u : !fx.tensor<bf16[16, 16], cpu>
  // CHECK-NEXT: %e = aten.addmm.default %c, %x, %t : !fx.tensor<bf16[512, 1], cpu>
  // CHECK-NEXT: fx.output (%a, %d, %e)
  %a = aten.mm.default %x, %v : !fx.tensor<bf16[512, 128], cpu>
  %d = aten.addmm.default %b, %y, %u : !fx.tensor<bf16[16, 16], cpu>
  %e = aten.addmm.default %c, %x, %t : !fx.tensor<bf16[512, 1], cpu>
  fx.output (%a, %d, %e)
}

// In bfloat16 data in columns are not copied for a bias; large products, and large weights.
// CHECK-LABEL: fx.graph @large_bfloat16
  // CHECK-NEXT: %t = aten.permute.default %x, [1, 0] : !fx.tensor<bf16[64, 256][1, 64], cpu>
  // CHECK-NEXT: %a = aten.addmm.default %b, %t, %v : !fx.tensor<bf16[64, 128], cpu>
  // CHECK-NEXT: %d = aten.addmm.default %b, %y, %u : !fx.tensor<bf16[1024, 128], cpu>
  // CHECK-NEXT: %e = aten.addmm.default %c, %z, %w : !fx.tensor<bf16[1, 1024], cpu>
  // CHECK-NEXT: fx.output (%a, %d, %e)
fx.graph @large_bfloat16 stage(post_grad) symbols() (%x : !fx.tensor<bf16[256, 64], cpu>, %v : !fx.tensor<bf16[256, 128], cpu>, %b : !fx.tensor<bf16[128], cpu>, %y : !fx.tensor<bf16[1024, 1024], cpu>, %u : !fx.tensor<bf16[1024, 128], cpu>, %z : !fx.tensor<bf16[1, 2048], cpu>, %w : !fx.tensor<bf16[2048, 1024], cpu>, %c : !fx.tensor<bf16[1024], cpu>) {
  %t = aten.permute.default %x, [1, 0] : !fx.tensor<bf16[64, 256][1, 64], cpu>
  %a = aten.addmm.default %b, %t, %v : !fx.tensor<bf16[64, 128], cpu>
  %d = aten.addmm.default %b, %y, %u : !fx.tensor<bf16[1024, 128], cpu>
  %e = aten.addmm.default %c, %z, %w : !fx.tensor<bf16[1, 1024], cpu>
  fx.output (%a, %d, %e)
}

// Other dtypes; factors; a matrix, or one number, that is added.
// CHECK-LABEL: fx.graph @others
fx.graph @others stage(post_grad) symbols() (%x : !fx.tensor<f64[64, 256], cpu>, %v : !fx.tensor<f64[256, 128], cpu>, %y : !fx.tensor<f16[64, 256], cpu>, %u : !fx.tensor<f16[256, 128], cpu>, %h : !fx.tensor<f16[128], cpu>, %z : !fx.tensor<f32[64, 256], cpu>, %w : !fx.tensor<f32[256, 128], cpu>, %b : !fx.tensor<f32[128], cpu>, %m : !fx.tensor<f32[64, 128], cpu>, %n : !fx.tensor<f32[1], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %v : !fx.tensor<f64[64, 128], cpu>
  // CHECK-NEXT: %c = aten.addmm.default %h, %y, %u : !fx.tensor<f16[64, 128], cpu>
  // CHECK-NEXT: %d = aten.addmm.default %b, %z, %w, alpha = 2 : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: %e = aten.addmm.default %b, %z, %w, beta = 0 : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: %f = aten.addmm.default %m, %z, %w : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: %g = aten.addmm.default %n, %z, %w : !fx.tensor<f32[64, 128], cpu>
  // CHECK-NEXT: fx.output (%a, %c, %d, %e, %f, %g)
  %a = aten.mm.default %x, %v : !fx.tensor<f64[64, 128], cpu>
  %c = aten.addmm.default %h, %y, %u : !fx.tensor<f16[64, 128], cpu>
  %d = aten.addmm.default %b, %z, %w, alpha = 2 : !fx.tensor<f32[64, 128], cpu>
  %e = aten.addmm.default %b, %z, %w, beta = 0 : !fx.tensor<f32[64, 128], cpu>
  %f = aten.addmm.default %m, %z, %w : !fx.tensor<f32[64, 128], cpu>
  %g = aten.addmm.default %n, %z, %w : !fx.tensor<f32[64, 128], cpu>
  fx.output (%a, %c, %d, %e, %f, %g)
}

// On another device.
// CHECK-LABEL: fx.graph @cuda
fx.graph @cuda stage(post_grad) symbols() (%x : !fx.tensor<f32[64, 256], cuda:0>, %v : !fx.tensor<f32[256, 128], cuda:0>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %v : !fx.tensor<f32[64, 128], cuda:0>
  // CHECK-NEXT: fx.output (%a,)
  %a = aten.mm.default %x, %v : !fx.tensor<f32[64, 128], cuda:0>
  fx.output (%a,)
}

// How many rows there are is not known.
// CHECK-LABEL: fx.graph @symbols
fx.graph @symbols stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 256], cpu>, %v : !fx.tensor<f32[256, 128], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %v : !fx.tensor<f32[s0, 128], cpu>
  // CHECK-NEXT: fx.output (%a,)
  %a = aten.mm.default %x, %v : !fx.tensor<f32[s0, 128], cpu>
  fx.output (%a,)
}
