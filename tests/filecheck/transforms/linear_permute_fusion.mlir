// RUN: xductor-opt %s -p linear_permute_fusion | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cuda:0>, %l_v_ : !fx.tensor<f32[5, 4], cuda:0>) {
  // CHECK-NEXT: %torch = pyfn.torch.transpose %l_x_, -1, -2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.matmul %l_v_, %torch : !fx.tensor<f32[2, 5, 6], cuda:0>
  // CHECK-NEXT: %matmul = pyfn._operator.matmul %torch_1, %l_x_ : !fx.tensor<f32[2, 5, 4], cuda:0>
  // CHECK-NEXT: fx.output (%matmul,)
  %linear = pyfn.torch._C._nn.linear %l_x_, %l_v_ : !fx.tensor<f32[2, 6, 5], cuda:0>
  %permute = method.permute %linear, 0, 2, 1 : !fx.tensor<f32[2, 5, 6][30, 1, 5], cuda:0> aliases(0)
  %matmul = pyfn._operator.matmul %permute, %l_x_ : !fx.tensor<f32[2, 5, 4], cuda:0>
  fx.output (%matmul,)
}

// Other dims, strides that are returned.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cuda:0>, %l_v_ : !fx.tensor<f32[5, 4], cuda:0>) {
  // CHECK-NEXT: %linear = pyfn.torch._C._nn.linear %l_x_, %l_v_ : !fx.tensor<f32[2, 6, 5], cuda:0>
  // CHECK-NEXT: %permute = method.permute %linear, 1, 0, 2 : !fx.tensor<f32[6, 2, 5][5, 30, 1], cuda:0> aliases(0)
  // CHECK-NEXT: %sum_1 = method.sum %permute, 1 : !fx.tensor<f32[6, 5], cuda:0>
  // CHECK-NEXT: %linear_1 = pyfn.torch._C._nn.linear %l_x_, %l_v_ : !fx.tensor<f32[2, 6, 5], cuda:0>
  // CHECK-NEXT: %permute_1 = method.permute %linear_1, 0, 2, 1 : !fx.tensor<f32[2, 5, 6][30, 1, 5], cuda:0> aliases(0)
  // CHECK-NEXT: fx.output (%sum_1, %permute_1)
  %linear = pyfn.torch._C._nn.linear %l_x_, %l_v_ : !fx.tensor<f32[2, 6, 5], cuda:0>
  %permute = method.permute %linear, 1, 0, 2 : !fx.tensor<f32[6, 2, 5][5, 30, 1], cuda:0> aliases(0)
  %sum_1 = method.sum %permute, 1 : !fx.tensor<f32[6, 5], cuda:0>
  %linear_1 = pyfn.torch._C._nn.linear %l_x_, %l_v_ : !fx.tensor<f32[2, 6, 5], cuda:0>
  %permute_1 = method.permute %linear_1, 0, 2, 1 : !fx.tensor<f32[2, 5, 6][30, 1, 5], cuda:0> aliases(0)
  fx.output (%sum_1, %permute_1)
}
