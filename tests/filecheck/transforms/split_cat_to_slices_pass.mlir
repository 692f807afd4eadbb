// RUN: xductor-opt %s -p 'split_cat_to_slices_pass{threshold_to_cat=3}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat [%x, %a], 1 : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[4, 8], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c, %a), 1 : !fx.tensor<f32[4, 8], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 8], cpu>
  fx.output (%z,)
}

// Runs of two.
// CHECK-LABEL: fx.graph @short
fx.graph @short stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat (%a, %b, %a), 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %a), 1 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}
