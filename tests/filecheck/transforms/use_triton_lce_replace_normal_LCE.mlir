// RUN: xductor-opt %s -p use_triton_lce_replace_normal_LCE | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cpu>, %l_w_ : !fx.tensor<f32[5, 6], cpu>, %l_b_ : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.matmul %l_w_, %l_x_ : !fx.tensor<f32[2, 5, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.unsqueeze %l_b_, -1 : !fx.tensor<f32[5, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_2 = pyfn.torch.add %torch, %torch_1 : !fx.tensor<f32[2, 5, 4], cpu>
  // CHECK-NEXT: %sum_1 = method.sum %torch_2, 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%sum_1,)
  %transpose = method.transpose %l_x_, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear = pyfn.torch._C._nn.linear %transpose, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  %transpose_1 = method.transpose %linear, 1, 2 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  %sum_1 = method.sum %transpose_1, 1 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%sum_1,)
}

// No bias, other dims.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cpu>, %l_w_ : !fx.tensor<f32[5, 6], cpu>, %l_b_ : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %linear = pyfn.torch._C._nn.linear %permute, %l_w_ : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %permute_1 = method.permute %linear, 0, 2, 1 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  // CHECK-NEXT: %sum_1 = method.sum %permute_1, 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %permute_2 = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %linear_1 = pyfn.torch._C._nn.linear %permute_2, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %permute_3 = method.permute %linear_1, 1, 0, 2 : !fx.tensor<f32[4, 2, 5][5, 20, 1], cpu> aliases(0)
  // CHECK-NEXT: %sum_2 = method.sum %permute_3, 1 : !fx.tensor<f32[4, 5], cpu>
  // CHECK-NEXT: fx.output (%sum_1, %sum_2)
  %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear = pyfn.torch._C._nn.linear %permute, %l_w_ : !fx.tensor<f32[2, 4, 5], cpu>
  %permute_1 = method.permute %linear, 0, 2, 1 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  %sum_1 = method.sum %permute_1, 1 : !fx.tensor<f32[2, 4], cpu>
  %permute_2 = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear_1 = pyfn.torch._C._nn.linear %permute_2, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  %permute_3 = method.permute %linear_1, 1, 0, 2 : !fx.tensor<f32[4, 2, 5][5, 20, 1], cpu> aliases(0)
  %sum_2 = method.sum %permute_3, 1 : !fx.tensor<f32[4, 5], cpu>
  fx.output (%sum_1, %sum_2)
}
