// RUN: xductor-opt %s -p reinplace_inplaceable_ops | filecheck %s

// A convolution adds to what nothing reads later.
// CHECK-LABEL: fx.graph @sum_in_place
fx.graph @sum_in_place stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary_.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// What the graph was given is not written.
// CHECK-LABEL: fx.graph @sum_with_an_input
fx.graph @sum_with_an_input stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %z = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// It is read later.
// CHECK-LABEL: fx.graph @sum_read_later
fx.graph @sum_read_later stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.mul.Tensor %r, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%a,)
  %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.mul.Tensor %r, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%a,)
}

// It is returned.
// CHECK-LABEL: fx.graph @sum_returned
fx.graph @sum_returned stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z, %r)
  %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z, %r)
}

// A view of it is read later.
// CHECK-LABEL: fx.graph @sum_view_read_later
fx.graph @sum_view_read_later stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %v = aten.select.int %r, 0, 0 : !fx.tensor<f32[4, 3, 3][1, 12, 4], cpu> aliases(0)
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.mul.Tensor %v, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%a,)
  %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %v = aten.select.int %r, 0, 0 : !fx.tensor<f32[4, 3, 3][1, 12, 4], cpu> aliases(0)
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.mul.Tensor %v, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%a,)
}

// A difference: oneDNN only adds in place.
// CHECK-LABEL: fx.graph @difference
fx.graph @difference stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "sub", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "sub", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// The convolution reads it itself.
// CHECK-LABEL: fx.graph @sum_with_its_data
fx.graph @sum_with_its_data stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>, %w1 : !fx.tensor<f32[4, 4, 1, 1], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary.default %r, %r, %w1, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = xductor.convolution_binary.default %r, %r, %w1, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// It is broadcast.
// CHECK-LABEL: fx.graph @sum_broadcast
fx.graph @sum_broadcast stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[1, 4, 1, 1], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[1, 4, 1, 1], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.relu.default %o : !fx.tensor<f32[1, 4, 1, 1], cpu>
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// It is laid out otherwise.
// CHECK-LABEL: fx.graph @sum_laid_out_otherwise
fx.graph @sum_laid_out_otherwise stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3], cpu>) {
  // CHECK-NEXT: %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3], cpu>
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A sum that goes back into an input: the copy stays.
// CHECK-LABEL: fx.graph @sum_copied_back
fx.graph @sum_copied_back stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %o, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%c,)
  %z = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %c = aten.copy_.default %o, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu> aliases(0)
  fx.output (%c,)
}

// What code generation may leave out: it would be the memory of something else.
// CHECK-LABEL: fx.graph @sum_with_what_may_be_left_out
fx.graph @sum_with_what_may_be_left_out stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %s = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %r = prims.inductor_force_stride_order.default %s, [36, 1, 12, 4] : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.mul.Tensor %s, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%a,)
  %s = aten.relu.default %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %r = prims.inductor_force_stride_order.default %s, [36, 1, 12, 4] : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = xductor.convolution_binary.default %x, %r, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.mul.Tensor %s, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%a,)
}
