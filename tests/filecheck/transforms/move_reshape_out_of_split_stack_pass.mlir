// RUN: xductor-opt %s -p 'move_reshape_out_of_split_stack_pass{threshold_to_cat=3}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %p = method.reshape %a, -1, 1 : !fx.tensor<f32[6, 1], cpu> aliases(0)
  // CHECK-NEXT: %q = pyfn.torch.reshape %b, (6, 1) : !fx.tensor<f32[6, 1], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %r = method.view %c, 6, 1 : !fx.tensor<f32[6, 1], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, slice(0, 3, none) : !fx.tensor<f32[3, 6], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %_operator, [3, 6, 1] : !fx.tensor<f32[3, 6, 1], cpu> aliases(0)
  // CHECK-NEXT: %z = method.relu %torch : !fx.tensor<f32[3, 6, 1], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %p = method.reshape %a, -1, 1 : !fx.tensor<f32[6, 1], cpu> aliases(0)
  %q = pyfn.torch.reshape %b, (6, 1) : !fx.tensor<f32[6, 1], cpu, offset 6> aliases(0)
  %r = method.view %c, 6, 1 : !fx.tensor<f32[6, 1], cpu, offset 12> aliases(0)
  %y = pyfn.torch.stack (%p, %q, %r), 0 : !fx.tensor<f32[3, 6, 1], cpu>
  %z = method.relu %y : !fx.tensor<f32[3, 6, 1], cpu>
  fx.output (%z,)
}

// CHECK-LABEL: fx.graph @some
fx.graph @some stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %p = method.reshape %a, -1, 1 : !fx.tensor<f32[6, 1], cpu> aliases(0)
  // CHECK-NEXT: %q = pyfn.torch.reshape %b, (6, 1) : !fx.tensor<f32[6, 1], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %r = method.view %c, 6, 1 : !fx.tensor<f32[6, 1], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, slice(0, 3, none) : !fx.tensor<f32[3, 6], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %_operator, [3, 6, 1] : !fx.tensor<f32[3, 6, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.unsqueeze %p, 0 : !fx.tensor<f32[1, 6, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_2 = pyfn.torch.cat [%torch, %torch_1] : !fx.tensor<f32[4, 6, 1], cpu>
  // CHECK-NEXT: %z = method.relu %torch_2 : !fx.tensor<f32[4, 6, 1], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %p = method.reshape %a, -1, 1 : !fx.tensor<f32[6, 1], cpu> aliases(0)
  %q = pyfn.torch.reshape %b, (6, 1) : !fx.tensor<f32[6, 1], cpu, offset 6> aliases(0)
  %r = method.view %c, 6, 1 : !fx.tensor<f32[6, 1], cpu, offset 12> aliases(0)
  %y = pyfn.torch.stack (%p, %q, %r, %p), 0 : !fx.tensor<f32[4, 6, 1], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6, 1], cpu>
  fx.output (%z,)
}

// That is for another option.
// CHECK-LABEL: fx.graph @not_reshaped
fx.graph @not_reshaped stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %y = pyfn.torch.stack (%a, %b, %c), 0 : !fx.tensor<f32[3, 6], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[3, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.stack (%a, %b, %c), 0 : !fx.tensor<f32[3, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[3, 6], cpu>
  fx.output (%z,)
}
