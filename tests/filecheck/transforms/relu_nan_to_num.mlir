// RUN: xductor-opt %s -p relu_nan_to_num | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.relu %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.nan_to_num %torch, 1.0, 3.0 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %add = pyfn._operator.add %torch_1, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%add,)
  %nan_to_num = pyfn.torch.nan_to_num %l_x_, 1.0, 3.0 : !fx.tensor<f32[4, 6], cpu>
  %relu = method.relu %nan_to_num : !fx.tensor<f32[4, 6], cpu>
  %add = pyfn._operator.add %relu, 1 : !fx.tensor<f32[4, 6], cpu>
  fx.output (%add,)
}

// What relu would change, or keep.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %nan_to_num = pyfn.torch.nan_to_num %l_x_, -1.0 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %relu = method.relu %nan_to_num : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %add = pyfn._operator.add %relu, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %nan_to_num_1 = pyfn.torch.nan_to_num %l_x_, neginf = 2.0 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %relu_1 = method.relu %nan_to_num_1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %add_1 = pyfn._operator.add %relu_1, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%add, %add_1)
  %nan_to_num = pyfn.torch.nan_to_num %l_x_, -1.0 : !fx.tensor<f32[4, 6], cpu>
  %relu = method.relu %nan_to_num : !fx.tensor<f32[4, 6], cpu>
  %add = pyfn._operator.add %relu, 1 : !fx.tensor<f32[4, 6], cpu>
  %nan_to_num_1 = pyfn.torch.nan_to_num %l_x_, neginf = 2.0 : !fx.tensor<f32[4, 6], cpu>
  %relu_1 = method.relu %nan_to_num_1 : !fx.tensor<f32[4, 6], cpu>
  %add_1 = pyfn._operator.add %relu_1, 1 : !fx.tensor<f32[4, 6], cpu>
  fx.output (%add, %add_1)
}
