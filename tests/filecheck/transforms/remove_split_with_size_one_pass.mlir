// RUN: xductor-opt %s -p remove_split_with_size_one_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %y = pyfn._operator.add %x, %x : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %z = pyfn._operator.add %y, %x : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a = pyfn.torch.split %x, 6, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0) as (*,)
  %b = method.split %x, [6], dim = -1 : !fx.tensor<f32[4, 6], cpu> aliases(0) as (*,)
  %c = method.chunk %x, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0) as (*,)
  %y = pyfn._operator.add %a, %b : !fx.tensor<f32[4, 6], cpu>
  %z = pyfn._operator.add %y, %c : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}

// Three pieces; and one that the caller gets as another tensor than his own.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %d = pyfn.torch.split %x, 9, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0) as (*,)
  // CHECK-NEXT: fx.output (%a, %d)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %d = pyfn.torch.split %x, 9, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0) as (*,)
  fx.output (%a, %d)
}
