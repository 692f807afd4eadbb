// RUN: xductor-opt %s -p reinplace_inplaceable_ops | filecheck %s

// Each loop reads the element that it writes.
// CHECK-LABEL: fx.graph @in_step
fx.graph @in_step stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %e = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %_foreach_add_ = aten._foreach_add_.List [%x, %y], [%e, %y] : !fx.none
  // CHECK-NEXT: fx.output ()
  %e = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  %a, %b = aten._foreach_add.List [%x, %y], [%e, %y] : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// So it does through another call on lists.
// CHECK-LABEL: fx.graph @in_step_through_a_list
fx.graph @in_step_through_a_list stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %p, %q = aten._foreach_mul.Scalar [%x, %y], 2.0 : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %_foreach_addcmul_ = aten._foreach_addcmul_.Scalar [%x, %y], [%p, %q], [%x, %q], 0.5 : !fx.none
  // CHECK-NEXT: fx.output ()
  %p, %q = aten._foreach_mul.Scalar [%x, %y], 2.0 : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %a, %b = aten._foreach_addcmul.Scalar [%x, %y], [%p, %q], [%x, %q], 0.5 : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// A product and a long sum are in memory before the loop runs.
// CHECK-LABEL: fx.graph @in_memory
fx.graph @in_memory stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>, %y : !fx.tensor<f32[80, 4], cpu>) {
  // CHECK-NEXT: %m = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %s = aten.sum.dim_IntList %y, [0], true : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %w = aten.expand.default %s, [80, 4] : !fx.tensor<f32[80, 4][0, 1], cpu>
  // CHECK-NEXT: %_foreach_add_ = aten._foreach_add_.List [%x, %y], [%m, %w] : !fx.none
  // CHECK-NEXT: fx.output ()
  %m = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %s = aten.sum.dim_IntList %y, [0], true : !fx.tensor<f32[1, 4], cpu>
  %w = aten.expand.default %s, [80, 4] : !fx.tensor<f32[80, 4][0, 1], cpu>
  %a, %b = aten._foreach_add.List [%x, %y], [%m, %w] : !fx.tensor<f32[4, 4], cpu>, !fx.tensor<f32[80, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[4, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[80, 4], cpu>
  fx.output ()
}

// Another row of `x` would be read, which may have been written.
// CHECK-LABEL: fx.graph @flipped
fx.graph @flipped stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %f = prims.rev.default %x, [0] : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %e = aten.exp.default %f : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %a, %b = aten._foreach_add.List [%x, %y], [%e, %y] : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %f = prims.rev.default %x, [0] : !fx.tensor<f32[5, 4], cpu>
  %e = aten.exp.default %f : !fx.tensor<f32[5, 4], cpu>
  %a, %b = aten._foreach_add.List [%x, %y], [%e, %y] : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// The loop of `y` would read `x`, which may have been written.
// CHECK-LABEL: fx.graph @another_of_the_list
fx.graph @another_of_the_list stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %a, %b = aten._foreach_add.List [%x, %y], [%y, %x] : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %a, %b = aten._foreach_add.List [%x, %y], [%y, %x] : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// A sum of few terms is written out, so that the loop reads them.
// CHECK-LABEL: fx.graph @a_short_sum
fx.graph @a_short_sum stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %s = aten.sum.dim_IntList %x, [0], true : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %w = aten.expand.default %s, [5, 4] : !fx.tensor<f32[5, 4][0, 1], cpu>
  // CHECK-NEXT: %a, %b = aten._foreach_add.List [%x, %y], [%w, %y] : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %s = aten.sum.dim_IntList %x, [0], true : !fx.tensor<f32[1, 4], cpu>
  %w = aten.expand.default %s, [5, 4] : !fx.tensor<f32[5, 4][0, 1], cpu>
  %a, %b = aten._foreach_add.List [%x, %y], [%w, %y] : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// The rows may differ, whatever the size is.
// CHECK-LABEL: fx.graph @symbolic
fx.graph @symbolic stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 4], cpu>, %y : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %f = prims.rev.default %x, [0] : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: %a, %b = aten._foreach_copy.default [%x, %y], [%f, %y] : !fx.tensor<f32[s0, 4], cpu>, !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %a : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: %d = aten.copy_.default %y, %b : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %f = prims.rev.default %x, [0] : !fx.tensor<f32[s0, 4], cpu>
  %a, %b = aten._foreach_copy.default [%x, %y], [%f, %y] : !fx.tensor<f32[s0, 4], cpu>, !fx.tensor<f32[s0, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[s0, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[s0, 4], cpu>
  fx.output ()
}
