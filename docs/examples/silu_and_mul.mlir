// RUN: xductor-opt %s --load-pass-plugin %S/silu_and_mul.py -p fuse_silu_and_mul --verify-level types | filecheck %s

// CHECK-LABEL: fx.graph @any_number_of_tokens
// CHECK-NEXT: %silu_and_mul = examples.silu_and_mul.default %x : !fx.tensor<f32[s0, 16], cpu>
// CHECK-NEXT: fx.output (%silu_and_mul,)
fx.graph @any_number_of_tokens stage(post_grad) symbols(s0 : int positive [2, int_oo] hint 4) (%x : !fx.tensor<f32[s0, 32], cpu>) {
  %slice_1 = aten.slice.Tensor %x, 1, 0, 16 : !fx.tensor<f32[s0, 16][32, 1], cpu>
  %neg = aten.neg.default %slice_1 : !fx.tensor<f32[s0, 16], cpu>
  %exp = aten.exp.default %neg : !fx.tensor<f32[s0, 16], cpu>
  %add = aten.add.Tensor %exp, 1 : !fx.tensor<f32[s0, 16], cpu>
  %div = aten.div.Tensor %slice_1, %add : !fx.tensor<f32[s0, 16], cpu>
  %slice_2 = aten.slice.Tensor %x, 1, 16, 9223372036854775807 : !fx.tensor<f32[s0, 16][32, 1], cpu, offset 16>
  %mul = aten.mul.Tensor %div, %slice_2 : !fx.tensor<f32[s0, 16], cpu>
  fx.output (%mul,)
}

// Rows of 20 numbers are not read sixteen bytes at once.
// CHECK-LABEL: fx.graph @odd_rows
// CHECK-NOT: examples.silu_and_mul
// CHECK: fx.output
fx.graph @odd_rows stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 20], cpu>) {
  %slice_1 = aten.slice.Tensor %x, 1, 0, 10 : !fx.tensor<f32[4, 10][20, 1], cpu>
  %neg = aten.neg.default %slice_1 : !fx.tensor<f32[4, 10], cpu>
  %exp = aten.exp.default %neg : !fx.tensor<f32[4, 10], cpu>
  %add = aten.add.Tensor %exp, 1 : !fx.tensor<f32[4, 10], cpu>
  %div = aten.div.Tensor %slice_1, %add : !fx.tensor<f32[4, 10], cpu>
  %slice_2 = aten.slice.Tensor %x, 1, 10, 9223372036854775807 : !fx.tensor<f32[4, 10][20, 1], cpu, offset 10>
  %mul = aten.mul.Tensor %div, %slice_2 : !fx.tensor<f32[4, 10], cpu>
  fx.output (%mul,)
}
