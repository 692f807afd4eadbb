// RUN: xductor-opt %s -p normalize_node_kwargs_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 3], cpu>, %w : !fx.tensor<f32[5, 3], cpu>) {
  // CHECK-NEXT: %a, %b = method.split %x, split_size = 2, dim = 1 : !fx.tensor<f32[4, 2][3, 1], cpu>, !fx.tensor<f32[4, 1][3, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %c = pyfn.torch.concat tensors = (%a, %b), dim = 1 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %d = pyfn.torch._C._nn.linear input = %c, weight = %w, bias = none : !fx.tensor<f32[4, 5], cpu>
  // CHECK-NEXT: %e = method.transpose %d, dim0 = 1, dim1 = 0 : !fx.tensor<f32[5, 4][1, 5], cpu> aliases(0)
  // CHECK-NEXT: %f = pyfn.torch.sum input = %e, dim = [1], keepdim = false, dtype = none : !fx.tensor<f32[5], cpu>
  // CHECK-NEXT: %g = pyfn.torch.nn.functional.softmax input = %f, dim = 0, dtype = none : !fx.tensor<f32[5], cpu>
  // CHECK-NEXT: %h = aten.unsqueeze.default %g, 1 : !fx.tensor<f32[5, 1], cpu>
  // CHECK-NEXT: fx.output (%h,)
  %a, %b = method.split %x, 2, dim = -1 : !fx.tensor<f32[4, 2][3, 1], cpu>, !fx.tensor<f32[4, 1][3, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  %c = pyfn.torch.concat (%a, %b), axis = -1 : !fx.tensor<f32[4, 3], cpu>
  %d = pyfn.torch._C._nn.linear %c, %w : !fx.tensor<f32[4, 5], cpu>
  %e = method.transpose %d, -1, 0 : !fx.tensor<f32[5, 4][1, 5], cpu> aliases(0)
  %f = pyfn.torch.sum %e, -1 : !fx.tensor<f32[5], cpu>
  %g = pyfn.torch.nn.functional.softmax %f, -1 : !fx.tensor<f32[5], cpu>
  %h = aten.unsqueeze.default %g, -1 : !fx.tensor<f32[5, 1], cpu>
  fx.output (%h,)
}

// So written already; in place; an operator of Python; with `out`.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 3], cpu>, %y : !fx.tensor<f32[8, 3], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.cat tensors = [%x, %x], dim = 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %b = method.clamp_ %a, 0 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  // CHECK-NEXT: %c = pyfn.torch.cat [%x, %x], out = %y : !fx.tensor<f32[8, 3], cpu> aliases(2)
  // CHECK-NEXT: %d = pyfn._operator.getitem %x, -1 : !fx.tensor<f32[3], cpu, offset 9> aliases(0)
  // CHECK-NEXT: %e = aten.select.int %x, 0, -1 : !fx.tensor<f32[3], cpu, offset 9>
  // CHECK-NEXT: fx.output (%b, %c, %d, %e)
  %a = pyfn.torch.cat tensors = [%x, %x], dim = 1 : !fx.tensor<f32[4, 6], cpu>
  %b = method.clamp_ %a, 0 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  %c = pyfn.torch.cat [%x, %x], out = %y : !fx.tensor<f32[8, 3], cpu> aliases(2)
  %d = pyfn._operator.getitem %x, -1 : !fx.tensor<f32[3], cpu, offset 9> aliases(0)
  %e = aten.select.int %x, 0, -1 : !fx.tensor<f32[3], cpu, offset 9>
  fx.output (%b, %c, %d, %e)
}
