// RUN: xductor-opt %s -p cat_splitwithsizes_replace | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[s0, 2], cpu>, %b : !fx.tensor<f32[s0, 3], cpu>) {
  // CHECK-NEXT: %y = aten.relu.default %a : !fx.tensor<f32[s0, 2], cpu>
  // CHECK-NEXT: %z = aten.relu.default %b : !fx.tensor<f32[s0, 3], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %c = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[s0, 5], cpu>
  %p0, %p1 = aten.split_with_sizes.default %c, [2, 3], 1 : !fx.tensor<f32[s0, 2][5, 1], cpu>, !fx.tensor<f32[s0, 3][5, 1], cpu, offset 2>
  %y = aten.relu.default %p0 : !fx.tensor<f32[s0, 2], cpu>
  %z = aten.relu.default %p1 : !fx.tensor<f32[s0, 3], cpu>
  fx.output (%y, %z)
}

// Cut elsewhere; dtypes that cat promotes.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%a : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<f32[2, 3], cpu>, %h : !fx.tensor<f16[2, 3], cpu>) {
  // CHECK-NEXT: %c = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[2, 5], cpu>
  // CHECK-NEXT: %p0, %p1 = aten.split_with_sizes.default %c, [3, 2], 1 : !fx.tensor<f32[2, 3][5, 1], cpu>, !fx.tensor<f32[2, 2][5, 1], cpu, offset 3>
  // CHECK-NEXT: %w = aten.relu.default %p0 : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %x = aten.relu.default %p1 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %d = aten.cat.default [%a, %h], 1 : !fx.tensor<f32[2, 5], cpu>
  // CHECK-NEXT: %q0, %q1 = aten.split_with_sizes.default %d, [2, 3], 1 : !fx.tensor<f32[2, 2][5, 1], cpu>, !fx.tensor<f32[2, 3][5, 1], cpu, offset 2>
  // CHECK-NEXT: %y = aten.relu.default %q0 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %z = aten.relu.default %q1 : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: fx.output (%w, %x, %y, %z)
  %c = aten.cat.default [%a, %b], 1 : !fx.tensor<f32[2, 5], cpu>
  %p0, %p1 = aten.split_with_sizes.default %c, [3, 2], 1 : !fx.tensor<f32[2, 3][5, 1], cpu>, !fx.tensor<f32[2, 2][5, 1], cpu, offset 3>
  %w = aten.relu.default %p0 : !fx.tensor<f32[2, 3], cpu>
  %x = aten.relu.default %p1 : !fx.tensor<f32[2, 2], cpu>
  %d = aten.cat.default [%a, %h], 1 : !fx.tensor<f32[2, 5], cpu>
  %q0, %q1 = aten.split_with_sizes.default %d, [2, 3], 1 : !fx.tensor<f32[2, 2][5, 1], cpu>, !fx.tensor<f32[2, 3][5, 1], cpu, offset 2>
  %y = aten.relu.default %q0 : !fx.tensor<f32[2, 2], cpu>
  %z = aten.relu.default %q1 : !fx.tensor<f32[2, 3], cpu>
  fx.output (%w, %x, %y, %z)
}
