// RUN: xductor-opt %s -p use_matmul_fuse_lce_replace_first_LCE | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cpu>, %l_w_ : !fx.tensor<f32[5, 6], cpu>, %l_b_ : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %getitem = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[2, 2, 4][24, 4, 1], cpu> aliases(0)
  // CHECK-NEXT: %getitem_1 = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[2, 4, 4][24, 4, 1], cpu, offset 8> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.cat [%getitem, %getitem_1], 1 : !fx.tensor<f32[2, 6, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.matmul %l_w_, %torch : !fx.tensor<f32[2, 5, 4], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.unsqueeze %l_b_, -1 : !fx.tensor<f32[5, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_3 = pyfn.torch.add %torch_1, %torch_2 : !fx.tensor<f32[2, 5, 4], cpu>
  // CHECK-NEXT: %sum_1 = method.sum %torch_3, 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%sum_1,)
  %getitem = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[2, 2, 4][24, 4, 1], cpu> aliases(0)
  %getitem_1 = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[2, 4, 4][24, 4, 1], cpu, offset 8> aliases(0)
  %cat = pyfn.torch.cat [%getitem, %getitem_1], 1 : !fx.tensor<f32[2, 6, 4], cpu>
  %transpose = method.transpose %cat, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear = pyfn.torch._C._nn.linear %transpose, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  %transpose_1 = method.transpose %linear, 1, 2 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  %sum_1 = method.sum %transpose_1, 1 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%sum_1,)
}

// No cat, a cat along another dim.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[2, 6, 4], cpu>, %l_w_ : !fx.tensor<f32[5, 6], cpu>, %l_b_ : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %transpose = method.transpose %l_x_, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %linear = pyfn.torch._C._nn.linear %transpose, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %transpose_1 = method.transpose %linear, 1, 2 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  // CHECK-NEXT: %sum_1 = method.sum %transpose_1, 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %getitem = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[2, 6, 2][24, 4, 1], cpu> aliases(0)
  // CHECK-NEXT: %getitem_1 = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[2, 6, 2][24, 4, 1], cpu, offset 2> aliases(0)
  // CHECK-NEXT: %cat = pyfn.torch.cat [%getitem, %getitem_1], 2 : !fx.tensor<f32[2, 6, 4], cpu>
  // CHECK-NEXT: %transpose_2 = method.transpose %cat, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %linear_1 = pyfn.torch._C._nn.linear %transpose_2, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %transpose_3 = method.transpose %linear_1, 1, 2 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  // CHECK-NEXT: %sum_2 = method.sum %transpose_3, 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%sum_1, %sum_2)
  %transpose = method.transpose %l_x_, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear = pyfn.torch._C._nn.linear %transpose, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  %transpose_1 = method.transpose %linear, 1, 2 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  %sum_1 = method.sum %transpose_1, 1 : !fx.tensor<f32[2, 4], cpu>
  %getitem = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[2, 6, 2][24, 4, 1], cpu> aliases(0)
  %getitem_1 = pyfn._operator.getitem %l_x_, (slice(none, none, none), slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[2, 6, 2][24, 4, 1], cpu, offset 2> aliases(0)
  %cat = pyfn.torch.cat [%getitem, %getitem_1], 2 : !fx.tensor<f32[2, 6, 4], cpu>
  %transpose_2 = method.transpose %cat, 1, 2 : !fx.tensor<f32[2, 4, 6][24, 1, 4], cpu> aliases(0)
  %linear_1 = pyfn.torch._C._nn.linear %transpose_2, %l_w_, %l_b_ : !fx.tensor<f32[2, 4, 5], cpu>
  %transpose_3 = method.transpose %linear_1, 1, 2 : !fx.tensor<f32[2, 5, 4][20, 1, 5], cpu> aliases(0)
  %sum_2 = method.sum %transpose_3, 1 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%sum_1, %sum_2)
}
