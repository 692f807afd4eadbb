// RUN: xductor-opt %s -p mkldnn_convolution_packing | filecheck %s

// A constant weight is packed for these sizes; the result has its channels last.
// CHECK-LABEL: fx.graph @packed
fx.graph @packed stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2, 1, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %fx, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %f = prims.inductor_force_stride_order.default %_convolution_pointwise, [18, 9, 3, 1] : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%f,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  %f = prims.inductor_force_stride_order.default %y, [18, 9, 3, 1] : !fx.tensor<f32[1, 2, 3, 3], cpu>
  fx.output (%f,)
}

// Where the caller sees the strides, the result is copied.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2, 1, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %fx, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %_convolution_pointwise, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%clone,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  fx.output (%y,)
}

// Two convolutions of one weight have one packed weight.
// CHECK-LABEL: fx.graph @twice
fx.graph @twice stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2, 1, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %fx, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %_convolution_pointwise_1 = mkldnn._convolution_pointwise.default %_convolution_pointwise, %fx, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %f = prims.inductor_force_stride_order.default %_convolution_pointwise_1, [18, 9, 3, 1] : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%f,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  %z = aten.convolution.default %y, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  %f = prims.inductor_force_stride_order.default %z, [18, 9, 3, 1] : !fx.tensor<f32[1, 2, 3, 3], cpu>
  fx.output (%f,)
}

// A transposed convolution.
// CHECK-LABEL: fx.graph @transposed
fx.graph @transposed stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2, 1, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %_convolution_transpose_pointwise = mkldnn._convolution_transpose_pointwise.default %x, %fx, none, [0, 0], [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: %f = prims.inductor_force_stride_order.default %_convolution_transpose_pointwise, [18, 9, 3, 1] : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%f,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], true, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  %f = prims.inductor_force_stride_order.default %y, [18, 9, 3, 1] : !fx.tensor<f32[1, 2, 3, 3], cpu>
  fx.output (%f,)
}

// A weight that the caller gives.
// CHECK-LABEL: fx.graph @given
fx.graph @given stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3, 3], cpu>, %w : !fx.tensor<f32[2, 2, 1, 1], cpu>) {
  // CHECK-NEXT: %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  fx.output (%y,)
}

// float64 is nothing that oneDNN computes with.
// CHECK-LABEL: fx.graph @wide
fx.graph @wide stage(post_grad) symbols() (%x : !fx.tensor<f64[1, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f64[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f64[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<f64[2, 2, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f64[1, 2, 3, 3], cpu>
  fx.output (%y,)
}

// One dim.
// CHECK-LABEL: fx.graph @one_dim
fx.graph @one_dim stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "v" : !fx.tensor<f32[2, 2, 1], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %x, %w, none, [1], [0], [1], false, [0], 1 : !fx.tensor<f32[1, 2, 3], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "v" : !fx.tensor<f32[2, 2, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1], [0], [1], false, [0], 1 : !fx.tensor<f32[1, 2, 3], cpu>
  fx.output (%y,)
}

// A transposed convolution of each channel by itself.
// CHECK-LABEL: fx.graph @by_itself
fx.graph @by_itself stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "d" : !fx.tensor<f32[2, 1, 1, 1], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], true, [0, 0], 2 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "d" : !fx.tensor<f32[2, 1, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], true, [0, 0], 2 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  fx.output (%y,)
}

// Elements that are not there cannot be packed.
// CHECK-LABEL: fx.graph @unknown_elements
fx.graph @unknown_elements stage(post_grad) symbols() (%x : !fx.tensor<f32[1, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "u" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "u" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[1, 2, 3, 3], cpu>
  fx.output (%y,)
}

// Of symbolic sizes the weight stays as it is.
// CHECK-LABEL: fx.graph @symbolic
fx.graph @symbolic stage(post_grad) symbols(s0 : int positive [2, int_oo] hint 4) (%x : !fx.tensor<f32[s0, 2, 3, 3], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  // CHECK-NEXT: %_convolution_pointwise = mkldnn._convolution_pointwise.default %x, %w, none, [0, 0], [1, 1], [1, 1], 1, "none", [], "" : !fx.tensor<f32[s0, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %m = aten.tanh.default %_convolution_pointwise : !fx.tensor<f32[s0, 2, 3, 3][18, 1, 6, 2], cpu>
  // CHECK-NEXT: %f = aten.sum.default %m : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: fx.output (%f,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2, 1, 1], cpu>
  %y = aten.convolution.default %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1 : !fx.tensor<f32[s0, 2, 3, 3], cpu>
  %m = aten.tanh.default %y : !fx.tensor<f32[s0, 2, 3, 3], cpu>
  %f = aten.sum.default %m : !fx.tensor<f32[], cpu>
  fx.output (%f,)
}

{-#
  dialect_resources: {
    fx: {
      packed.w: "0x040000000000803F000000400000404000008040",
      returned.w: "0x040000000000803F000000400000404000008040",
      symbolic.w: "0x040000000000803F000000400000404000008040",
      transposed.w: "0x040000000000803F000000400000404000008040",
      twice.w: "0x040000000000803F000000400000404000008040",
      wide.w: "0x04000000000000000000F03F000000000000004000000000000008400000000000001040",
      one_dim.v: "0x040000000000803F000000400000404000008040",
      by_itself.d: "0x040000000000803F00000040"
    }
  }
#-}
