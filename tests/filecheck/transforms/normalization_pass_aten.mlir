// RUN: xductor-opt %s -p normalization_pass_aten | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.split %l_x_, [4, 2], 1 : !fx.tensor<f32[4, 4][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %cat = pyfn.torch.cat [%l_x_, %add], 1 : !fx.tensor<f32[4, 12], cpu>
  // CHECK-NEXT: %stack = pyfn.torch.stack [%l_x_, %l_x_], 2 : !fx.tensor<f32[4, 6, 2], cpu>
  // CHECK-NEXT: %torch_1#0, %torch_1#1, %torch_1#2, %torch_1#3 = pyfn.torch.unbind %l_x_ : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *)
  // CHECK-NEXT: fx.output (%torch#0, %torch#1, %cat, %stack, %torch_1#0, %torch_1#1, %torch_1#2, %torch_1#3)
  %getitem, %getitem_1 = method.split %l_x_, 4, -1 : !fx.tensor<f32[4, 4][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0) as (*, *) {node = "split"}
  %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  %cat = pyfn.torch.cat [%l_x_, %add], -1 : !fx.tensor<f32[4, 12], cpu>
  %stack = pyfn.torch.stack [%l_x_, %l_x_], -1 : !fx.tensor<f32[4, 6, 2], cpu>
  %getitem_2, %getitem_3, %getitem_4, %getitem_5 = method.unbind %l_x_, -2 : !fx.tensor<f32[6], cpu>, !fx.tensor<f32[6], cpu, offset 6>, !fx.tensor<f32[6], cpu, offset 12>, !fx.tensor<f32[6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *) {node = "unbind"}
  fx.output (%getitem, %getitem_1, %cat, %stack, %getitem_2, %getitem_3, %getitem_4, %getitem_5)
}

// Dims from the front, all sizes.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %getitem, %getitem_1 = method.split %l_x_, [4, 2], 1 : !fx.tensor<f32[4, 4][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0) as (*, *) {node = "split"}
  // CHECK-NEXT: %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %cat = pyfn.torch.cat [%l_x_, %add], 1 : !fx.tensor<f32[4, 12], cpu>
  // CHECK-NEXT: fx.output (%getitem, %getitem_1, %cat)
  %getitem, %getitem_1 = method.split %l_x_, [4, 2], 1 : !fx.tensor<f32[4, 4][6, 1], cpu>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0) as (*, *) {node = "split"}
  %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  %cat = pyfn.torch.cat [%l_x_, %add], 1 : !fx.tensor<f32[4, 12], cpu>
  fx.output (%getitem, %getitem_1, %cat)
}
