// RUN: xductor-opt %s -p remove_split_ops_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.narrow %l_x_, 1, 1, 3 : !fx.tensor<f32[4, 3][6, 1], cpu, offset 1> aliases(0)
  // CHECK-NEXT: %exp = method.exp %torch : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %getitem_3, %getitem_4, %getitem_5 = method.split %l_x_, [1, 3, 2], 1 : !fx.tensor<f32[4, 1][6, 1], cpu>, !fx.tensor<f32[4, 3][6, 1], cpu, offset 1>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *) {node = "split_1"}
  // CHECK-NEXT: %exp_1 = method.exp %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%exp, %exp_1)
  %split#0, %getitem_1, %split#2 = method.split %l_x_, [1, 3, 2], 1 : !fx.tensor<f32[4, 1][6, 1], cpu>, !fx.tensor<f32[4, 3][6, 1], cpu, offset 1>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *) {node = "split"}
  %exp = method.exp %getitem_1 : !fx.tensor<f32[4, 3], cpu>
  %getitem_3, %getitem_4, %getitem_5 = method.split %l_x_, [1, 3, 2], 1 : !fx.tensor<f32[4, 1][6, 1], cpu>, !fx.tensor<f32[4, 3][6, 1], cpu, offset 1>, !fx.tensor<f32[4, 2][6, 1], cpu, offset 4> aliases(0, 0, 0) as (*, *, *) {node = "split_1"}
  %cat = pyfn.torch.cat (%getitem_3, %getitem_4, %getitem_5), 1 : !fx.tensor<f32[4, 6], cpu>
  %exp_1 = method.exp %cat : !fx.tensor<f32[4, 6], cpu>
  fx.output (%exp, %exp_1)
}

// Two pieces that are read, pieces in another order.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %getitem, %getitem_1 = method.split %l_x_, 3, 1 : !fx.tensor<f32[4, 3][6, 1], cpu>, !fx.tensor<f32[4, 3][6, 1], cpu, offset 3> aliases(0, 0) as (*, *) {node = "split"}
  // CHECK-NEXT: %exp = method.exp %getitem : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %mul = pyfn._operator.mul %exp, %getitem_1 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %getitem_2, %getitem_3 = method.split %l_x_, 3, 1 : !fx.tensor<f32[4, 3][6, 1], cpu>, !fx.tensor<f32[4, 3][6, 1], cpu, offset 3> aliases(0, 0) as (*, *) {node = "split_1"}
  // CHECK-NEXT: %cat = pyfn.torch.cat (%getitem_3, %getitem_2), 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %exp_1 = method.exp %cat : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%mul, %exp_1)
  %getitem, %getitem_1 = method.split %l_x_, 3, 1 : !fx.tensor<f32[4, 3][6, 1], cpu>, !fx.tensor<f32[4, 3][6, 1], cpu, offset 3> aliases(0, 0) as (*, *) {node = "split"}
  %exp = method.exp %getitem : !fx.tensor<f32[4, 3], cpu>
  %mul = pyfn._operator.mul %exp, %getitem_1 : !fx.tensor<f32[4, 3], cpu>
  %getitem_2, %getitem_3 = method.split %l_x_, 3, 1 : !fx.tensor<f32[4, 3][6, 1], cpu>, !fx.tensor<f32[4, 3][6, 1], cpu, offset 3> aliases(0, 0) as (*, *) {node = "split_1"}
  %cat = pyfn.torch.cat (%getitem_3, %getitem_2), 1 : !fx.tensor<f32[4, 6], cpu>
  %exp_1 = method.exp %cat : !fx.tensor<f32[4, 6], cpu>
  fx.output (%mul, %exp_1)
}
