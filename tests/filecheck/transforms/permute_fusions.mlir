// RUN: xductor-opt %s -p linear_permute_fusion,permute_linear_fusion,permute_matmul_fusion | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3, 4], cuda:0>, %w : !fx.tensor<f32[5, 4], cuda:0>, %b : !fx.tensor<f32[5], cuda:0>, %v : !fx.tensor<f32[5, 3], cuda:0>) {
  // CHECK-NEXT: %torch = pyfn.torch.transpose %x, -1, -2 : !fx.tensor<f32[2, 4, 3][12, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.matmul %w, %torch : !fx.tensor<f32[2, 5, 3], cuda:0>
  // CHECK-NEXT: %torch_2 = pyfn.torch.unsqueeze %b, -1 : !fx.tensor<f32[5, 1], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_3 = pyfn.torch.add %torch_1, %torch_2 : !fx.tensor<f32[2, 5, 3], cuda:0>
  // CHECK-NEXT: %d = pyfn.torch.bmm %torch_3, %x : !fx.tensor<f32[2, 5, 4], cuda:0>
  // CHECK-NEXT: %e = method.permute %x, 0, 2, 1 : !fx.tensor<f32[2, 4, 3][12, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_4 = pyfn.torch.transpose %x, -1, -2 : !fx.tensor<f32[2, 4, 3][12, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_5 = pyfn.torch.t %v : !fx.tensor<f32[3, 5][1, 3], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_6 = pyfn.torch.matmul %torch_4, %torch_5 : !fx.tensor<f32[2, 4, 5], cuda:0>
  // CHECK-NEXT: %torch_7 = pyfn.torch.transpose %x, -1, -2 : !fx.tensor<f32[2, 4, 3][12, 1, 4], cuda:0> aliases(0)
  // CHECK-NEXT: %torch_8 = pyfn.torch.matmul %torch_7, %x : !fx.tensor<f32[2, 4, 4], cuda:0>
  // CHECK-NEXT: fx.output (%d, %torch_6, %torch_8)
  %a = pyfn.torch._C._nn.linear %x, %w, %b : !fx.tensor<f32[2, 3, 5], cuda:0>
  %c = method.permute %a, 0, 2, 1 : !fx.tensor<f32[2, 5, 3][15, 1, 5], cuda:0> aliases(0)
  %d = pyfn.torch.bmm %c, %x : !fx.tensor<f32[2, 5, 4], cuda:0>
  %e = method.permute %x, 0, 2, 1 : !fx.tensor<f32[2, 4, 3][12, 1, 4], cuda:0> aliases(0)
  %f = pyfn.torch._C._nn.linear %e, %v : !fx.tensor<f32[2, 4, 5], cuda:0>
  %g = pyfn.torch.bmm %e, %x : !fx.tensor<f32[2, 4, 4], cuda:0>
  fx.output (%d, %f, %g)
}

// On a CPU, other dims, a result that is returned with its strides.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3, 4], cpu>, %y : !fx.tensor<f32[3, 3, 3], cuda:0>, %w : !fx.tensor<f32[5, 3], cuda:0>) {
  // CHECK-NEXT: %a = method.permute %x, 0, 2, 1 : !fx.tensor<f32[2, 4, 3][12, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %b = pyfn.torch.bmm %a, %x : !fx.tensor<f32[2, 4, 4], cpu>
  // CHECK-NEXT: %c = method.permute %y, 1, 0, 2 : !fx.tensor<f32[3, 3, 3][3, 9, 1], cuda:0> aliases(0)
  // CHECK-NEXT: %d = pyfn.torch._C._nn.linear %c, %w : !fx.tensor<f32[3, 3, 5], cuda:0>
  // CHECK-NEXT: %e = pyfn.torch._C._nn.linear %y, %w : !fx.tensor<f32[3, 3, 5], cuda:0>
  // CHECK-NEXT: %f = method.permute %e, 0, 2, 1 : !fx.tensor<f32[3, 5, 3][15, 1, 5], cuda:0> aliases(0)
  // CHECK-NEXT: fx.output (%b, %d, %f)
  %a = method.permute %x, 0, 2, 1 : !fx.tensor<f32[2, 4, 3][12, 1, 4], cpu> aliases(0)
  %b = pyfn.torch.bmm %a, %x : !fx.tensor<f32[2, 4, 4], cpu>
  %c = method.permute %y, 1, 0, 2 : !fx.tensor<f32[3, 3, 3][3, 9, 1], cuda:0> aliases(0)
  %d = pyfn.torch._C._nn.linear %c, %w : !fx.tensor<f32[3, 3, 5], cuda:0>
  %e = pyfn.torch._C._nn.linear %y, %w : !fx.tensor<f32[3, 3, 5], cuda:0>
  %f = method.permute %e, 0, 2, 1 : !fx.tensor<f32[3, 5, 3][15, 1, 5], cuda:0> aliases(0)
  fx.output (%b, %d, %f)
}
