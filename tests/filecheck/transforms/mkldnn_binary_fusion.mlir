// RUN: xductor-opt %s -p mkldnn_binary_fusion | filecheck %s

// A sum is computed with the call.
// CHECK-LABEL: fx.graph @sum
fx.graph @sum stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %convolution_binary = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%convolution_binary,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Whichever comes first.
// CHECK-LABEL: fx.graph @sum_second
fx.graph @sum_second stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %convolution_binary = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%convolution_binary,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %o, %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A difference.
// CHECK-LABEL: fx.graph @difference
fx.graph @difference stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %convolution_binary = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "sub", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%convolution_binary,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.sub.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// One element for each channel.
// CHECK-LABEL: fx.graph @channels
fx.graph @channels stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[1, 4, 1, 1], cpu>) {
  // CHECK-NEXT: %convolution_binary = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%convolution_binary,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A linear.
// CHECK-LABEL: fx.graph @linear
fx.graph @linear stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>, %w : !fx.tensor<f32[4, 3], cpu>, %o : !fx.tensor<f32[1, 4], cpu>) {
  // CHECK-NEXT: %linear_binary = xductor.linear_binary.default %x, %o, %w, none, "add" : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%linear_binary,)
  %y = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[2, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4], cpu>
  fx.output (%z,)
}

// Of two calls the later one takes the result of the earlier one.
// CHECK-LABEL: fx.graph @two_calls
fx.graph @two_calls stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %convolution_binary = xductor.convolution_binary.default %x, %y, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%convolution_binary,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %y2 = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %y2 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// oneDNN's relu gives 0 for NaN, so it stays.
// CHECK-LABEL: fx.graph @relu_stays
fx.graph @relu_stays stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %convolution_binary = xductor.convolution_binary.default %x, %o, %w, none, [0, 0], [1, 1], [1, 1], 1, "add", none : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.relu.default %convolution_binary : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %s = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.relu.default %s : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// The result is subtracted from something.
// CHECK-LABEL: fx.graph @subtracted
fx.graph @subtracted stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.sub.Tensor %o, %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.sub.Tensor %o, %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A factor.
// CHECK-LABEL: fx.graph @factor
fx.graph @factor stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %o, alpha = 2 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o, alpha = 2 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Twice the result.
// CHECK-LABEL: fx.graph @twice
fx.graph @twice stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A number.
// CHECK-LABEL: fx.graph @number
fx.graph @number stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, 1.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, 1.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Sizes that oneDNN does not broadcast.
// CHECK-LABEL: fx.graph @rows
fx.graph @rows stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 1, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A vector, which is broadcast along columns.
// CHECK-LABEL: fx.graph @columns
fx.graph @columns stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Another dtype.
// CHECK-LABEL: fx.graph @other_dtype
fx.graph @other_dtype stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<bf16[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// The sum is wider than the result.
// CHECK-LABEL: fx.graph @wider
fx.graph @wider stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[1, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[1, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Something is computed with the call already.
// CHECK-LABEL: fx.graph @computed_already
fx.graph @computed_already stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "tanh", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "tanh", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Somebody else reads the result.
// CHECK-LABEL: fx.graph @read_elsewhere
fx.graph @read_elsewhere stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z, %y)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %y, %o : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z, %y)
}

// The sum has other strides, and is returned.
// CHECK-LABEL: fx.graph @strides
fx.graph @strides stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %o : !fx.tensor<f32[2, 4, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %o, %y : !fx.tensor<f32[2, 4, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.add.Tensor %o, %y : !fx.tensor<f32[2, 4, 3, 3], cpu>
  fx.output (%z,)
}
