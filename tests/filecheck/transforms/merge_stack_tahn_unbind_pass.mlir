// RUN: xductor-opt %s -p merge_stack_tahn_unbind_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, [2, 2, 2], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, (slice(none, none, none), slice(2, 6, none)) : !fx.tensor<f32[2, 4][6, 1], cpu, offset 2> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.tanh %_operator : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.split %torch, [2, 2], 1 : !fx.tensor<f32[2, 2][4, 1], cpu>, !fx.tensor<f32[2, 2][4, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %h = pyfn._operator.mul %torch#0, %torch#1 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %s = pyfn.torch.cat [%h, %a], 1 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a, %b, %c = pyfn.torch.split %x, [2, 2, 2], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %d = pyfn.torch.stack [%b, %c], -1 : !fx.tensor<f32[2, 2, 2], cpu>
  %e = method.tanh %d : !fx.tensor<f32[2, 2, 2], cpu>
  %f, %g = pyfn.torch.unbind %e, dim = 2 : !fx.tensor<f32[2, 2][4, 2], cpu>, !fx.tensor<f32[2, 2][4, 2], cpu, offset 1> aliases(0, 0) as (*, *)
  %h = pyfn._operator.mul %f, %g : !fx.tensor<f32[2, 2], cpu>
  %s = pyfn.torch.cat [%h, %a], 1 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%s,)
}

// Not behind each other; along another dim; another reader of the stack; another function.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, [2, 2, 2], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %d = pyfn.torch.stack [%a, %c] : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: %e = method.tanh %d : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: %f, %g = pyfn.torch.unbind %e : !fx.tensor<f32[2, 2], cpu>, !fx.tensor<f32[2, 2], cpu, offset 4> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %h = pyfn.torch.stack [%a, %b] : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: %i = method.tanh %h : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: %j, %k = pyfn.torch.unbind %i, 1 : !fx.tensor<f32[2, 2][4, 1], cpu>, !fx.tensor<f32[2, 2][4, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %l = pyfn.torch.stack [%a, %b] : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: %m = method.sigmoid %l : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: %n, %o = pyfn.torch.unbind %m : !fx.tensor<f32[2, 2], cpu>, !fx.tensor<f32[2, 2], cpu, offset 4> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.cat [%f, %g, %j, %k, %n, %o], 1 : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a, %b, %c = pyfn.torch.split %x, [2, 2, 2], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %d = pyfn.torch.stack [%a, %c] : !fx.tensor<f32[2, 2, 2], cpu>
  %e = method.tanh %d : !fx.tensor<f32[2, 2, 2], cpu>
  %f, %g = pyfn.torch.unbind %e : !fx.tensor<f32[2, 2], cpu>, !fx.tensor<f32[2, 2], cpu, offset 4> aliases(0, 0) as (*, *)
  %h = pyfn.torch.stack [%a, %b] : !fx.tensor<f32[2, 2, 2], cpu>
  %i = method.tanh %h : !fx.tensor<f32[2, 2, 2], cpu>
  %j, %k = pyfn.torch.unbind %i, 1 : !fx.tensor<f32[2, 2][4, 1], cpu>, !fx.tensor<f32[2, 2][4, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  %l = pyfn.torch.stack [%a, %b] : !fx.tensor<f32[2, 2, 2], cpu>
  %m = method.sigmoid %l : !fx.tensor<f32[2, 2, 2], cpu>
  %n, %o = pyfn.torch.unbind %m : !fx.tensor<f32[2, 2], cpu>, !fx.tensor<f32[2, 2], cpu, offset 4> aliases(0, 0) as (*, *)
  %s = pyfn.torch.cat [%f, %g, %j, %k, %n, %o], 1 : !fx.tensor<f32[2, 12], cpu>
  fx.output (%s,)
}
