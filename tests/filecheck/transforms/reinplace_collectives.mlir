// RUN: xductor-opt %s -p reinplace_inplaceable_ops --verify-level types | filecheck %s

// A collective writes to its operand where nobody reads that later.
// CHECK-LABEL: fx.graph @one
fx.graph @one stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %r = _c10d_functional.all_reduce_.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%w,)
  %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %r = _c10d_functional.all_reduce.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  fx.output (%w,)
}

// CHECK-LABEL: fx.graph @two
fx.graph @two stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %r = _c10d_functional.all_reduce_.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %mm1 = aten.mm.default %w, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %r1 = _c10d_functional.all_reduce_.default %mm1, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w1 = _c10d_functional.wait_tensor.default %r1 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%w1,)
  %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %r = _c10d_functional.all_reduce.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  %mm1 = aten.mm.default %w, %x : !fx.tensor<f32[4, 4], cpu>
  %r1 = _c10d_functional.all_reduce.default %mm1, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  %w1 = _c10d_functional.wait_tensor.default %r1 : !fx.tensor<f32[4, 4], cpu>
  fx.output (%w1,)
}

// CHECK-LABEL: fx.graph @the_operand_is_read_later
fx.graph @the_operand_is_read_later stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %r = _c10d_functional.all_reduce.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %w, %mm : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%add,)
  %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %r = _c10d_functional.all_reduce.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  %add = aten.add.Tensor %w, %mm : !fx.tensor<f32[4, 4], cpu>
  fx.output (%add,)
}

// The second of two equal collectives may, the first may not.
// CHECK-LABEL: fx.graph @twice_the_same
fx.graph @twice_the_same stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %r = _c10d_functional.all_reduce.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %r1 = _c10d_functional.all_reduce_.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w1 = _c10d_functional.wait_tensor.default %r1 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%w, %w1)
  %mm = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %r = _c10d_functional.all_reduce.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  %w = _c10d_functional.wait_tensor.default %r : !fx.tensor<f32[4, 4], cpu>
  %r1 = _c10d_functional.all_reduce.default %mm, "sum", "0" : !fx.tensor<f32[4, 4], cpu>
  %w1 = _c10d_functional.wait_tensor.default %r1 : !fx.tensor<f32[4, 4], cpu>
  fx.output (%w, %w1)
}

// CHECK-LABEL: fx.graph @several
fx.graph @several stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %b = aten.sin.default %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %all_reduce_coalesced_#0, %all_reduce_coalesced_#1 = _c10d_functional.all_reduce_coalesced_.default [%a, %b], "sum", "0" : !fx.tensor<f32[4, 4], cpu>, !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = _c10d_functional.wait_tensor.default %all_reduce_coalesced_#0 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w1 = _c10d_functional.wait_tensor.default %all_reduce_coalesced_#1 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%w, %w1)
  %a = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %b = aten.sin.default %x : !fx.tensor<f32[4, 4], cpu>
  %r0, %r1 = _c10d_functional.all_reduce_coalesced.default [%a, %b], "sum", "0" : !fx.tensor<f32[4, 4], cpu>, !fx.tensor<f32[4, 4], cpu>
  %w = _c10d_functional.wait_tensor.default %r0 : !fx.tensor<f32[4, 4], cpu>
  %w1 = _c10d_functional.wait_tensor.default %r1 : !fx.tensor<f32[4, 4], cpu>
  fx.output (%w, %w1)
}
