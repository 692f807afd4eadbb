// RUN: xductor-opt %s -p 'unbind_cat_to_view_pass{threshold_to_cat=3}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %x, [24] : !fx.tensor<f32[24], cpu> aliases(0)
  // CHECK-NEXT: %z = method.relu %torch : !fx.tensor<f32[24], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.cat (%a, %b, %c, %d), 0 : !fx.tensor<f32[24], cpu>
  %z = method.relu %y : !fx.tensor<f32[24], cpu>
  fx.output (%z,)
}

// CHECK-LABEL: fx.graph @some
fx.graph @some stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = pyfn.torch.unbind %x : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, slice(0, 3, none) : !fx.tensor<f32[3, 6], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %_operator, [18] : !fx.tensor<f32[18], cpu> aliases(0)
  // CHECK-NEXT: %y = pyfn.torch.cat [%torch, %a] : !fx.tensor<f32[24], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[24], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = pyfn.torch.unbind %x : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.cat (%a, %b, %c, %a), axis = 0 : !fx.tensor<f32[24], cpu>
  %z = method.relu %y : !fx.tensor<f32[24], cpu>
  fx.output (%z,)
}

// Runs of two.
// CHECK-LABEL: fx.graph @short
fx.graph @short stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat (%a, %b, %a), 0 : !fx.tensor<f32[18], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[18], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c, %d = method.unbind %x, 0 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  %y = pyfn.torch.cat (%a, %b, %a), 0 : !fx.tensor<f32[18], cpu>
  %z = method.relu %y : !fx.tensor<f32[18], cpu>
  fx.output (%z,)
}
