// RUN: xductor-opt %s -p permute_matmul_fusion | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cuda:0>) {
  // CHECK-NEXT: %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.transpose %l_x_, -1, -2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.matmul %torch, %l_x_ : !fx.tensor<f32[2, 4, 4], cuda:0>
  // CHECK-NEXT: %relu = method.relu %torch_1 : !fx.tensor<f32[2, 4, 4], cuda:0>
  // CHECK-NEXT: fx.output (%relu,)
  %permute = method.permute %l_x_, 0, 2, 1 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  %bmm = pyfn.torch.bmm %permute, %l_x_ : !fx.tensor<f32[2, 4, 4], cuda:0>
  %relu = method.relu %bmm : !fx.tensor<f32[2, 4, 4], cuda:0>
  fx.output (%relu,)
}

// Other dims, a transpose already.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cuda:0>) {
  // CHECK-NEXT: %permute = method.permute %l_x_, 1, 2, 0 : !fx.tensor<f32[6, 4, 2][4, 1, 24], cuda:0> aliases(0)
  // CHECK-NEXT: %permute_1 = method.permute %l_x_, 1, 0, 2 : !fx.tensor<f32[6, 2, 4][4, 24, 1], cuda:0> aliases(0)
  // CHECK-NEXT: %matmul = pyfn.torch.matmul %permute, %permute_1 : !fx.tensor<f32[6, 4, 4], cuda:0>
  // CHECK-NEXT: %relu = method.relu %matmul : !fx.tensor<f32[6, 4, 4], cuda:0>
  // CHECK-NEXT: %transpose = method.transpose %l_x_, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %bmm = pyfn.torch.bmm %transpose, %l_x_ : !fx.tensor<f32[2, 4, 4], cuda:0>
  // CHECK-NEXT: %relu_1 = method.relu %bmm : !fx.tensor<f32[2, 4, 4], cuda:0>
  // CHECK-NEXT: fx.output (%relu, %relu_1)
  %permute = method.permute %l_x_, 1, 2, 0 : !fx.tensor<f32[6, 4, 2][4, 1, 24], cuda:0> aliases(0)
  %permute_1 = method.permute %l_x_, 1, 0, 2 : !fx.tensor<f32[6, 2, 4][4, 24, 1], cuda:0> aliases(0)
  %matmul = pyfn.torch.matmul %permute, %permute_1 : !fx.tensor<f32[6, 4, 4], cuda:0>
  %relu = method.relu %matmul : !fx.tensor<f32[6, 4, 4], cuda:0>
  %transpose = method.transpose %l_x_, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cuda:0> aliases(0)
  %bmm = pyfn.torch.bmm %transpose, %l_x_ : !fx.tensor<f32[2, 4, 4], cuda:0>
  %relu_1 = method.relu %bmm : !fx.tensor<f32[2, 4, 4], cuda:0>
  fx.output (%relu, %relu_1)
}
