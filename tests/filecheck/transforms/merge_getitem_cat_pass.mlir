// RUN: xductor-opt %s -p merge_getitem_cat_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %z = method.relu %x : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}

// In other words, and of some of the pieces.
// CHECK-LABEL: fx.graph @by_chunks
fx.graph @by_chunks stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %_operator = pyfn._operator.getitem %x, (slice(none, none, none), slice(0, 4, none)) : !fx.tensor<f32[4, 4][6, 1], cpu> aliases(0)
  // CHECK-NEXT: %z = method.relu %_operator : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b), dim = 1 : !fx.tensor<f32[4, 4], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 4], cpu>
  fx.output (%z,)
}

// What is put together is no slice.
// CHECK-LABEL: fx.graph @other_order
fx.graph @other_order stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat (%b, %a, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%b, %a, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}

// What is written to does not become a view.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %w = method.add_ %y, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%w,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  %w = method.add_ %y, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  fx.output (%w,)
}

// Nor does what the caller gets.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  fx.output (%y,)
}
