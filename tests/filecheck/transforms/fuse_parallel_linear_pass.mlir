// RUN: xductor-opt %s -p fuse_parallel_linear_pass | filecheck %s

// Of unequal widths, one without a bias, one that is written as a product by a transpose.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 20, 4], cpu>, %q : !fx.tensor<f32[3, 4], cpu>, %k : !fx.tensor<f32[1, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %b : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %t = method.t %v : !fx.tensor<f32[4, 2][1, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.transpose %t, 0, 1 : !fx.tensor<f32[2, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.cat [%q, %k, %torch] : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %method = method.new_zeros %b, [1] : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %method_1 = method.new_zeros %b, [2] : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.cat [%b, %method, %method_1] : !fx.tensor<f32[6], cpu>
  // CHECK-NEXT: %_nn = pyfn.torch._C._nn.linear %x, %torch_1, %torch_2 : !fx.tensor<f32[2, 20, 6], cpu>
  // CHECK-NEXT: %torch#0, %torch#1, %torch#2 = pyfn.torch.split %_nn, [3, 1, 2], 2 : !fx.tensor<f32[2, 20, 3][120, 6, 1], cpu>, !fx.tensor<f32[2, 20, 1][120, 6, 1], cpu, offset 3>, !fx.tensor<f32[2, 20, 2][120, 6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %s = pyfn.torch.cat [%torch#2, %torch#0, %torch#1], 2 : !fx.tensor<f32[2, 20, 6], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch._C._nn.linear %x, %q, %b : !fx.tensor<f32[2, 20, 3], cpu>
  %d = pyfn.torch._C._nn.linear %x, %k : !fx.tensor<f32[2, 20, 1], cpu>
  %t = method.t %v : !fx.tensor<f32[4, 2][1, 4], cpu> aliases(0)
  %e = pyfn.torch.matmul %x, %t : !fx.tensor<f32[2, 20, 2], cpu>
  %s = pyfn.torch.cat [%e, %a, %d], 2 : !fx.tensor<f32[2, 20, 6], cpu>
  fx.output (%s,)
}

// Matrices by columns.
// CHECK-LABEL: fx.graph @columns
fx.graph @columns stage(pre_grad) symbols() (%x : !fx.tensor<f32[40, 4], cpu>, %q : !fx.tensor<f32[4, 3], cpu>, %k : !fx.tensor<f32[4, 2], cpu>, %b : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.cat [%q, %k], 1 : !fx.tensor<f32[4, 5], cpu>
  // CHECK-NEXT: %method = method.new_zeros %b, [2] : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.cat [%b, %method] : !fx.tensor<f32[5], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.addmm %torch_1, %x, %torch : !fx.tensor<f32[40, 5], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.split %torch_2, [3, 2], 1 : !fx.tensor<f32[40, 3][5, 1], cpu>, !fx.tensor<f32[40, 2][5, 1], cpu, offset 3> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.cat [%torch#0, %torch#1], 1 : !fx.tensor<f32[40, 5], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.addmm %b, %x, %q : !fx.tensor<f32[40, 3], cpu>
  %d = pyfn.torch.mm %x, %k : !fx.tensor<f32[40, 2], cpu>
  %s = pyfn.torch.cat [%a, %d], 1 : !fx.tensor<f32[40, 5], cpu>
  fx.output (%s,)
}

