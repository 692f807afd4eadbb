// RUN: xductor-opt %s -p merge_splits_pass | filecheck %s

// A chunk of a piece, and a split of a piece of that.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 6], cpu>) {
  // CHECK-NEXT: %torch#0, %torch#1, %torch#2, %torch#3 = pyfn.torch.split %x, [2, 2, 1, 1], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 1][6, 1], cpu, offset 4>, !fx.tensor<f32[2, 1][6, 1], cpu, offset 5> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: %s = pyfn.torch.cat [%torch#3, %torch#1, %torch#0, %torch#2], 1 : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a, %b = pyfn.torch.split %x, [2, 4], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 4][6, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  %c, %d = method.chunk %b, 2, -1 : !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 4> aliases(0, 0) as (*, *)
  %e, %f = method.split %d, 1, dim = 1 : !fx.tensor<f32[2, 1][6, 1], cpu, offset 4>, !fx.tensor<f32[2, 1][6, 1], cpu, offset 5> aliases(0, 0) as (*, *)
  %s = pyfn.torch.cat [%f, %c, %a, %e], 1 : !fx.tensor<f32[2, 6], cpu>
  fx.output (%s,)
}

// Along another dim; a piece that somebody else reads; one that is written.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 6], cpu>, %y : !fx.tensor<f32[2, 6], cpu>) {
  // CHECK-NEXT: %a, %b = pyfn.torch.split %x, [2, 4], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 4][6, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %c, %d = method.chunk %b, 2, 0 : !fx.tensor<f32[1, 4][6, 1], cpu, offset 2>, !fx.tensor<f32[1, 4][6, 1], cpu, offset 8> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %e, %f = pyfn.torch.split %y, [2, 4], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 4][6, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %g, %h = method.chunk %f, 2, 1 : !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 4> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.cat [%e, %f, %g, %h, %a], 1 : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: %t = pyfn.torch.cat [%c, %d], 0 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%s, %t)
  %a, %b = pyfn.torch.split %x, [2, 4], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 4][6, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  %c, %d = method.chunk %b, 2, 0 : !fx.tensor<f32[1, 4][6, 1], cpu, offset 2>, !fx.tensor<f32[1, 4][6, 1], cpu, offset 8> aliases(0, 0) as (*, *)
  %e, %f = pyfn.torch.split %y, [2, 4], 1 : !fx.tensor<f32[2, 2][6, 1], cpu>, !fx.tensor<f32[2, 4][6, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  %g, %h = method.chunk %f, 2, 1 : !fx.tensor<f32[2, 2][6, 1], cpu, offset 2>, !fx.tensor<f32[2, 2][6, 1], cpu, offset 4> aliases(0, 0) as (*, *)
  %s = pyfn.torch.cat [%e, %f, %g, %h, %a], 1 : !fx.tensor<f32[2, 12], cpu>
  %t = pyfn.torch.cat [%c, %d], 0 : !fx.tensor<f32[2, 4], cpu>
  fx.output (%s, %t)
}
