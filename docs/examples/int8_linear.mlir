// RUN: xductor-opt %s --load-pass-plugin %S/int8_linear.py -p fuse_int8_linear --verify-level types | filecheck %s

// CHECK-LABEL: fx.graph @scaled_by_row
// CHECK-NEXT: %int8_linear = examples.int8_linear.default %x, %w, %s, none : !fx.tensor<f32[4, 16], cpu>
// CHECK-NEXT: fx.output (%int8_linear,)
fx.graph @scaled_by_row stage(pre_grad) ambient(grad false) symbols() (%w : !fx.tensor<i8[16, 32], cpu>, %x : !fx.tensor<f32[4, 32], cpu>, %s : !fx.tensor<f32[16], cpu>) {
  %to = method.to %w, f32 : !fx.tensor<f32[16, 32], cpu>
  %getitem = pyfn._operator.getitem %s, (slice(none, none, none), none) : !fx.tensor<f32[16, 1], cpu> aliases(0)
  %mul = pyfn._operator.mul %to, %getitem : !fx.tensor<f32[16, 32], cpu>
  %linear = pyfn.torch._C._nn.linear %x, %mul : !fx.tensor<f32[4, 16], cpu>
  fx.output (%linear,)
}

// CHECK-LABEL: fx.graph @a_weight_of_another_type
// CHECK-NOT: examples.int8_linear
// CHECK: fx.output
fx.graph @a_weight_of_another_type stage(pre_grad) ambient(grad false) symbols() (%w : !fx.tensor<ui8[16, 32], cpu>, %x : !fx.tensor<f32[4, 32], cpu>, %s : !fx.tensor<f32[16], cpu>) {
  %to = method.to %w, f32 : !fx.tensor<f32[16, 32], cpu>
  %getitem = pyfn._operator.getitem %s, (slice(none, none, none), none) : !fx.tensor<f32[16, 1], cpu> aliases(0)
  %mul = pyfn._operator.mul %to, %getitem : !fx.tensor<f32[16, 32], cpu>
  %linear = pyfn.torch._C._nn.linear %x, %mul : !fx.tensor<f32[4, 16], cpu>
  fx.output (%linear,)
}
