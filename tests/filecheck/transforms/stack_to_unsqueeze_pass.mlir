// RUN: xductor-opt %s -p stack_to_unsqueeze_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %torch = pyfn.torch.unsqueeze %l_x_, 1 : !fx.tensor<f32[4, 1, 6], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.unsqueeze %add, 1 : !fx.tensor<f32[4, 1, 6], cpu> aliases(0)
  // CHECK-NEXT: %torch_2 = pyfn.torch.cat [%torch, %torch_1], 1 : !fx.tensor<f32[4, 2, 6], cpu>
  // CHECK-NEXT: %mul = pyfn._operator.mul %torch_2, 2 : !fx.tensor<f32[4, 2, 6], cpu>
  // CHECK-NEXT: fx.output (%mul,)
  %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  %stack = pyfn.torch.stack [%l_x_, %add], 1 : !fx.tensor<f32[4, 2, 6], cpu>
  %mul = pyfn._operator.mul %stack, 2 : !fx.tensor<f32[4, 2, 6], cpu>
  fx.output (%mul,)
}

// A cat.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %cat = pyfn.torch.cat [%l_x_, %add], 1 : !fx.tensor<f32[4, 12], cpu>
  // CHECK-NEXT: %mul = pyfn._operator.mul %cat, 2 : !fx.tensor<f32[4, 12], cpu>
  // CHECK-NEXT: fx.output (%mul,)
  %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  %cat = pyfn.torch.cat [%l_x_, %add], 1 : !fx.tensor<f32[4, 12], cpu>
  %mul = pyfn._operator.mul %cat, 2 : !fx.tensor<f32[4, 12], cpu>
  fx.output (%mul,)
}
