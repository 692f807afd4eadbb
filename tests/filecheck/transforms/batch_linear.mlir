// RUN: xductor-opt %s -p 'batch_linear{min_fuse_set_size=2}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %v : !fx.tensor<f32[5, 4], cpu>, %w : !fx.tensor<f32[5, 4], cpu>, %b : !fx.tensor<f32[5], cpu>, %c : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.stack [%v, %w] : !fx.tensor<f32[2, 5, 4], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.transpose %torch_1, 1, 2 : !fx.tensor<f32[2, 4, 5][20, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch_3 = pyfn.torch.stack [%b, %c] : !fx.tensor<f32[2, 5], cpu>
  // CHECK-NEXT: %torch_4 = pyfn.torch.unsqueeze %torch_3, 1 : !fx.tensor<f32[2, 1, 5], cpu> aliases(0)
  // CHECK-NEXT: %method = method.expand %torch_4, [2, 3, 5] : !fx.tensor<f32[2, 3, 5][5, 0, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_5 = pyfn.torch.baddbmm %method, %torch, %torch_2 : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_5 : !fx.tensor<f32[3, 5], cpu>, !fx.tensor<f32[3, 5], cpu, offset 15> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch._C._nn.linear %x, %v, %b : !fx.tensor<f32[3, 5], cpu>
  %d = pyfn.torch._C._nn.linear %y, %w, bias = %c : !fx.tensor<f32[3, 5], cpu>
  %s = pyfn.torch.maximum %a, %d : !fx.tensor<f32[3, 5], cpu>
  fx.output (%s,)
}

// CHECK-LABEL: fx.graph @without_bias
fx.graph @without_bias stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %v : !fx.tensor<f32[5, 4], cpu>, %w : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.stack [%v, %w] : !fx.tensor<f32[2, 5, 4], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.transpose %torch_1, 1, 2 : !fx.tensor<f32[2, 4, 5][20, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch_3 = pyfn.torch.bmm %torch, %torch_2 : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_3 : !fx.tensor<f32[3, 5], cpu>, !fx.tensor<f32[3, 5], cpu, offset 15> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  %d = pyfn.torch._C._nn.linear %y, %w : !fx.tensor<f32[3, 5], cpu>
  %s = pyfn.torch.maximum %a, %d : !fx.tensor<f32[3, 5], cpu>
  fx.output (%s,)
}

// One with and one without a bias; another dtype; rows of a batch; one of which is written to.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f64[3, 4], cpu>, %z : !fx.tensor<f32[2, 3, 4], cpu>, %v : !fx.tensor<f32[5, 4], cpu>, %w : !fx.tensor<f64[5, 4], cpu>, %b : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch._C._nn.linear %x, %v, %b : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %d = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %e = pyfn.torch._C._nn.linear %y, %w : !fx.tensor<f64[3, 5], cpu>
  // CHECK-NEXT: %f = pyfn.torch._C._nn.linear %z, %v : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: %g = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %h = method.add_ %g, 1 : !fx.tensor<f32[3, 5], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%a, %d, %e, %f, %h)
  %a = pyfn.torch._C._nn.linear %x, %v, %b : !fx.tensor<f32[3, 5], cpu>
  %d = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  %e = pyfn.torch._C._nn.linear %y, %w : !fx.tensor<f64[3, 5], cpu>
  %f = pyfn.torch._C._nn.linear %z, %v : !fx.tensor<f32[2, 3, 5], cpu>
  %g = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  %h = method.add_ %g, 1 : !fx.tensor<f32[3, 5], cpu> aliases(0)
  fx.output (%a, %d, %e, %f, %h)
}

// One input is cut from a tensor, the other is not.
// CHECK-LABEL: fx.graph @parents
fx.graph @parents stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %z : !fx.tensor<f32[2, 3, 4], cpu>, %v : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %y = pyfn._operator.getitem %z, 0 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %a = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %d = pyfn.torch._C._nn.linear %y, %v : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %s = pyfn.torch.maximum %a, %d : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %y = pyfn._operator.getitem %z, 0 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %a = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  %d = pyfn.torch._C._nn.linear %y, %v : !fx.tensor<f32[3, 5], cpu>
  %s = pyfn.torch.maximum %a, %d : !fx.tensor<f32[3, 5], cpu>
  fx.output (%s,)
}
