// RUN: xductor-opt %s -p cat_of_pieces | filecheck %s

// All pieces in order, however they were cut: by split, with a symbolic size beside.
// CHECK-LABEL: fx.graph @whole
fx.graph @whole stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 6], cpu>) {
  // CHECK-NEXT: %z = aten.relu.default %x : !fx.tensor<f32[s0, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0, %p1, %p2 = aten.split.Tensor %x, 2, 1 : !fx.tensor<f32[s0, 2][6, 1], cpu>, !fx.tensor<f32[s0, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[s0, 2][6, 1], cpu, offset 4>
  %y = aten.cat.default [%p0, %p1, %p2], 1 : !fx.tensor<f32[s0, 6], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[s0, 6], cpu>
  fx.output (%z,)
}

// Rows, stacked where they were taken from.
// CHECK-LABEL: fx.graph @rows
fx.graph @rows stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %z = aten.relu.default %x : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0, %p1, %p2 = aten.unbind.int %x, 1 : !fx.tensor<f32[2][3], cpu>, !fx.tensor<f32[2][3], cpu, offset 1>, !fx.tensor<f32[2][3], cpu, offset 2>
  %y = aten.stack.default [%p0, %p1, %p2], 1 : !fx.tensor<f32[2, 3], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[2, 3], cpu>
  fx.output (%z,)
}

// A part, by slices; what hangs on it begins elsewhere.
// CHECK-LABEL: fx.graph @part
fx.graph @part stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>) {
  // CHECK-NEXT: %slice = aten.slice.Tensor %x, 0, 1, 5 : !fx.tensor<f32[4, 2], cpu, offset 2>
  // CHECK-NEXT: %t = aten.permute.default %slice, [1, 0] : !fx.tensor<f32[2, 4][1, 2], cpu, offset 2>
  // CHECK-NEXT: %z = aten.relu.default %t : !fx.tensor<f32[2, 4][1, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0 = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 2], cpu, offset 2>
  %p1 = aten.slice.Tensor %x, 0, 3, 5 : !fx.tensor<f32[2, 2], cpu, offset 6>
  %y = aten.cat.default [%p0, %p1] : !fx.tensor<f32[4, 2], cpu>
  %t = aten.permute.default %y, [1, 0] : !fx.tensor<f32[2, 4][1, 2], cpu>
  %z = aten.relu.default %t : !fx.tensor<f32[2, 4][1, 2], cpu>
  fx.output (%z,)
}

// Pieces of two tensors, some of them mixed with others.
// CHECK-LABEL: fx.graph @fewer
fx.graph @fewer stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>, %w : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %q0, %q1 = aten.split_with_sizes.default %w, [2, 2], 1 : !fx.tensor<f32[2, 2][4, 1], cpu>, !fx.tensor<f32[2, 2][4, 1], cpu, offset 2>
  // CHECK-NEXT: %y = aten.cat.default [%q1, %x, %w, %x], 1 : !fx.tensor<f32[2, 14], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p0, %p1 = aten.split_with_sizes.default %x, [1, 3], 1 : !fx.tensor<f32[2, 1][4, 1], cpu>, !fx.tensor<f32[2, 3][4, 1], cpu, offset 1>
  %q0, %q1 = aten.split_with_sizes.default %w, [2, 2], 1 : !fx.tensor<f32[2, 2][4, 1], cpu>, !fx.tensor<f32[2, 2][4, 1], cpu, offset 2>
  %y = aten.cat.default [%q1, %p0, %p1, %q0, %q1, %p0, %p1], 1 : !fx.tensor<f32[2, 14], cpu>
  fx.output (%y,)
}

// Another order, one of them missing, along another dim: no two lie behind each other.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %p0, %p1, %p2 = aten.split.Tensor %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4>
  // CHECK-NEXT: %u = aten.cat.default [%p1, %p0], 1 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %v = aten.cat.default [%p0, %p1] : !fx.tensor<f32[8, 2], cpu>
  // CHECK-NEXT: fx.output (%u, %v)
  %p0, %p1, %p2 = aten.split.Tensor %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4>
  %u = aten.cat.default [%p1, %p0], 1 : !fx.tensor<f32[4, 4], cpu>
  %v = aten.cat.default [%p0, %p1] : !fx.tensor<f32[8, 2], cpu>
  fx.output (%u, %v)
}

// An output may not become the input; what is returned may not begin elsewhere.
// CHECK-LABEL: fx.graph @seen
fx.graph @seen stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %clone = aten.clone.default %x, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %a = aten.relu.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %a, 0, 1, 3 : !fx.tensor<f32[2], cpu, offset 1>
  // CHECK-NEXT: %clone_1 = aten.clone.default %slice, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: fx.output (%clone, %clone_1)
  %p0, %p1 = aten.split.Tensor %x, 2 : !fx.tensor<f32[2], cpu>, !fx.tensor<f32[2], cpu, offset 2>
  %u = aten.cat.default [%p0, %p1] : !fx.tensor<f32[4], cpu>
  %a = aten.relu.default %x : !fx.tensor<f32[4], cpu>
  %q0 = aten.slice.Tensor %a, 0, 1, 2 : !fx.tensor<f32[1], cpu, offset 1>
  %q1 = aten.slice.Tensor %a, 0, 2, 3 : !fx.tensor<f32[1], cpu, offset 2>
  %v = aten.cat.default [%q0, %q1] : !fx.tensor<f32[2], cpu>
  fx.output (%u, %v)
}

// It is written to later.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %clone = aten.clone.default %x, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %a = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %a : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %z = aten.relu.default %clone : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0, %p1 = aten.split.Tensor %x, 2 : !fx.tensor<f32[2], cpu>, !fx.tensor<f32[2], cpu, offset 2>
  %u = aten.cat.default [%p0, %p1] : !fx.tensor<f32[4], cpu>
  %a = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[4], cpu>
  %z = aten.relu.default %u : !fx.tensor<f32[4], cpu>
  fx.output (%z,)
}

// Other dtypes are cast.
// CHECK-LABEL: fx.graph @cast
fx.graph @cast stage(post_grad) symbols() (%x : !fx.tensor<f16[4], cpu>, %w : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %p0, %p1 = aten.split.Tensor %x, 2 : !fx.tensor<f16[2], cpu>, !fx.tensor<f16[2], cpu, offset 2>
  // CHECK-NEXT: %y = aten.cat.default [%p0, %p1, %w] : !fx.tensor<f32[6], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p0, %p1 = aten.split.Tensor %x, 2 : !fx.tensor<f16[2], cpu>, !fx.tensor<f16[2], cpu, offset 2>
  %y = aten.cat.default [%p0, %p1, %w] : !fx.tensor<f32[6], cpu>
  fx.output (%y,)
}
