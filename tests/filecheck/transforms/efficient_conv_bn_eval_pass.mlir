// RUN: xductor-opt %s -p efficient_conv_bn_eval_pass | filecheck %s

// The norm goes into weight and bias.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[1, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %b : !fx.tensor<f32[4], cpu>, %m : !fx.tensor<f32[4], cpu>, %v : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.add %v, 1e-05 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.rsqrt %torch : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.sub %b, %m : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %torch_3 = pyfn.torch.mul %torch_1, %torch_2 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %torch_4 = pyfn.torch.reshape %torch_1, [-1, 1, 1, 1] : !fx.tensor<f32[4, 1, 1, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_5 = pyfn.torch.mul %w, %torch_4 : !fx.tensor<f32[4, 3, 3, 3], cpu>
  // CHECK-NEXT: %torch_6 = pyfn.torch.conv2d %x, %torch_5, %torch_3, [2, 2] : !fx.tensor<f32[1, 4, 2, 2], cpu>
  // CHECK-NEXT: fx.output (%torch_6,)
  %y = pyfn.torch.conv2d %x, %w, bias = %b, stride = 2 : !fx.tensor<f32[1, 4, 2, 2], cpu>
  %z = pyfn.torch.nn.functional.batch_norm %y, %m, %v : !fx.tensor<f32[1, 4, 2, 2], cpu>
  fx.output (%z,)
}

// In training the statistics are those of the batch.
// CHECK-LABEL: fx.graph @training
fx.graph @training stage(pre_grad) symbols() (%x : !fx.tensor<f32[1, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %m : !fx.tensor<f32[4], cpu>, %v : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %y = pyfn.torch.conv2d %x, %w : !fx.tensor<f32[1, 4, 3, 3], cpu>
  // CHECK-NEXT: %z = pyfn.torch.nn.functional.batch_norm %y, %m, %v, training = true : !fx.tensor<f32[1, 4, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = pyfn.torch.conv2d %x, %w : !fx.tensor<f32[1, 4, 3, 3], cpu>
  %z = pyfn.torch.nn.functional.batch_norm %y, %m, %v, training = true : !fx.tensor<f32[1, 4, 3, 3], cpu>
  fx.output (%z,)
}

// The convolution would be made twice.
// CHECK-LABEL: fx.graph @another_user
fx.graph @another_user stage(pre_grad) symbols() (%x : !fx.tensor<f32[1, 3, 5, 5], cpu>, %w : !fx.tensor<f32[4, 3, 3, 3], cpu>, %m : !fx.tensor<f32[4], cpu>, %v : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %y = pyfn.torch.conv2d %x, %w : !fx.tensor<f32[1, 4, 3, 3], cpu>
  // CHECK-NEXT: %z = pyfn.torch.nn.functional.batch_norm %y, %m, %v : !fx.tensor<f32[1, 4, 3, 3], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %y = pyfn.torch.conv2d %x, %w : !fx.tensor<f32[1, 4, 3, 3], cpu>
  %z = pyfn.torch.nn.functional.batch_norm %y, %m, %v : !fx.tensor<f32[1, 4, 3, 3], cpu>
  fx.output (%y, %z)
}
