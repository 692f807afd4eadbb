// RUN: xductor-opt %s -p mkldnn_unary_fusion | filecheck %s

// An activation is computed with the call.
// CHECK-LABEL: fx.graph @activation
fx.graph @activation stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "sigmoid", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%_convolution_pointwise,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.sigmoid.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// One that ATen spells with several ops.
// CHECK-LABEL: fx.graph @spelled
fx.graph @spelled stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "gelu", [], "none" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%_convolution_pointwise,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %h = aten.mul.Tensor %y, 0.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e0 = aten.mul.Tensor %y, 0.7071067811865476 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e = aten.erf.default %e0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.mul.Tensor %h, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Narrow results are computed in float32 between casts.
// CHECK-LABEL: fx.graph @between_casts
fx.graph @between_casts stage(post_grad) symbols() (%x : !fx.tensor<bf16[2, 3, 5, 5], cpu>, %w : !fx.tensor<bf16[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "swish", [], "" : !fx.tensor<bf16[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%_convolution_pointwise,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<bf16[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %f = prims.convert_element_type.default %y, f32 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %n = aten.neg.default %f : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e = aten.exp.default %n : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %d = aten.div.Tensor %f, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = prims.convert_element_type.default %d, bf16 : !fx.tensor<bf16[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A leaky relu has a slope.
// CHECK-LABEL: fx.graph @slope
fx.graph @slope stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "leaky_relu", [0.1], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%_convolution_pointwise,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %g = aten.gt.Scalar %y, 0 : !fx.tensor<i1[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %m = aten.mul.Tensor %y, 0.1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.where.self %g, %y, %m : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// A linear.
// CHECK-LABEL: fx.graph @linear
fx.graph @linear stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>, %w : !fx.tensor<f32[4, 3], cpu>) {
  // CHECK-NEXT: %_linear_pointwise = mkldnn._linear_pointwise.default %x, %w, none, "tanh", [], "" : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%_linear_pointwise,)
  %y = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[2, 4], cpu>
  %z = aten.tanh.default %y : !fx.tensor<f32[2, 4], cpu>
  fx.output (%z,)
}

// A transposed convolution.
// CHECK-LABEL: fx.graph @transposed
fx.graph @transposed stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[3, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %_convolution_transpose_pointwise = mkldnn._convolution_transpose_pointwise.default %x, %w, none, [0, 0], [0, 0], [1, 1], [1, 1], 1, "tanh", [], "" : !fx.tensor<f32[2, 3, 7, 7], cpu>
  // CHECK-NEXT: fx.output (%_convolution_transpose_pointwise,)
  %y = mkldnn._convolution_transpose_pointwise.default %x, %w, none, [0, 0], [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 3, 7, 7], cpu>
  %z = aten.tanh.default %y : !fx.tensor<f32[2, 3, 7, 7], cpu>
  fx.output (%z,)
}

// oneDNN's relu gives 0 for NaN, and the policy does not admit that.
// CHECK-LABEL: fx.graph @relu
fx.graph @relu stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.relu.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// With a slope of 0 its leaky relu does too.
// CHECK-LABEL: fx.graph @slope_of_zero
fx.graph @slope_of_zero stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %g = aten.gt.Scalar %y, 0 : !fx.tensor<i1[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %m = aten.mul.Tensor %y, 0.0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.where.self %g, %y, %m : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %g = aten.gt.Scalar %y, 0 : !fx.tensor<i1[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %m = aten.mul.Tensor %y, 0.0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.where.self %g, %y, %m : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Something is computed with the call already.
// CHECK-LABEL: fx.graph @computed_already
fx.graph @computed_already stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "tanh", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.sigmoid.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "tanh", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.sigmoid.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Somebody else reads the result.
// CHECK-LABEL: fx.graph @read_elsewhere
fx.graph @read_elsewhere stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.sigmoid.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %y, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%a,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.sigmoid.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.add.Tensor %y, %z : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%a,)
}

// The result is returned too.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.sigmoid.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z, %y)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.sigmoid.default %y : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z, %y)
}

// A part of the activation is read elsewhere.
// CHECK-LABEL: fx.graph @part_read_elsewhere
fx.graph @part_read_elsewhere stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %h = aten.mul.Tensor %y, 0.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %e0 = aten.mul.Tensor %y, 0.7071067811865476 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %e = aten.erf.default %e0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.mul.Tensor %h, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z, %e)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %h = aten.mul.Tensor %y, 0.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e0 = aten.mul.Tensor %y, 0.7071067811865476 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e = aten.erf.default %e0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.mul.Tensor %h, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z, %e)
}

// Another number than that of a gelu.
// CHECK-LABEL: fx.graph @another_number
fx.graph @another_number stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %h = aten.mul.Tensor %y, 0.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %e0 = aten.mul.Tensor %y, 0.7071 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %e = aten.erf.default %e0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.mul.Tensor %h, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %h = aten.mul.Tensor %y, 0.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e0 = aten.mul.Tensor %y, 0.7071 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e = aten.erf.default %e0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.mul.Tensor %h, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// Half of it is of another call.
// CHECK-LABEL: fx.graph @two_calls
fx.graph @two_calls stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %y2 = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %h = aten.mul.Tensor %y2, 0.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %e0 = aten.mul.Tensor %y, 0.7071067811865476 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %e = aten.erf.default %e0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = aten.mul.Tensor %h, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %y2 = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %h = aten.mul.Tensor %y2, 0.5 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e0 = aten.mul.Tensor %y, 0.7071067811865476 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e = aten.erf.default %e0 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = aten.mul.Tensor %h, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}

// The casts are to another dtype.
// CHECK-LABEL: fx.graph @other_casts
fx.graph @other_casts stage(post_grad) symbols() (%x : !fx.tensor<bf16[2, 3, 5, 5], cpu>, %w : !fx.tensor<bf16[4, 3, 3, 3], cpu>) {
  // CHECK-NEXT: %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<bf16[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %f = prims.convert_element_type.default %y, f32 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %n = aten.neg.default %f : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %e = aten.exp.default %n : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %d = aten.div.Tensor %f, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: %z = prims.convert_element_type.default %d, f16 : !fx.tensor<f16[2, 4, 3, 3][36, 1, 12, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<bf16[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %f = prims.convert_element_type.default %y, f32 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %n = aten.neg.default %f : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %e = aten.exp.default %n : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %a = aten.add.Tensor %e, 1 : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %d = aten.div.Tensor %f, %a : !fx.tensor<f32[2, 4, 3, 3][36, 1, 12, 4], cpu>
  %z = prims.convert_element_type.default %d, f16 : !fx.tensor<f16[2, 4, 3, 3][36, 1, 12, 4], cpu>
  fx.output (%z,)
}
