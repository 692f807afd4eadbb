// RUN: xductor-opt %s -p 'split_stack_to_cats_pass{threshold_to_cat=3}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %x, [4, 3, 2] : !fx.tensor<f32[4, 3, 2], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.permute %torch, [1, 0, 2] : !fx.tensor<f32[3, 4, 2][2, 6, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_2 = pyfn.torch.unsqueeze %a, 0 : !fx.tensor<f32[1, 4, 2][24, 6, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_3 = pyfn.torch.cat [%torch_1, %torch_2] : !fx.tensor<f32[4, 4, 2], cpu>
  // CHECK-NEXT: %z = method.relu %torch_3 : !fx.tensor<f32[4, 4, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.stack (%a, %b, %c, %a), 0 : !fx.tensor<f32[4, 4, 2], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 4, 2], cpu>
  fx.output (%z,)
}

// Runs of two.
// CHECK-LABEL: fx.graph @short
fx.graph @short stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.stack (%a, %b, %a), dim = 0 : !fx.tensor<f32[3, 4, 2], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[3, 4, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.stack (%a, %b, %a), dim = 0 : !fx.tensor<f32[3, 4, 2], cpu>
  %z = method.relu %y : !fx.tensor<f32[3, 4, 2], cpu>
  fx.output (%z,)
}
