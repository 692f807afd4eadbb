// RUN: xductor-opt %s --load-pass-plugin %S/rms_norm.py -p fuse_rms_norm --verify-level types | filecheck %s

// CHECK-LABEL: fx.graph @half_precision
// CHECK-NEXT: %[[OUT:.*]] = pyfn.torch.ops.examples.rms_norm %x, %w, 1e-06 : !fx.tensor<bf16[4, 16], cpu>
// CHECK-NEXT: fx.output (%[[OUT]],)
fx.graph @half_precision stage(pre_grad) ambient(grad false) symbols() (%x : !fx.tensor<bf16[4, 16], cpu>, %w : !fx.tensor<bf16[16], cpu>) {
  %wide = method.to %x, f32 : !fx.tensor<f32[4, 16], cpu>
  %pow_1 = method.pow %wide, 2 : !fx.tensor<f32[4, 16], cpu>
  %mean = method.mean %pow_1, -1, keepdim = true : !fx.tensor<f32[4, 1], cpu>
  %add = pyfn._operator.add %mean, 1e-06 : !fx.tensor<f32[4, 1], cpu>
  %rsqrt = pyfn.torch.rsqrt %add : !fx.tensor<f32[4, 1], cpu>
  %normed = pyfn._operator.mul %wide, %rsqrt : !fx.tensor<f32[4, 16], cpu>
  %to_1 = method.to %normed, bf16 : !fx.tensor<bf16[4, 16], cpu>
  %mul_1 = pyfn._operator.mul %w, %to_1 : !fx.tensor<bf16[4, 16], cpu>
  fx.output (%mul_1,)
}

// The kernel does not take a weight of two dims.
// CHECK-LABEL: fx.graph @a_weight_for_each_row
// CHECK-NOT: examples.rms_norm
// CHECK: fx.output
fx.graph @a_weight_for_each_row stage(pre_grad) ambient(grad false) symbols() (%x : !fx.tensor<bf16[4, 16], cpu>, %w : !fx.tensor<bf16[4, 16], cpu>) {
  %wide = method.to %x, f32 : !fx.tensor<f32[4, 16], cpu>
  %pow_1 = method.pow %wide, 2 : !fx.tensor<f32[4, 16], cpu>
  %mean = method.mean %pow_1, -1, keepdim = true : !fx.tensor<f32[4, 1], cpu>
  %add = pyfn._operator.add %mean, 1e-06 : !fx.tensor<f32[4, 1], cpu>
  %rsqrt = pyfn.torch.rsqrt %add : !fx.tensor<f32[4, 1], cpu>
  %normed = pyfn._operator.mul %wide, %rsqrt : !fx.tensor<f32[4, 16], cpu>
  %to_1 = method.to %normed, bf16 : !fx.tensor<bf16[4, 16], cpu>
  %mul_1 = pyfn._operator.mul %w, %to_1 : !fx.tensor<bf16[4, 16], cpu>
  fx.output (%mul_1,)
}