// What is returned has storage of its own.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(pre_grad) symbols() (%x : !fx.tensor<f32[80, 4], cpu>, %q : !fx.tensor<f32[3, 4], cpu>, %k : !fx.tensor<f32[1, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.cat [%q, %k] : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %_nn = pyfn.torch._C._nn.linear %x, %torch : !fx.tensor<f32[80, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.split %_nn, [3, 1], 1 : !fx.tensor<f32[80, 3][4, 1], cpu>, !fx.tensor<f32[80, 1][4, 1], cpu, offset 3> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %torch_1 = pyfn.torch.clone %torch#1 : !fx.tensor<f32[80, 1], cpu>
  // CHECK-NEXT: %e = method.exp %torch#0 : !fx.tensor<f32[80, 3], cpu>
  // CHECK-NEXT: fx.output (%e, %torch_1)
  %a = pyfn.torch._C._nn.linear %x, %q : !fx.tensor<f32[80, 3], cpu>
  %d = pyfn.torch._C._nn.linear %x, %k : !fx.tensor<f32[80, 1], cpu>
  %e = method.exp %a : !fx.tensor<f32[80, 3], cpu>
  fx.output (%e, %d)
}

// Other inputs; another dtype; a weight that is larger than the input.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[40, 4], cpu>, %y : !fx.tensor<f32[40, 4], cpu>, %q : !fx.tensor<f32[3, 4], cpu>, %k : !fx.tensor<f32[2, 4], cpu>, %w : !fx.tensor<f32[90, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch._C._nn.linear %x, %q : !fx.tensor<f32[40, 3], cpu>
  // CHECK-NEXT: %d = pyfn.torch._C._nn.linear %y, %k : !fx.tensor<f32[40, 2], cpu>
  // CHECK-NEXT: %e = pyfn.torch._C._nn.linear %x, %w : !fx.tensor<f32[40, 90], cpu>
  // CHECK-NEXT: %f = method.exp %e : !fx.tensor<f32[40, 90], cpu>
  // CHECK-NEXT: %s = pyfn.torch.cat [%a, %d], 1 : !fx.tensor<f32[40, 5], cpu>
  // CHECK-NEXT: fx.output (%s, %f)
  %a = pyfn.torch._C._nn.linear %x, %q : !fx.tensor<f32[40, 3], cpu>
  %d = pyfn.torch._C._nn.linear %y, %k : !fx.tensor<f32[40, 2], cpu>
  %e = pyfn.torch._C._nn.linear %x, %w : !fx.tensor<f32[40, 90], cpu>
  %f = method.exp %e : !fx.tensor<f32[40, 90], cpu>
  %s = pyfn.torch.cat [%a, %d], 1 : !fx.tensor<f32[40, 5], cpu>
  fx.output (%s, %f)
}

// The input is written in between, and one of the results.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(pre_grad) symbols() (%x : !fx.tensor<f32[40, 4], cpu>, %q : !fx.tensor<f32[3, 4], cpu>, %k : !fx.tensor<f32[1, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch._C._nn.linear %x, %q : !fx.tensor<f32[40, 3], cpu>
  // CHECK-NEXT: %y = method.add_ %x, 1 : !fx.tensor<f32[40, 4], cpu> aliases(0)
  // CHECK-NEXT: %d = pyfn.torch._C._nn.linear %x, %k : !fx.tensor<f32[40, 1], cpu>
  // CHECK-NEXT: %e = pyfn.torch._C._nn.linear %x, %q : !fx.tensor<f32[40, 3], cpu>
  // CHECK-NEXT: %f = method.add_ %e, 1 : !fx.tensor<f32[40, 3], cpu> aliases(0)
  // CHECK-NEXT: %s = pyfn.torch.cat [%a, %d, %f], 1 : !fx.tensor<f32[40, 7], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch._C._nn.linear %x, %q : !fx.tensor<f32[40, 3], cpu>
  %y = method.add_ %x, 1 : !fx.tensor<f32[40, 4], cpu> aliases(0)
  %d = pyfn.torch._C._nn.linear %x, %k : !fx.tensor<f32[40, 1], cpu>
  %e = pyfn.torch._C._nn.linear %x, %q : !fx.tensor<f32[40, 3], cpu>
  %f = method.add_ %e, 1 : !fx.tensor<f32[40, 3], cpu> aliases(0)
  %s = pyfn.torch.cat [%a, %d, %f], 1 : !fx.tensor<f32[40, 7], cpu>
  fx.output (%s,)
}
