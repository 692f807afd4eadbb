// RUN: xductor-opt %s -p select_cat_aten_pass | filecheck %s

// All rows: the tensor under other sizes.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2, 4], cpu>) {
  // CHECK-NEXT: %reshape = aten.reshape.default %x, [2, 8] : !fx.tensor<f32[2, 8], cpu> aliases(0)
  // CHECK-NEXT: %z = aten.relu.default %reshape : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0 = aten.select.int %x, 1, 0 : !fx.tensor<f32[2, 4][8, 1], cpu>
  %p1 = aten.select.int %x, 1, 1 : !fx.tensor<f32[2, 4][8, 1], cpu, offset 4>
  %y = aten.cat.default [%p0, %p1], 1 : !fx.tensor<f32[2, 8], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[2, 8], cpu>
  fx.output (%z,)
}

// Of a permuted tensor no view has them: one copy.
// CHECK-LABEL: fx.graph @copies
fx.graph @copies stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 4], cpu>) {
  // CHECK-NEXT: %permute = aten.permute.default %x, [1, 0, 2] : !fx.tensor<f32[3, 2, 4][4, 12, 1], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %permute, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3, 2, 4], cpu>
  // CHECK-NEXT: %reshape = aten.reshape.default %clone, [3, 8] : !fx.tensor<f32[3, 8], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%reshape,)
  %p0 = aten.select.int %x, 0, 0 : !fx.tensor<f32[3, 4], cpu>
  %p1 = aten.select.int %x, 0, 1 : !fx.tensor<f32[3, 4], cpu, offset 12>
  %y = aten.cat.default [%p0, %p1], 1 : !fx.tensor<f32[3, 8], cpu>
  fx.output (%y,)
}

// Not in order; and not rows.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2, 4], cpu>) {
  // CHECK-NEXT: %p0 = aten.select.int %x, 1, 0 : !fx.tensor<f32[2, 4][8, 1], cpu>
  // CHECK-NEXT: %p1 = aten.select.int %x, 1, 1 : !fx.tensor<f32[2, 4][8, 1], cpu, offset 4>
  // CHECK-NEXT: %y = aten.cat.default [%p1, %p0], 1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %q0 = aten.slice.Tensor %x, 1, 0, 1 : !fx.tensor<f32[2, 1, 4][8, 4, 1], cpu>
  // CHECK-NEXT: %q1 = aten.slice.Tensor %x, 1, 1, 2 : !fx.tensor<f32[2, 1, 4][8, 4, 1], cpu, offset 4>
  // CHECK-NEXT: %u = aten.cat.default [%q0, %q1], 1 : !fx.tensor<f32[2, 2, 4], cpu>
  // CHECK-NEXT: fx.output (%y, %u)
  %p0 = aten.select.int %x, 1, 0 : !fx.tensor<f32[2, 4][8, 1], cpu>
  %p1 = aten.select.int %x, 1, 1 : !fx.tensor<f32[2, 4][8, 1], cpu, offset 4>
  %y = aten.cat.default [%p1, %p0], 1 : !fx.tensor<f32[2, 8], cpu>
  %q0 = aten.slice.Tensor %x, 1, 0, 1 : !fx.tensor<f32[2, 1, 4][8, 4, 1], cpu>
  %q1 = aten.slice.Tensor %x, 1, 1, 2 : !fx.tensor<f32[2, 1, 4][8, 4, 1], cpu, offset 4>
  %u = aten.cat.default [%q0, %q1], 1 : !fx.tensor<f32[2, 2, 4], cpu>
  fx.output (%y, %u)
}
