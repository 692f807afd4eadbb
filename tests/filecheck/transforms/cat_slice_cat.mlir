// RUN: xductor-opt %s -p cat_slice_cat | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [4, 64]) (%a : !fx.tensor<f32[s0, 4], cpu>, %b : !fx.tensor<f32[s0, 6], cpu>) {
  // CHECK-NEXT: %slice = aten.slice.Tensor %a, 1, 0, 3 : !fx.tensor<f32[s0, 3][4, 1], cpu>
  // CHECK-NEXT: %x = aten.cat.default [%a, %b, %slice], 1 : !fx.tensor<f32[s0, 13], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %b, 1, 2, 6 : !fx.tensor<f32[s0, 4][6, 1], cpu, offset 2>
  // CHECK-NEXT: %y = aten.cat.default [%b, %b, %slice_1], 1 : !fx.tensor<f32[s0, 16], cpu>
  // CHECK-NEXT: fx.output (%x, %y)
  %first = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[s0, 10], cpu>
  %part = aten.slice.Tensor %first, -1, 0, 3 : !fx.tensor<f32[s0, 3][10, 1], cpu>
  %x = aten.cat.default [%first, %part], 1 : !fx.tensor<f32[s0, 13], cpu>
  %other = aten.cat.default [%b, %b], 1 : !fx.tensor<f32[s0, 12], cpu>
  %all = aten.slice.Tensor %other, 1, 2, 6 : !fx.tensor<f32[s0, 4][12, 1], cpu, offset 2>
  %y = aten.cat.default [%other, %all], -1 : !fx.tensor<f32[s0, 16], cpu>
  fx.output (%x, %y)
}

// A slice that goes into the second; two dims; a step; another dtype; the cat read elsewhere.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%a : !fx.tensor<f32[4, 4], cpu>, %b : !fx.tensor<f32[4, 4], cpu>, %h : !fx.tensor<f16[4, 4], cpu>) {
  // CHECK-NEXT: %c = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %d = aten.slice.Tensor %c, 1, 0, 5 : !fx.tensor<f32[4, 5][8, 1], cpu>
  // CHECK-NEXT: %v = aten.cat.default [%c, %d], 1 : !fx.tensor<f32[4, 13], cpu>
  // CHECK-NEXT: %e = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %f = aten.slice.Tensor %e, 0, 0, 3 : !fx.tensor<f32[3, 8], cpu>
  // CHECK-NEXT: %w = aten.cat.default [%e, %f] : !fx.tensor<f32[7, 8], cpu>
  // CHECK-NEXT: %g = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %i = aten.slice.Tensor %g, 1, 0, 4, 2 : !fx.tensor<f32[4, 2][8, 2], cpu>
  // CHECK-NEXT: %x = aten.cat.default [%g, %i], 1 : !fx.tensor<f32[4, 10], cpu>
  // CHECK-NEXT: %j = aten.cat.default [%a, %h], 1 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %k = aten.slice.Tensor %j, 1, 0, 2 : !fx.tensor<f32[4, 2][8, 1], cpu>
  // CHECK-NEXT: %y = aten.cat.default [%j, %k], 1 : !fx.tensor<f32[4, 10], cpu>
  // CHECK-NEXT: %l = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %m = aten.slice.Tensor %l, 1, 0, 2 : !fx.tensor<f32[4, 2][8, 1], cpu>
  // CHECK-NEXT: %z = aten.cat.default [%l, %m], 1 : !fx.tensor<f32[4, 10], cpu>
  // CHECK-NEXT: fx.output (%v, %w, %x, %y, %l, %z)
  %c = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  %d = aten.slice.Tensor %c, 1, 0, 5 : !fx.tensor<f32[4, 5][8, 1], cpu>
  %v = aten.cat.default [%c, %d], 1 : !fx.tensor<f32[4, 13], cpu>
  %e = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  %f = aten.slice.Tensor %e, 0, 0, 3 : !fx.tensor<f32[3, 8], cpu>
  %w = aten.cat.default [%e, %f], 0 : !fx.tensor<f32[7, 8], cpu>
  %g = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  %i = aten.slice.Tensor %g, 1, 0, 4, 2 : !fx.tensor<f32[4, 2][8, 2], cpu>
  %x = aten.cat.default [%g, %i], 1 : !fx.tensor<f32[4, 10], cpu>
  %j = aten.cat.default [%a, %h], 1 : !fx.tensor<f32[4, 8], cpu>
  %k = aten.slice.Tensor %j, 1, 0, 2 : !fx.tensor<f32[4, 2][8, 1], cpu>
  %y = aten.cat.default [%j, %k], 1 : !fx.tensor<f32[4, 10], cpu>
  %l = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[4, 8], cpu>
  %m = aten.slice.Tensor %l, 1, 0, 2 : !fx.tensor<f32[4, 2][8, 1], cpu>
  %z = aten.cat.default [%l, %m], 1 : !fx.tensor<f32[4, 10], cpu>
  fx.output (%v, %w, %x, %y, %l, %z)
}

// Whether the slice ends in the first tensor is not known.
// CHECK-LABEL: fx.graph @unknown
fx.graph @unknown stage(post_grad) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[s0], cpu>, %b : !fx.tensor<f32[8], cpu>) {
  // CHECK-NEXT: %c = aten.cat.default [%a, %b] : !fx.tensor<f32[s0 + 8], cpu>
  // CHECK-NEXT: %d = aten.slice.Tensor %c, 0, 0, 3 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %x = aten.cat.default [%c, %d] : !fx.tensor<f32[s0 + 11], cpu>
  // CHECK-NEXT: fx.output (%x,)
  %c = aten.cat.default [%a, %b] : !fx.tensor<f32[s0 + 8], cpu>
  %d = aten.slice.Tensor %c, 0, 0, 3 : !fx.tensor<f32[3], cpu>
  %x = aten.cat.default [%c, %d] : !fx.tensor<f32[s0 + 11], cpu>
  fx.output (%x)
}
