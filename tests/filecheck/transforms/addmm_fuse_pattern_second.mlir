// RUN: xductor-opt %s -p 'addmm_fuse_pattern_second{enable_concat_linear=true}' | filecheck %s

// Three linears of one tensor.
// CHECK-LABEL: fx.graph @three
fx.graph @three stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 4], cpu>) {
  // CHECK-NEXT: %u = fx.get_attr "u" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %p = fx.get_attr "p" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %q = fx.get_attr "q" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %r = fx.get_attr "r" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%p, %q, %r] : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %cat_1 = aten.cat.default [%u, %v, %w], 1 : !fx.tensor<f32[4, 12], cpu>
  // CHECK-NEXT: %addmm = aten.addmm.default %cat, %x, %cat_1 : !fx.tensor<f32[6, 12], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %addmm, 1, 0, 4 : !fx.tensor<f32[6, 4][12, 1], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %addmm, 1, 4, 8 : !fx.tensor<f32[6, 4][12, 1], cpu, offset 4>
  // CHECK-NEXT: %slice_2 = aten.slice.Tensor %addmm, 1, 8, 12 : !fx.tensor<f32[6, 4][12, 1], cpu, offset 8>
  // CHECK-NEXT: %d = aten.mul.Tensor %slice, %slice_1 : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %e = aten.mul.Tensor %d, %slice_2 : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: fx.output (%e,)
  %u = fx.get_attr "u" : !fx.tensor<f32[4, 4], cpu>
  %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  %p = fx.get_attr "p" : !fx.tensor<f32[4], cpu>
  %q = fx.get_attr "q" : !fx.tensor<f32[4], cpu>
  %r = fx.get_attr "r" : !fx.tensor<f32[4], cpu>
  %a = aten.addmm.default %p, %x, %u : !fx.tensor<f32[6, 4], cpu>
  %b = aten.addmm.default %q, %x, %v : !fx.tensor<f32[6, 4], cpu>
  %c = aten.addmm.default %r, %x, %w : !fx.tensor<f32[6, 4], cpu>
  %d = aten.mul.Tensor %a, %b : !fx.tensor<f32[6, 4], cpu>
  %e = aten.mul.Tensor %d, %c : !fx.tensor<f32[6, 4], cpu>
  fx.output (%e,)
}

// Two are too few, and a factor or a bias for each row stands in the way.
// CHECK-LABEL: fx.graph @too_few
fx.graph @too_few stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 4], cpu>) {
  // CHECK-NEXT: %u = fx.get_attr "u" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %t = fx.get_attr "t" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %p = fx.get_attr "p" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %q = fx.get_attr "q" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %r = fx.get_attr "r" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %s = fx.get_attr "s" : !fx.tensor<f32[6, 1], cpu>
  // CHECK-NEXT: %a = aten.addmm.default %p, %x, %u : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %b = aten.addmm.default %q, %x, %v : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %c = aten.addmm.default %r, %x, %w, beta = 2 : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %o = aten.addmm.default %s, %x, %t : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %d = aten.mul.Tensor %a, %b : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %e = aten.mul.Tensor %d, %c : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %f = aten.mul.Tensor %e, %o : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: fx.output (%f,)
  %u = fx.get_attr "u" : !fx.tensor<f32[4, 4], cpu>
  %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  %t = fx.get_attr "t" : !fx.tensor<f32[4, 4], cpu>
  %p = fx.get_attr "p" : !fx.tensor<f32[4], cpu>
  %q = fx.get_attr "q" : !fx.tensor<f32[4], cpu>
  %r = fx.get_attr "r" : !fx.tensor<f32[4], cpu>
  %s = fx.get_attr "s" : !fx.tensor<f32[6, 1], cpu>
  %a = aten.addmm.default %p, %x, %u : !fx.tensor<f32[6, 4], cpu>
  %b = aten.addmm.default %q, %x, %v : !fx.tensor<f32[6, 4], cpu>
  %c = aten.addmm.default %r, %x, %w, beta = 2 : !fx.tensor<f32[6, 4], cpu>
  %o = aten.addmm.default %s, %x, %t : !fx.tensor<f32[6, 4], cpu>
  %d = aten.mul.Tensor %a, %b : !fx.tensor<f32[6, 4], cpu>
  %e = aten.mul.Tensor %d, %c : !fx.tensor<f32[6, 4], cpu>
  %f = aten.mul.Tensor %e, %o : !fx.tensor<f32[6, 4], cpu>
  fx.output (%f,)
}
