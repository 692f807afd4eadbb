// RUN: xductor-opt %s -p mkldnn_linear_bias | filecheck %s

// A vector is a bias.
// CHECK-LABEL: fx.graph @vector
fx.graph @vector stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %_linear_pointwise = mkldnn._linear_pointwise.default %x, %w, %b, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%_linear_pointwise,)
  %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z,)
}

// A number for all is none.
// CHECK-LABEL: fx.graph @one
fx.graph @one stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<f32[1], cpu>) {
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z,)
}

// A matrix is none.
// CHECK-LABEL: fx.graph @matrix
fx.graph @matrix stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<f32[1, 2], cpu>) {
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z,)
}

// With a factor.
// CHECK-LABEL: fx.graph @factor
fx.graph @factor stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %l, %b, alpha = 2 : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.add.Tensor %l, %b, alpha = 2 : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z,)
}

// It has a bias.
// CHECK-LABEL: fx.graph @has_a_bias
fx.graph @has_a_bias stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %x, %w, %b, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %l = mkldnn._linear_pointwise.default %x, %w, %b, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z,)
}

// Another dtype.
// CHECK-LABEL: fx.graph @other_dtype
fx.graph @other_dtype stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<bf16[2], cpu>) {
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z,)
}

// Read elsewhere too.
// CHECK-LABEL: fx.graph @read_elsewhere
fx.graph @read_elsewhere stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%z, %l)
  %l = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.add.Tensor %l, %b : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z, %l)
}
