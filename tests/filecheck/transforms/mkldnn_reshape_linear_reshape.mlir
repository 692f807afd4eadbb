// RUN: xductor-opt %s -p mkldnn_reshape_linear_reshape | filecheck %s

// Rows of data of more dims.
// CHECK-LABEL: fx.graph @rows
fx.graph @rows stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %_linear_pointwise = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[2, 3, 2], cpu>
  // CHECK-NEXT: fx.output (%_linear_pointwise,)
  %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.reshape.default %l, [2, 3, 2] : !fx.tensor<f32[2, 3, 2], cpu> aliases(0)
  fx.output (%z,)
}

// The rows are read elsewhere too.
// CHECK-LABEL: fx.graph @rows_read_elsewhere
fx.graph @rows_read_elsewhere stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  // CHECK-NEXT: %_linear_pointwise = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[2, 3, 2], cpu>
  // CHECK-NEXT: %s = aten.neg.default %r : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%_linear_pointwise, %s)
  %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.reshape.default %l, [2, 3, 2] : !fx.tensor<f32[2, 3, 2], cpu> aliases(0)
  %s = aten.neg.default %r : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z, %s)
}

// The result of the product is read elsewhere too.
// CHECK-LABEL: fx.graph @read_elsewhere
fx.graph @read_elsewhere stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.reshape.default %l, [2, 3, 2] : !fx.tensor<f32[2, 3, 2], cpu> aliases(0)
  // CHECK-NEXT: %s = aten.neg.default %l : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: fx.output (%z, %s)
  %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.reshape.default %l, [2, 3, 2] : !fx.tensor<f32[2, 3, 2], cpu> aliases(0)
  %s = aten.neg.default %l : !fx.tensor<f32[6, 2], cpu>
  fx.output (%z, %s)
}

// Other dims than those of the data.
// CHECK-LABEL: fx.graph @other_dims
fx.graph @other_dims stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.reshape.default %l, [3, 2, 2] : !fx.tensor<f32[3, 2, 2], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.reshape.default %l, [3, 2, 2] : !fx.tensor<f32[3, 2, 2], cpu> aliases(0)
  fx.output (%z,)
}

// Rows that are cut otherwise.
// CHECK-LABEL: fx.graph @cut_otherwise
fx.graph @cut_otherwise stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2, 3], cpu>, %w : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  // CHECK-NEXT: %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  // CHECK-NEXT: %z = aten.reshape.default %l, [2, 3, 2] : !fx.tensor<f32[2, 3, 2], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%z,)
  %r = aten.reshape.default %x, [6, 2] : !fx.tensor<f32[6, 2], cpu> aliases(0)
  %l = mkldnn._linear_pointwise.default %r, %w, none, "none", [], "" : !fx.tensor<f32[6, 2], cpu>
  %z = aten.reshape.default %l, [2, 3, 2] : !fx.tensor<f32[2, 3, 2], cpu> aliases(0)
  fx.output (%z,)
}
