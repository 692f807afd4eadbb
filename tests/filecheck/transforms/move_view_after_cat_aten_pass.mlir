// RUN: xductor-opt %s -p move_view_after_cat_aten_pass | filecheck %s

// Each piece under other sizes, put together along the dim that was cut.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 6], cpu>) {
  // CHECK-NEXT: %reshape = aten.reshape.default %x, [2, 6, 1] : !fx.tensor<f32[2, 6, 1], cpu> aliases(0)
  // CHECK-NEXT: %z = aten.relu.default %reshape : !fx.tensor<f32[2, 6, 1], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0, %p1 = aten.split_with_sizes.default %x, [3, 3], 1 : !fx.tensor<f32[2, 3][6, 1], cpu>, !fx.tensor<f32[2, 3][6, 1], cpu, offset 3>
  %q0 = aten.reshape.default %p0, [2, 3, 1] : !fx.tensor<f32[2, 3, 1][6, 1, 1], cpu> aliases(0)
  %q1 = aten.reshape.default %p1, [2, 3, 1] : !fx.tensor<f32[2, 3, 1][6, 1, 1], cpu, offset 3> aliases(0)
  %y = aten.cat.default [%q0, %q1], 1 : !fx.tensor<f32[2, 6, 1], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[2, 6, 1], cpu>
  fx.output (%z,)
}

// Along another dim: a permutation, copied once. The reshapes of the pieces copy too.
// CHECK-LABEL: fx.graph @permutes
fx.graph @permutes stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 6], cpu>) {
  // CHECK-NEXT: %reshape = aten.reshape.default %x, [2, 2, 3] : !fx.tensor<f32[2, 2, 3], cpu> aliases(0)
  // CHECK-NEXT: %permute = aten.permute.default %reshape, [0, 2, 1] : !fx.tensor<f32[2, 3, 2][6, 1, 3], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %permute, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[2, 3, 2], cpu>
  // CHECK-NEXT: %reshape_1 = aten.reshape.default %clone, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%reshape_1,)
  %p0, %p1 = aten.split_with_sizes.default %x, [3, 3], 1 : !fx.tensor<f32[2, 3][6, 1], cpu>, !fx.tensor<f32[2, 3][6, 1], cpu, offset 3>
  %q0 = aten.reshape.default %p0, [6, 1] : !fx.tensor<f32[6, 1], cpu>
  %q1 = aten.reshape.default %p1, [6, 1] : !fx.tensor<f32[6, 1], cpu>
  %y = aten.cat.default [%q0, %q1], 1 : !fx.tensor<f32[6, 2], cpu>
  fx.output (%y,)
}

// Of two tensors.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 6], cpu>, %w : !fx.tensor<f32[2, 6], cpu>) {
  // CHECK-NEXT: %p0, %p1 = aten.split_with_sizes.default %x, [3, 3], 1 : !fx.tensor<f32[2, 3][6, 1], cpu>, !fx.tensor<f32[2, 3][6, 1], cpu, offset 3>
  // CHECK-NEXT: %r0, %r1 = aten.split_with_sizes.default %w, [3, 3], 1 : !fx.tensor<f32[2, 3][6, 1], cpu>, !fx.tensor<f32[2, 3][6, 1], cpu, offset 3>
  // CHECK-NEXT: %q0 = aten.reshape.default %p0, [2, 3, 1] : !fx.tensor<f32[2, 3, 1][6, 1, 1], cpu> aliases(0)
  // CHECK-NEXT: %q1 = aten.reshape.default %r1, [2, 3, 1] : !fx.tensor<f32[2, 3, 1][6, 1, 1], cpu, offset 3> aliases(0)
  // CHECK-NEXT: %y = aten.cat.default [%q0, %q1], 1 : !fx.tensor<f32[2, 6, 1], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p0, %p1 = aten.split_with_sizes.default %x, [3, 3], 1 : !fx.tensor<f32[2, 3][6, 1], cpu>, !fx.tensor<f32[2, 3][6, 1], cpu, offset 3>
  %r0, %r1 = aten.split_with_sizes.default %w, [3, 3], 1 : !fx.tensor<f32[2, 3][6, 1], cpu>, !fx.tensor<f32[2, 3][6, 1], cpu, offset 3>
  %q0 = aten.reshape.default %p0, [2, 3, 1] : !fx.tensor<f32[2, 3, 1][6, 1, 1], cpu> aliases(0)
  %q1 = aten.reshape.default %r1, [2, 3, 1] : !fx.tensor<f32[2, 3, 1][6, 1, 1], cpu, offset 3> aliases(0)
  %y = aten.cat.default [%q0, %q1], 1 : !fx.tensor<f32[2, 6, 1], cpu>
  fx.output (%y,)
}
