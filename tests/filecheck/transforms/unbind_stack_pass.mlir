// RUN: xductor-opt %s -p unbind_stack_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %z = method.relu %x : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.stack (%a, %b, %c, %d), dim = 0 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}

// CHECK-LABEL: fx.graph @some
fx.graph @some stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = pyfn.torch.unbind %x : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, slice(1, 3, none) : !fx.tensor<f32[2, 6], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %z = method.relu %_operator : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = pyfn.torch.unbind %x : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.stack (%b, %c), 0 : !fx.tensor<f32[2, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[2, 6], cpu>
  fx.output (%z,)
}

// No rows.
// CHECK-LABEL: fx.graph @pieces
fx.graph @pieces stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}
