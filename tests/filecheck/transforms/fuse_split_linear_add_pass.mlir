// RUN: xductor-opt %s -p fuse_split_linear_add_pass | filecheck %s

// Pieces in another order than they have in the tensor, one without a bias; a further term.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 8, 6], cpu>, %u : !fx.tensor<f32[3, 2], cpu>, %v : !fx.tensor<f32[3, 4], cpu>, %b : !fx.tensor<f32[3], cpu>, %y : !fx.tensor<f32[8, 3], cpu>) {
  // CHECK-NEXT: %method#0, %method#1 = method.split %x, [2, 4], -1 : !fx.tensor<f32[2, 8, 2][48, 6, 1], cpu>, !fx.tensor<f32[2, 8, 4][48, 6, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %torch = pyfn.torch.cat [%u, %v], 1 : !fx.tensor<f32[3, 6], cpu>
  // CHECK-NEXT: %_nn = pyfn.torch._C._nn.linear %x, %torch, %b : !fx.tensor<f32[2, 8, 3], cpu>
  // CHECK-NEXT: %t = pyfn.torch.add %_nn, %y : !fx.tensor<f32[2, 8, 3], cpu>
  // CHECK-NEXT: fx.output (%t,)
  %p#0, %p#1 = method.split %x, [2, 4], -1 : !fx.tensor<f32[2, 8, 2][48, 6, 1], cpu>, !fx.tensor<f32[2, 8, 4][48, 6, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  %d = pyfn.torch._C._nn.linear %p#1, %v, %b : !fx.tensor<f32[2, 8, 3], cpu>
  %e = pyfn.torch._C._nn.linear %p#0, %u : !fx.tensor<f32[2, 8, 3], cpu>
  %s = pyfn._operator.add %d, %y : !fx.tensor<f32[2, 8, 3], cpu>
  %t = pyfn.torch.add %s, %e : !fx.tensor<f32[2, 8, 3], cpu>
  fx.output (%t,)
}

// Only some lie beside each other.
// CHECK-LABEL: fx.graph @part
fx.graph @part stage(pre_grad) symbols() (%x : !fx.tensor<f32[8, 6], cpu>, %u : !fx.tensor<f32[2, 3], cpu>, %v : !fx.tensor<f32[2, 3], cpu>, %w : !fx.tensor<f32[1, 3], cpu>) {
  // CHECK-NEXT: %p = pyfn._operator.getitem %x, (slice(none, none, none), slice(2, 4, none)) : !fx.tensor<f32[8, 2][6, 1], cpu, offset 2> aliases(0)
  // CHECK-NEXT: %q = pyfn._operator.getitem %x, (slice(none, none, none), slice(4, none, none)) : !fx.tensor<f32[8, 2][6, 1], cpu, offset 4> aliases(0)
  // CHECK-NEXT: %r = pyfn._operator.getitem %x, (slice(none, none, none), slice(0, 1, none)) : !fx.tensor<f32[8, 1][6, 1], cpu> aliases(0)
  // CHECK-NEXT: %e = pyfn._operator.matmul %r, %w : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, (slice(none, none, none), slice(2, 6, none)) : !fx.tensor<f32[8, 4][6, 1], cpu, offset 2> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.cat [%u, %v] : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.matmul %_operator, %torch : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.add %torch_1, %e : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: fx.output (%torch_2,)
  %p = pyfn._operator.getitem %x, (slice(none, none, none), slice(2, 4, none)) : !fx.tensor<f32[8, 2][6, 1], cpu, offset 2> aliases(0)
  %q = pyfn._operator.getitem %x, (slice(none, none, none), slice(4, none, none)) : !fx.tensor<f32[8, 2][6, 1], cpu, offset 4> aliases(0)
  %r = pyfn._operator.getitem %x, (slice(none, none, none), slice(0, 1, none)) : !fx.tensor<f32[8, 1][6, 1], cpu> aliases(0)
  %d = pyfn._operator.matmul %p, %u : !fx.tensor<f32[8, 3], cpu>
  %e = pyfn._operator.matmul %r, %w : !fx.tensor<f32[8, 3], cpu>
  %f = pyfn._operator.matmul %q, %v : !fx.tensor<f32[8, 3], cpu>
  %s = pyfn._operator.add %d, %e : !fx.tensor<f32[8, 3], cpu>
  %t = pyfn._operator.add %s, %f : !fx.tensor<f32[8, 3], cpu>
  fx.output (%t,)
}

// A product with another reader; a factor; integers; pieces of two tensors.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[8, 4], cpu>, %y : !fx.tensor<f32[8, 4], cpu>, %u : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %p = pyfn._operator.getitem %x, (slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[8, 2][4, 1], cpu> aliases(0)
  // CHECK-NEXT: %q = pyfn._operator.getitem %x, (slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[8, 2][4, 1], cpu, offset 2> aliases(0)
  // CHECK-NEXT: %r = pyfn._operator.getitem %y, (slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[8, 2][4, 1], cpu, offset 2> aliases(0)
  // CHECK-NEXT: %d = pyfn._operator.matmul %p, %u : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %e = pyfn._operator.matmul %q, %u : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %s = pyfn._operator.add %d, %e : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %f = pyfn._operator.matmul %p, %u : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %g = pyfn._operator.matmul %r, %u : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %t = pyfn._operator.add %f, %g : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %h = pyfn._operator.matmul %p, %u : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %i = pyfn._operator.matmul %q, %u : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: %j = pyfn.torch.add %h, %i, alpha = 2 : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: fx.output (%d, %s, %t, %j)
  %p = pyfn._operator.getitem %x, (slice(none, none, none), slice(none, 2, none)) : !fx.tensor<f32[8, 2][4, 1], cpu> aliases(0)
  %q = pyfn._operator.getitem %x, (slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[8, 2][4, 1], cpu, offset 2> aliases(0)
  %r = pyfn._operator.getitem %y, (slice(none, none, none), slice(2, none, none)) : !fx.tensor<f32[8, 2][4, 1], cpu, offset 2> aliases(0)
  %d = pyfn._operator.matmul %p, %u : !fx.tensor<f32[8, 3], cpu>
  %e = pyfn._operator.matmul %q, %u : !fx.tensor<f32[8, 3], cpu>
  %s = pyfn._operator.add %d, %e : !fx.tensor<f32[8, 3], cpu>
  %f = pyfn._operator.matmul %p, %u : !fx.tensor<f32[8, 3], cpu>
  %g = pyfn._operator.matmul %r, %u : !fx.tensor<f32[8, 3], cpu>
  %t = pyfn._operator.add %f, %g : !fx.tensor<f32[8, 3], cpu>
  %h = pyfn._operator.matmul %p, %u : !fx.tensor<f32[8, 3], cpu>
  %i = pyfn._operator.matmul %q, %u : !fx.tensor<f32[8, 3], cpu>
  %j = pyfn.torch.add %h, %i, alpha = 2 : !fx.tensor<f32[8, 3], cpu>
  fx.output (%d, %s, %t, %j)
}
