// RUN: xductor-opt %s --load-pass-plugin %S/add_rms_norm.py -p fuse_add_rms_norm,dead_code_elimination --verify-level types | filecheck %s

// CHECK-LABEL: fx.graph @two_results
// CHECK-NEXT: %add_rms_norm#0, %add_rms_norm#1 = examples.add_rms_norm.default %x, %residual, %w, 1e-06
// CHECK-NEXT: fx.output (%add_rms_norm#0, %add_rms_norm#1)
fx.graph @two_results stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 16], cpu>, %residual : !fx.tensor<f32[4, 16], cpu>, %w : !fx.tensor<f32[16], cpu>) {
  %add = aten.add.Tensor %x, %residual : !fx.tensor<f32[4, 16], cpu>
  %pow_1 = aten.pow.Tensor_Scalar %add, 2 : !fx.tensor<f32[4, 16], cpu>
  %mean = aten.mean.dim %pow_1, [-1], true : !fx.tensor<f32[4, 1], cpu>
  %add_1 = aten.add.Tensor %mean, 1e-06 : !fx.tensor<f32[4, 1], cpu>
  %rsqrt = aten.rsqrt.default %add_1 : !fx.tensor<f32[4, 1], cpu>
  %mul = aten.mul.Tensor %add, %rsqrt : !fx.tensor<f32[4, 16], cpu>
  %mul_1 = aten.mul.Tensor %w, %mul : !fx.tensor<f32[4, 16], cpu>
  fx.output (%mul_1, %add)
}

// Something between is read elsewhere, so that it would have to be computed all the same.
// CHECK-LABEL: fx.graph @the_norm_is_read
// CHECK-NOT: examples.add_rms_norm
// CHECK: fx.output
fx.graph @the_norm_is_read stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 16], cpu>, %residual : !fx.tensor<f32[4, 16], cpu>, %w : !fx.tensor<f32[16], cpu>) {
  %add = aten.add.Tensor %x, %residual : !fx.tensor<f32[4, 16], cpu>
  %pow_1 = aten.pow.Tensor_Scalar %add, 2 : !fx.tensor<f32[4, 16], cpu>
  %mean = aten.mean.dim %pow_1, [-1], true : !fx.tensor<f32[4, 1], cpu>
  %add_1 = aten.add.Tensor %mean, 1e-06 : !fx.tensor<f32[4, 1], cpu>
  %rsqrt = aten.rsqrt.default %add_1 : !fx.tensor<f32[4, 1], cpu>
  %mul = aten.mul.Tensor %add, %rsqrt : !fx.tensor<f32[4, 16], cpu>
  %mul_1 = aten.mul.Tensor %w, %mul : !fx.tensor<f32[4, 16], cpu>
  fx.output (%mul_1, %add, %rsqrt)
}
