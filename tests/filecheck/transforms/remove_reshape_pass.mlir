// RUN: xductor-opt %s -p remove_reshape_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %reshape = method.reshape %l_x_, 24 : !fx.tensor<f32[24], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %l_x_, [2, 12] : !fx.tensor<f32[2, 12], cpu> aliases(0)
  // CHECK-NEXT: %add = pyfn._operator.add %torch, 1 : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.relu %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %add_1 = pyfn._operator.add %torch_1, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%add, %add_1)
  %reshape = method.reshape %l_x_, 24 : !fx.tensor<f32[24], cpu> aliases(0)
  %reshape_1 = method.reshape %reshape, 2, 12 : !fx.tensor<f32[2, 12], cpu> aliases(0)
  %add = pyfn._operator.add %reshape_1, 1 : !fx.tensor<f32[2, 12], cpu>
  %view = method.view %l_x_, 24 : !fx.tensor<f32[24], cpu> aliases(0)
  %relu = method.relu %view : !fx.tensor<f32[24], cpu>
  %view_1 = method.view %relu, 4, 6 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  %add_1 = pyfn._operator.add %view_1, 1 : !fx.tensor<f32[4, 6], cpu>
  fx.output (%add, %add_1)
}

// Other sizes than before, a call with another reader.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %reshape = method.reshape %l_x_, 24 : !fx.tensor<f32[24], cpu> aliases(0)
  // CHECK-NEXT: %relu = method.relu %reshape : !fx.tensor<f32[24], cpu>
  // CHECK-NEXT: %reshape_1 = method.reshape %relu, 4, 6 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  // CHECK-NEXT: %sum_1 = method.sum %relu : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %add = pyfn._operator.add %reshape_1, %sum_1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %reshape_2 = method.reshape %l_x_, 24 : !fx.tensor<f32[24], cpu> aliases(0)
  // CHECK-NEXT: %cumsum = method.cumsum %reshape_2, 0 : !fx.tensor<f32[24], cpu>
  // CHECK-NEXT: %reshape_3 = method.reshape %cumsum, 4, 6 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%add, %reshape_3)
  %reshape = method.reshape %l_x_, 24 : !fx.tensor<f32[24], cpu> aliases(0)
  %relu = method.relu %reshape : !fx.tensor<f32[24], cpu>
  %reshape_1 = method.reshape %relu, 4, 6 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  %sum_1 = method.sum %relu : !fx.tensor<f32[], cpu>
  %add = pyfn._operator.add %reshape_1, %sum_1 : !fx.tensor<f32[4, 6], cpu>
  %reshape_2 = method.reshape %l_x_, 24 : !fx.tensor<f32[24], cpu> aliases(0)
  %cumsum = method.cumsum %reshape_2, 0 : !fx.tensor<f32[24], cpu>
  %reshape_3 = method.reshape %cumsum, 4, 6 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  fx.output (%add, %reshape_3)
}
