// RUN: xductor-opt %s -p normalization_aten_pass | filecheck %s

// The last piece is smaller.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 3], cpu>) {
  // CHECK-NEXT: %split_with_sizes#0, %split_with_sizes#1, %split_with_sizes#2 = aten.split_with_sizes.default %x, [2, 2, 1] : !fx.tensor<f32[2, 3], cpu>, !fx.tensor<f32[2, 3], cpu, offset 6>, !fx.tensor<f32[1, 3], cpu, offset 12>
  // CHECK-NEXT: %y = aten.cat.default [%split_with_sizes#2, %split_with_sizes#0] : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %q0, %q1 = aten.split_with_sizes.default %y, [1, 2], 1 : !fx.tensor<f32[3, 1][3, 1], cpu>, !fx.tensor<f32[3, 2][3, 1], cpu, offset 1>
  // CHECK-NEXT: %z = aten.relu.default %q1 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0, %p1, %p2 = aten.split.Tensor %x, 2, -2 : !fx.tensor<f32[2, 3], cpu>, !fx.tensor<f32[2, 3], cpu, offset 6>, !fx.tensor<f32[1, 3], cpu, offset 12>
  %y = aten.cat.default [%p2, %p0], -2 : !fx.tensor<f32[3, 3], cpu>
  %q0, %q1 = aten.split_with_sizes.default %y, [1, 2], -1 : !fx.tensor<f32[3, 1][3, 1], cpu>, !fx.tensor<f32[3, 2][3, 1], cpu, offset 1>
  %z = aten.relu.default %q1 : !fx.tensor<f32[3, 2], cpu>
  fx.output (%z,)
}

// In the one spelling already, and as many pieces as nobody knows.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols(s0 : int positive [5, 6]) (%x : !fx.tensor<f32[s0, 3], cpu>) {
  // CHECK-NEXT: %p0, %p1 = aten.split.Tensor %x, 3 : !fx.tensor<f32[3, 3], cpu>, !fx.tensor<f32[s0 - 3, 3], cpu, offset 9>
  // CHECK-NEXT: %q0, %q1 = aten.split_with_sizes.default %p0, [1, 2], 1 : !fx.tensor<f32[3, 1][3, 1], cpu>, !fx.tensor<f32[3, 2][3, 1], cpu, offset 1>
  // CHECK-NEXT: %y = aten.cat.default [%q1, %q0], 1 : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %z = aten.relu.default %p1 : !fx.tensor<f32[s0 - 3, 3], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %p0, %p1 = aten.split.Tensor %x, 3 : !fx.tensor<f32[3, 3], cpu>, !fx.tensor<f32[s0 - 3, 3], cpu, offset 9>
  %q0, %q1 = aten.split_with_sizes.default %p0, [1, 2], 1 : !fx.tensor<f32[3, 1][3, 1], cpu>, !fx.tensor<f32[3, 2][3, 1], cpu, offset 1>
  %y = aten.cat.default [%q1, %q0], 1 : !fx.tensor<f32[3, 3], cpu>
  %z = aten.relu.default %p1 : !fx.tensor<f32[s0 - 3, 3], cpu>
  fx.output (%y, %z)
}
