// RUN: xductor-opt %s -p mkldnn_linear_packing | filecheck %s --check-prefixes=CHECK,WIDE
// RUN: xductor-opt %s -p 'mkldnn_linear_packing{mkl_is_narrow=true}' | filecheck %s --check-prefixes=CHECK,NARROW

// MKL packs for a known number of rows.
// CHECK-LABEL: fx.graph @product
fx.graph @product stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[{{[0-9]+}}, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %permute = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: %_mkl_linear = mkl._mkl_linear.default %x, %fx, %permute, none, 3 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%_mkl_linear,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[3, 2], cpu>
  fx.output (%y,)
}

// A bias.
// CHECK-LABEL: fx.graph @linear
fx.graph @linear stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %b = fx.get_attr "b" : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param2" : !fx.tensor<f32[{{[0-9]+}}, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %permute = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: %_mkl_linear = mkl._mkl_linear.default %x, %fx, %permute, %b, 3 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%_mkl_linear,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %b = fx.get_attr "b" : !fx.tensor<f32[2], cpu>
  %y = aten.addmm.default %b, %x, %w : !fx.tensor<f32[3, 2], cpu>
  fx.output (%y,)
}

// Of a large product MKL's is slower where oneDNN's vectors are wider.
// CHECK-LABEL: fx.graph @large
fx.graph @large stage(post_grad) symbols() (%x : !fx.tensor<f32[262144, 2], cpu>) {
  // WIDE-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // WIDE-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[{{[0-9]+}}, 1], cpu, layout _mkldnn>
  // WIDE-NEXT: %permute = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // WIDE-NEXT: %_mkl_linear = mkl._mkl_linear.default %x, %fx, %permute, none, 262144 : !fx.tensor<f32[262144, 2], cpu>
  // WIDE-NEXT: fx.output (%_mkl_linear,)
  // NARROW-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2], cpu, layout _mkldnn>
  // NARROW-NEXT: %_linear_pointwise = mkldnn._linear_pointwise.default %x, %fx, none, "none", [], "" : !fx.tensor<f32[262144, 2], cpu>
  // NARROW-NEXT: fx.output (%_linear_pointwise,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[262144, 2], cpu>
  fx.output (%y,)
}

// One row less is a small product.
// CHECK-LABEL: fx.graph @small
fx.graph @small stage(post_grad) symbols() (%x : !fx.tensor<f32[262143, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[{{[0-9]+}}, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %permute = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: %_mkl_linear = mkl._mkl_linear.default %x, %fx, %permute, none, 262143 : !fx.tensor<f32[262143, 2], cpu>
  // CHECK-NEXT: fx.output (%_mkl_linear,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[262143, 2], cpu>
  fx.output (%y,)
}

// A bias that is not read.
// CHECK-LABEL: fx.graph @no_bias
fx.graph @no_bias stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[{{[0-9]+}}, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %permute = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: %_mkl_linear = mkl._mkl_linear.default %x, %fx, %permute, none, 3 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%_mkl_linear,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.addmm.default %b, %x, %w, beta = 0 : !fx.tensor<f32[3, 2], cpu>
  fx.output (%y,)
}

// Two products of one weight have one packed weight.
// CHECK-LABEL: fx.graph @twice
fx.graph @twice stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[{{[0-9]+}}, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %permute = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: %_mkl_linear = mkl._mkl_linear.default %x, %fx, %permute, none, 3 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: %permute_1 = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: %_mkl_linear_1 = mkl._mkl_linear.default %_mkl_linear, %fx, %permute_1, none, 3 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%_mkl_linear_1,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[3, 2], cpu>
  %z = aten.mm.default %y, %w : !fx.tensor<f32[3, 2], cpu>
  fx.output (%z,)
}

// Weights side by side.
// CHECK-LABEL: fx.graph @joined
fx.graph @joined stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %c = aten.cat.default [%v, %w], 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param2" : !fx.tensor<f32[{{[0-9]+}}, 1], cpu, layout _mkldnn>
  // CHECK-NEXT: %permute = aten.permute.default %c, [1, 0] : !fx.tensor<f32[4, 2][1, 4], cpu>
  // CHECK-NEXT: %_mkl_linear = mkl._mkl_linear.default %x, %fx, %permute, none, 3 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%_mkl_linear,)
  %v = fx.get_attr "v" : !fx.tensor<f32[2, 2], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %c = aten.cat.default [%v, %w], 1 : !fx.tensor<f32[2, 4], cpu>
  %y = aten.mm.default %x, %c : !fx.tensor<f32[3, 4], cpu>
  fx.output (%y,)
}

// A weight that the caller gives.
// CHECK-LABEL: fx.graph @given
fx.graph @given stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>, %w : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %y = aten.mm.default %x, %w : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %y = aten.mm.default %x, %w : !fx.tensor<f32[3, 2], cpu>
  fx.output (%y,)
}

