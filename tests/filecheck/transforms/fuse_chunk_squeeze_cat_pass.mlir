// RUN: xductor-opt %s -p fuse_chunk_squeeze_cat_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %o, %o_1, %o_2, %o_3 = method.split %l_x_, 1 : !fx.tensor<f32[1, 6], cpu>, !fx.tensor<f32[1, 6], cpu, offset 6>, !fx.tensor<f32[1, 6], cpu, offset 12>, !fx.tensor<f32[1, 6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *) {node = "split"}
  // CHECK-NEXT: %squeeze = method.squeeze %o, 0 : !fx.tensor<f32[6], cpu> aliases(0)
  // CHECK-NEXT: %squeeze_1 = method.squeeze %o_1, 0 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %squeeze_2 = method.squeeze %o_2, 0 : !fx.tensor<f32[6], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %squeeze_3 = method.squeeze %o_3, 0 : !fx.tensor<f32[6], cpu, offset 18> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %l_x_, [24] : !fx.tensor<f32[24], cpu> aliases(0)
  // CHECK-NEXT: %exp = method.exp %torch : !fx.tensor<f32[24], cpu>
  // CHECK-NEXT: fx.output (%exp,)
  %o, %o_1, %o_2, %o_3 = method.split %l_x_, 1 : !fx.tensor<f32[1, 6], cpu>, !fx.tensor<f32[1, 6], cpu, offset 6>, !fx.tensor<f32[1, 6], cpu, offset 12>, !fx.tensor<f32[1, 6], cpu, offset 18> aliases(0, 0, 0, 0) as (*, *, *, *) {node = "split"}
  %squeeze = method.squeeze %o, 0 : !fx.tensor<f32[6], cpu> aliases(0)
  %squeeze_1 = method.squeeze %o_1, 0 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  %squeeze_2 = method.squeeze %o_2, 0 : !fx.tensor<f32[6], cpu, offset 12> aliases(0)
  %squeeze_3 = method.squeeze %o_3, 0 : !fx.tensor<f32[6], cpu, offset 18> aliases(0)
  %cat = pyfn.torch.cat [%squeeze, %squeeze_1, %squeeze_2, %squeeze_3] : !fx.tensor<f32[24], cpu>
  %exp = method.exp %cat : !fx.tensor<f32[24], cpu>
  fx.output (%exp,)
}

// A piece that nobody squeezed.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %getitem = pyfn._operator.getitem %l_x_, 0 : !fx.tensor<f32[6], cpu> aliases(0)
  // CHECK-NEXT: %getitem_1 = pyfn._operator.getitem %l_x_, slice(1, 2, none) : !fx.tensor<f32[1, 6], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %squeeze = method.squeeze %getitem_1, 0 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %cat = pyfn.torch.cat [%getitem, %squeeze] : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %exp = method.exp %cat : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: fx.output (%exp,)
  %getitem = pyfn._operator.getitem %l_x_, 0 : !fx.tensor<f32[6], cpu> aliases(0)
  %getitem_1 = pyfn._operator.getitem %l_x_, slice(1, 2, none) : !fx.tensor<f32[1, 6], cpu, offset 6> aliases(0)
  %squeeze = method.squeeze %getitem_1, 0 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  %cat = pyfn.torch.cat [%getitem, %squeeze] : !fx.tensor<f32[12], cpu>
  %exp = method.exp %cat : !fx.tensor<f32[12], cpu>
  fx.output (%exp,)
}
