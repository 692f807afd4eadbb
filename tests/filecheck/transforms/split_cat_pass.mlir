// RUN: xductor-opt %s -p split_cat_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %z = method.relu %x : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c), axis = -1 : !fx.tensor<f32[4, 6], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 6], cpu>
  fx.output (%z,)
}

// One permutation.
// CHECK-LABEL: fx.graph @along_another_dim
fx.graph @along_another_dim stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %x, [4, 3, 2] : !fx.tensor<f32[4, 3, 2], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.permute %torch, [1, 0, 2] : !fx.tensor<f32[3, 4, 2][2, 6, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_2 = pyfn.torch.clone %torch_1, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[3, 4, 2], cpu>
  // CHECK-NEXT: %torch_3 = pyfn.torch.reshape %torch_2, [12, 2] : !fx.tensor<f32[12, 2], cpu> aliases(0)
  // CHECK-NEXT: %z = method.relu %torch_3 : !fx.tensor<f32[12, 2], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = method.chunk %x, 3, dim = -1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c), 0 : !fx.tensor<f32[12, 2], cpu>
  %z = method.relu %y : !fx.tensor<f32[12, 2], cpu>
  fx.output (%z,)
}

// Fewer pieces.
// CHECK-LABEL: fx.graph @twice
fx.graph @twice stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %y = pyfn.torch.cat [%x, %x], 1 : !fx.tensor<f32[4, 12], cpu>
  // CHECK-NEXT: %z = method.relu %y : !fx.tensor<f32[4, 12], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c, %a, %b, %c), 1 : !fx.tensor<f32[4, 12], cpu>
  %z = method.relu %y : !fx.tensor<f32[4, 12], cpu>
  fx.output (%z,)
}

// What is written to stays a copy.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %torch = pyfn.torch.clone %x, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %w = method.add_ %torch, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%w,)
  %a, %b, %c = pyfn.torch.split %x, 2, 1 : !fx.tensor<f32[4, 2][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *)
  %y = pyfn.torch.cat (%a, %b, %c), 1 : !fx.tensor<f32[4, 6], cpu>
  %w = method.add_ %y, 1 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  fx.output (%w,)
}
