// RUN: xductor-opt %s -p permute_linear_fusion | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cuda:0>, %l_w_ : !fx.tensor<f32[5, 6], cuda:0>, %l_b_ : !fx.tensor<f32[5], cuda:0>) {
  // CHECK-NEXT: %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.transpose %l_x_, -1, -2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.t %l_w_ : !fx.tensor<f32[6, 5][1, 6], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_2 = pyfn.torch.matmul %torch, %torch_1 : !fx.tensor<f32[2, 4, 5], cuda:0>
  // CHECK-NEXT: %torch_3 = pyfn.torch.add %torch_2, %l_b_ : !fx.tensor<f32[2, 4, 5], cuda:0>
  // CHECK-NEXT: %relu = method.relu %torch_3 : !fx.tensor<f32[2, 4, 5], cuda:0>
  // CHECK-NEXT: fx.output (%relu,)
  %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  %linear = pyfn.torch._C._nn.linear %permute, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cuda:0>
  %relu = method.relu %linear : !fx.tensor<f32[2, 4, 5], cuda:0>
  fx.output (%relu,)
}

// Other dims.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cuda:0>, %l_w_ : !fx.tensor<f32[5, 6], cuda:0>, %l_b_ : !fx.tensor<f32[5], cuda:0>) {
  // CHECK-NEXT: %permute = method.permute %l_x_, 2, 0, 1 : !fx.tensor<f32[4, 2, 6][1, 24, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %linear = pyfn.torch._C._nn.linear %permute, %l_w_, %l_b_ : !fx.tensor<f32[4, 2, 5], cuda:0>
  // CHECK-NEXT: %relu = method.relu %linear : !fx.tensor<f32[4, 2, 5], cuda:0>
  // CHECK-NEXT: fx.output (%relu,)
  %permute = method.permute %l_x_, 2, 0, 1 : !fx.tensor<f32[4, 2, 6][1, 24, 4], cuda:0> aliases(0)
  %linear = pyfn.torch._C._nn.linear %permute, %l_w_, %l_b_ : !fx.tensor<f32[4, 2, 5], cuda:0>
  %relu = method.relu %linear : !fx.tensor<f32[4, 2, 5], cuda:0>
  fx.output (%relu,)
}
