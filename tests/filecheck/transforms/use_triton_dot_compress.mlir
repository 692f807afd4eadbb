// RUN: xductor-opt %s -p 'use_triton_dot_compress{policy="fast"}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 8, 2], cpu>, %l_w_ : !fx.tensor<f32[2, 8, 3], cpu>) {
  // CHECK-NEXT: %transpose = method.transpose %l_x_, 1, 2 : !fx.tensor<f32[2, 2, 8][16, 1, 2], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.transpose %l_x_, -1, -2 : !fx.tensor<f32[2, 2, 8][16, 1, 2], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.matmul %torch, %l_w_ : !fx.tensor<f32[2, 2, 3], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.matmul %l_x_, %torch_1 : !fx.tensor<f32[2, 8, 3], cpu>
  // CHECK-NEXT: %mul = pyfn._operator.mul %torch_2, 2 : !fx.tensor<f32[2, 8, 3], cpu>
  // CHECK-NEXT: fx.output (%mul,)
  %transpose = method.transpose %l_x_, 1, 2 : !fx.tensor<f32[2, 2, 8][16, 1, 2], cpu> aliases(0)
  %bmm = pyfn.torch.bmm %l_x_, %transpose : !fx.tensor<f32[2, 8, 8], cpu>
  %bmm_1 = pyfn.torch.bmm %bmm, %l_w_ : !fx.tensor<f32[2, 8, 3], cpu>
  %mul = pyfn._operator.mul %bmm_1, 2 : !fx.tensor<f32[2, 8, 3], cpu>
  fx.output (%mul,)
}

// More work than before, another tensor, a reader of the product.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_y_ : !fx.tensor<f32[2, 2, 8], cpu>, %l_w_ : !fx.tensor<f32[2, 8, 3], cpu>, %l_x_ : !fx.tensor<f32[2, 8, 2], cpu>) {
  // CHECK-NEXT: %transpose = method.transpose %l_y_, 1, 2 : !fx.tensor<f32[2, 8, 2][16, 1, 8], cpu> aliases(0)
  // CHECK-NEXT: %bmm = pyfn.torch.bmm %l_y_, %transpose : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: %bmm_1 = pyfn.torch.bmm %bmm, %l_y_ : !fx.tensor<f32[2, 2, 8], cpu>
  // CHECK-NEXT: %mul = pyfn._operator.mul %bmm_1, 2 : !fx.tensor<f32[2, 2, 8], cpu>
  // CHECK-NEXT: %getitem = pyfn._operator.getitem %l_w_, (slice(none, none, none), slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[2, 8, 2][24, 3, 1], cpu> aliases(0)
  // CHECK-NEXT: %transpose_1 = method.transpose %getitem, 1, 2 : !fx.tensor<f32[2, 2, 8][24, 1, 3], cpu> aliases(0)
  // CHECK-NEXT: %bmm_2 = pyfn.torch.bmm %l_x_, %transpose_1 : !fx.tensor<f32[2, 8, 8], cpu>
  // CHECK-NEXT: %bmm_3 = pyfn.torch.bmm %bmm_2, %l_w_ : !fx.tensor<f32[2, 8, 3], cpu>
  // CHECK-NEXT: %mul_1 = pyfn._operator.mul %bmm_3, 2 : !fx.tensor<f32[2, 8, 3], cpu>
  // CHECK-NEXT: fx.output (%mul, %mul_1)
  %transpose = method.transpose %l_y_, 1, 2 : !fx.tensor<f32[2, 8, 2][16, 1, 8], cpu> aliases(0)
  %bmm = pyfn.torch.bmm %l_y_, %transpose : !fx.tensor<f32[2, 2, 2], cpu>
  %bmm_1 = pyfn.torch.bmm %bmm, %l_y_ : !fx.tensor<f32[2, 2, 8], cpu>
  %mul = pyfn._operator.mul %bmm_1, 2 : !fx.tensor<f32[2, 2, 8], cpu>
  %getitem = pyfn._operator.getitem %l_w_, (slice(none, none, none), slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[2, 8, 2][24, 3, 1], cpu> aliases(0)
  %transpose_1 = method.transpose %getitem, 1, 2 : !fx.tensor<f32[2, 2, 8][24, 1, 3], cpu> aliases(0)
  %bmm_2 = pyfn.torch.bmm %l_x_, %transpose_1 : !fx.tensor<f32[2, 8, 8], cpu>
  %bmm_3 = pyfn.torch.bmm %bmm_2, %l_w_ : !fx.tensor<f32[2, 8, 3], cpu>
  %mul_1 = pyfn._operator.mul %bmm_3, 2 : !fx.tensor<f32[2, 8, 3], cpu>
  fx.output (%mul, %mul_1)
}
