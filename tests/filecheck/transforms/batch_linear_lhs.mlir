// RUN: xductor-opt %s -p 'batch_linear_lhs{min_fuse_set_size=2}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %v : !fx.tensor<f32[5, 4], cpu>, %w : !fx.tensor<f32[2, 4], cpu>, %b : !fx.tensor<f32[5], cpu>, %c : !fx.tensor<f32[2], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.cat [%b, %c] : !fx.tensor<f32[7], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.cat [%v, %w] : !fx.tensor<f32[7, 4], cpu>
  // CHECK-NEXT: %_nn = pyfn.torch._C._nn.linear %x, %torch_1, %torch : !fx.tensor<f32[3, 7], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.split %_nn, [5, 2], 1 : !fx.tensor<f32[3, 5][7, 1], cpu>, !fx.tensor<f32[3, 2][7, 1], cpu, offset 5> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.cat [%torch#0, %torch#1], 1 : !fx.tensor<f32[3, 7], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch._C._nn.linear %x, %v, %b : !fx.tensor<f32[3, 5], cpu>
  %d = pyfn.torch._C._nn.linear %x, %w, bias = %c : !fx.tensor<f32[3, 2], cpu>
  %s = pyfn.torch.cat [%a, %d], 1 : !fx.tensor<f32[3, 7], cpu>
  fx.output (%s,)
}

// Other inputs; one without a bias.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %v : !fx.tensor<f32[5, 4], cpu>, %w : !fx.tensor<f32[2, 4], cpu>, %b : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch._C._nn.linear %x, %v, %b : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %d = pyfn.torch._C._nn.linear %y, %v, %b : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %e = pyfn.torch._C._nn.linear %x, %w : !fx.tensor<f32[3, 2], cpu>
  // CHECK-NEXT: fx.output (%a, %d, %e)
  %a = pyfn.torch._C._nn.linear %x, %v, %b : !fx.tensor<f32[3, 5], cpu>
  %d = pyfn.torch._C._nn.linear %y, %v, %b : !fx.tensor<f32[3, 5], cpu>
  %e = pyfn.torch._C._nn.linear %x, %w : !fx.tensor<f32[3, 2], cpu>
  fx.output (%a, %d, %e)
}

// Where somebody asks for the rows of a matrix in memory, it is copied.
// CHECK-LABEL: fx.graph @viewed
fx.graph @viewed stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %v : !fx.tensor<f32[5, 4], cpu>, %w : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.cat [%v, %w] : !fx.tensor<f32[7, 4], cpu>
  // CHECK-NEXT: %_nn = pyfn.torch._C._nn.linear %x, %torch : !fx.tensor<f32[3, 7], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.split %_nn, [5, 2], 1 : !fx.tensor<f32[3, 5][7, 1], cpu>, !fx.tensor<f32[3, 2][7, 1], cpu, offset 5> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %torch_1 = pyfn.torch.clone %torch#0 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %e = method.view %torch_1, -1 : !fx.tensor<f32[15], cpu> aliases(0)
  // CHECK-NEXT: %f = method.reshape %torch#1, -1 : !fx.tensor<f32[6], cpu> aliases(0)
  // CHECK-NEXT: %s = pyfn.torch.cat [%e, %f] : !fx.tensor<f32[21], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch._C._nn.linear %x, %v : !fx.tensor<f32[3, 5], cpu>
  %d = pyfn.torch._C._nn.linear %x, %w : !fx.tensor<f32[3, 2], cpu>
  %e = method.view %a, -1 : !fx.tensor<f32[15], cpu> aliases(0)
  %f = method.reshape %d, -1 : !fx.tensor<f32[6], cpu> aliases(0)
  %s = pyfn.torch.cat [%e, %f] : !fx.tensor<f32[21], cpu>
  fx.output (%s,)
}