// Factors.
// CHECK-LABEL: fx.graph @factors
fx.graph @factors stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>, %b : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.addmm.default %b, %x, %w, alpha = 2 : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.addmm.default %b, %x, %w, alpha = 2 : !fx.tensor<f32[3, 2], cpu>
  fx.output (%y,)
}

// A bias for each row.
// CHECK-LABEL: fx.graph @bias_of_rows
fx.graph @bias_of_rows stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>, %b : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.addmm.default %b, %x, %w : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.addmm.default %b, %x, %w : !fx.tensor<f32[3, 2], cpu>
  fx.output (%y,)
}

// No float.
// CHECK-LABEL: fx.graph @integers
fx.graph @integers stage(post_grad) symbols() (%x : !fx.tensor<i64[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<i64[2, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %w : !fx.tensor<i64[3, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<i64[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<i64[3, 2], cpu>
  fx.output (%y,)
}

// float64 is nothing that it computes with.
// CHECK-LABEL: fx.graph @wide
fx.graph @wide stage(post_grad) symbols() (%x : !fx.tensor<f64[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f64[2, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %w : !fx.tensor<f64[3, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<f64[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f64[3, 2], cpu>
  fx.output (%y,)
}

// Elements that are not there cannot be packed.
// CHECK-LABEL: fx.graph @unknown_elements
fx.graph @unknown_elements stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "u" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %w : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "u" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[3, 2], cpu>
  fx.output (%y,)
}

// For a number of rows that is not known oneDNN packs.
// CHECK-LABEL: fx.graph @symbolic
fx.graph @symbolic stage(post_grad) symbols(s0 : int positive [2, int_oo] hint 4) (%x : !fx.tensor<f32[s0, 2], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2], cpu, layout _mkldnn>
  // CHECK-NEXT: %_linear_pointwise = mkldnn._linear_pointwise.default %x, %fx, none, "none", [], "" : !fx.tensor<f32[s0, 2], cpu>
  // CHECK-NEXT: fx.output (%_linear_pointwise,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %w : !fx.tensor<f32[s0, 2], cpu>
  fx.output (%y,)
}

{-#
  dialect_resources: {
    fx: {
      factors.w: "0x040000000000803F000000400000404000008040",
      bias_of_rows.w: "0x040000000000803F000000400000404000008040",
      joined.w: "0x040000000000803F000000400000404000008040",
      large.w: "0x040000000000803F000000400000404000008040",
      small.w: "0x040000000000803F000000400000404000008040",
      linear.w: "0x040000000000803F000000400000404000008040",
      no_bias.w: "0x040000000000803F000000400000404000008040",
      product.w: "0x040000000000803F000000400000404000008040",
      symbolic.w: "0x040000000000803F000000400000404000008040",
      twice.w: "0x040000000000803F000000400000404000008040",
      joined.v: "0x040000000000803F000000400000404000008040",
      linear.b: "0x040000000000803F00000040",
      wide.w: "0x04000000000000000000F03F000000000000004000000000000008400000000000001040"
    }
  }
#-}
