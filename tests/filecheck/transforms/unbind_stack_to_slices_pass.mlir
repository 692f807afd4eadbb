// RUN: xductor-opt %s -p 'unbind_stack_to_slices_pass{threshold_to_cat=3}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, slice(0, 3, none) : !fx.tensor<f32[3, 6], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.unsqueeze %a, 0 : !fx.tensor<f32[1, 6], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.cat [%_operator, %torch] : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %z = method.relu %torch_1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.stack (%a, %b, %c, %a), 0 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}

// CHECK-LABEL: fx.graph @whole
fx.graph @whole stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = pyfn.torch.unbind %x : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %z = method.relu %x : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = pyfn.torch.unbind %x : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.stack (%a, %b, %c, %d), dim = 0 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}

// Runs of two.
// CHECK-LABEL: fx.graph @short
fx.graph @short stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %y = pyfn.torch.stack (%a, %b, %a), 0 : !fx.tensor<f32[3, 6], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[3, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.stack (%a, %b, %a), 0 : !fx.tensor<f32[3, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[3, 6], cpu>
  fx.output (%z,)
}
