// RUN: xductor-opt %s -p splitwithsizes_cat_replace | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 5], cpu>) {
  // CHECK-NEXT: %z = aten.relu.default %x : !fx.tensor<f32[s0, 5], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0, %p1 = aten.split_with_sizes.default %x, [2, 3], -1 : !fx.tensor<f32[s0, 2][5, 1], cpu>, !fx.tensor<f32[s0, 3][5, 1], cpu, offset 2>
  %y = aten.cat.default [%p0, %p1], 1 : !fx.tensor<f32[s0, 5], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[s0, 5], cpu>
  fx.output (%z,)
}

// Another order, another dim, a piece that is missing.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %p0, %p1 = aten.split_with_sizes.default %x, [2, 2], 1 : !fx.tensor<f32[4, 2][4, 1], cpu>, !fx.tensor<f32[4, 2][4, 1], cpu, offset 2>
  // CHECK-NEXT: %u = aten.cat.default [%p1, %p0], 1 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %v = aten.cat.default [%p0, %p1] : !fx.tensor<f32[8, 2], cpu>
  // CHECK-NEXT: %w = aten.cat.default [%p0], 1 : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: fx.output (%u, %v, %w)
  %p0, %p1 = aten.split_with_sizes.default %x, [2, 2], 1 : !fx.tensor<f32[4, 2][4, 1], cpu>, !fx.tensor<f32[4, 2][4, 1], cpu, offset 2>
  %u = aten.cat.default [%p1, %p0], 1 : !fx.tensor<f32[4, 4], cpu>
  %v = aten.cat.default [%p0, %p1] : !fx.tensor<f32[8, 2], cpu>
  %w = aten.cat.default [%p0], 1 : !fx.tensor<f32[4, 2], cpu>
  fx.output (%u, %v, %w)
}
