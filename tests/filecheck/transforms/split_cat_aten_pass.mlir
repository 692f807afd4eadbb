// RUN: xductor-opt %s -p 'split_cat_aten_pass{threshold_to_cat=3}' | filecheck %s

// Four parts, three of them behind each other.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %p0, %p1, %p2, %p3 = aten.split_with_sizes.default %x, [1, 1, 1, 1], 1 : !fx.tensor<f32[2, 1][4, 1], cpu>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 1>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 2>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 3>
  // CHECK-NEXT: %slice = aten.slice.Tensor %x, 1, 1, 4 : !fx.tensor<f32[2, 3][4, 1], cpu, offset 1>
  // CHECK-NEXT: %y = aten.cat.default [%slice, %p0], 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p0, %p1, %p2, %p3 = aten.split_with_sizes.default %x, [1, 1, 1, 1], 1 : !fx.tensor<f32[2, 1][4, 1], cpu>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 1>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 2>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 3>
  %y = aten.cat.default [%p1, %p2, %p3, %p0], 1 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%y,)
}

// The pieces twice: all of what was cut, though they are fewer than the threshold.
// CHECK-LABEL: fx.graph @twice
fx.graph @twice stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %y = aten.cat.default [%x, %x], 1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p0, %p1 = aten.split_with_sizes.default %x, [1, 3], 1 : !fx.tensor<f32[2, 1][4, 1], cpu>, !fx.tensor<f32[2, 3][4, 1], cpu, offset 1>
  %y = aten.cat.default [%p0, %p1, %p0, %p1], 1 : !fx.tensor<f32[2, 8], cpu>
  fx.output (%y,)
}

// Two of three parts lie behind each other: too few.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %p0, %p1, %p2, %p3 = aten.split_with_sizes.default %x, [1, 1, 1, 1], 1 : !fx.tensor<f32[2, 1][4, 1], cpu>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 1>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 2>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 3>
  // CHECK-NEXT: %y = aten.cat.default [%p1, %p2, %p0], 1 : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p0, %p1, %p2, %p3 = aten.split_with_sizes.default %x, [1, 1, 1, 1], 1 : !fx.tensor<f32[2, 1][4, 1], cpu>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 1>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 2>, !fx.tensor<f32[2, 1][4, 1], cpu, offset 3>
  %y = aten.cat.default [%p1, %p2, %p0], 1 : !fx.tensor<f32[2, 3], cpu>
  fx.output (%y,)
}

// Two parts are no long cat.
// CHECK-LABEL: fx.graph @short
fx.graph @short stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.relu.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %p0, %p1 = aten.split_with_sizes.default %a, [2, 2] : !fx.tensor<f32[2], cpu>, !fx.tensor<f32[2], cpu, offset 2>
  // CHECK-NEXT: %y = aten.cat.default [%p0, %p1] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %a = aten.relu.default %x : !fx.tensor<f32[4], cpu>
  %p0, %p1 = aten.split_with_sizes.default %a, [2, 2] : !fx.tensor<f32[2], cpu>, !fx.tensor<f32[2], cpu, offset 2>
  %y = aten.cat.default [%p0, %p1] : !fx.tensor<f32[4], cpu>
  fx.output (%y,)
}
