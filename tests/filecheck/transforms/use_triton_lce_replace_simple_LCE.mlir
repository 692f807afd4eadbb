// RUN: xductor-opt %s -p use_triton_lce_replace_simple_LCE | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cpu>, %l_w_ : !fx.tensor<f32[5, 6], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.matmul %l_w_, %l_x_ : !fx.tensor<f32[2, 5, 4], cpu>
  // CHECK-NEXT: %sum_1 = method.sum %torch, 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%sum_1,)
  %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear = pyfn.torch._C._nn.linear %permute, %l_w_ : !fx.tensor<f32[2, 4, 5], cpu>
  %permute_1 = method.permute %linear, 0, 2, 1 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  %sum_1 = method.sum %permute_1, 1 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%sum_1,)
}

// A bias, strides that are returned.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cpu>, %l_w_ : !fx.tensor<f32[5, 6], cpu>, %l_b_ : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %linear = pyfn.torch._C._nn.linear %permute, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %permute_1 = method.permute %linear, 0, 2, 1 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  // CHECK-NEXT: %sum_1 = method.sum %permute_1, 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %permute_2 = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %linear_1 = pyfn.torch._C._nn.linear %permute_2, %l_w_ : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %permute_3 = method.permute %linear_1, 0, 2, 1 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%sum_1, %permute_3)
  %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear = pyfn.torch._C._nn.linear %permute, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  %permute_1 = method.permute %linear, 0, 2, 1 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  %sum_1 = method.sum %permute_1, 1 : !fx.tensor<f32[2, 4], cpu>
  %permute_2 = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear_1 = pyfn.torch._C._nn.linear %permute_2, %l_w_ : !fx.tensor<f32[2, 4, 5], cpu>
  %permute_3 = method.permute %linear_1, 0, 2, 1 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  fx.output (%sum_1, %permute_3)
}
