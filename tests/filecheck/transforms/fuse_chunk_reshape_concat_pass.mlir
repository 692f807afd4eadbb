// RUN: xductor-opt %s -p fuse_chunk_reshape_concat_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %o, %o_1 = method.split %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "split"}
  // CHECK-NEXT: %reshape = method.reshape %o, -1 : !fx.tensor<f32[12], cpu> aliases(0)
  // CHECK-NEXT: %reshape_1 = method.reshape %o_1, -1 : !fx.tensor<f32[12], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %l_x_, [24] : !fx.tensor<f32[24], cpu> aliases(0)
  // CHECK-NEXT: %exp = method.exp %torch : !fx.tensor<f32[24], cpu>
  // CHECK-NEXT: fx.output (%exp,)
  %o, %o_1 = method.split %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "split"}
  %reshape = method.reshape %o, -1 : !fx.tensor<f32[12], cpu> aliases(0)
  %reshape_1 = method.reshape %o_1, -1 : !fx.tensor<f32[12], cpu, offset 12> aliases(0)
  %cat = pyfn.torch.cat [%reshape, %reshape_1] : !fx.tensor<f32[24], cpu>
  %exp = method.exp %cat : !fx.tensor<f32[24], cpu>
  fx.output (%exp,)
}

// A piece that is not reshaped, a stack.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %getitem = pyfn._operator.getitem %l_x_, 0 : !fx.tensor<f32[6], cpu> aliases(0)
  // CHECK-NEXT: %getitem_1 = pyfn._operator.getitem %l_x_, 1 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %reshape = method.reshape %getitem_1, -1 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %cat = pyfn.torch.cat [%getitem, %reshape] : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %exp = method.exp %cat : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %o, %o_1 = method.split %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "split"}
  // CHECK-NEXT: %reshape_1 = method.reshape %o, -1 : !fx.tensor<f32[12], cpu> aliases(0)
  // CHECK-NEXT: %reshape_2 = method.reshape %o_1, -1 : !fx.tensor<f32[12], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %stack = pyfn.torch.stack [%reshape_1, %reshape_2] : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: %exp_1 = method.exp %stack : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: fx.output (%exp, %exp_1)
  %getitem = pyfn._operator.getitem %l_x_, 0 : !fx.tensor<f32[6], cpu> aliases(0)
  %getitem_1 = pyfn._operator.getitem %l_x_, 1 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  %reshape = method.reshape %getitem_1, -1 : !fx.tensor<f32[6], cpu, offset 6> aliases(0)
  %cat = pyfn.torch.cat [%getitem, %reshape] : !fx.tensor<f32[12], cpu>
  %exp = method.exp %cat : !fx.tensor<f32[12], cpu>
  %o, %o_1 = method.split %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "split"}
  %reshape_1 = method.reshape %o, -1 : !fx.tensor<f32[12], cpu> aliases(0)
  %reshape_2 = method.reshape %o_1, -1 : !fx.tensor<f32[12], cpu, offset 12> aliases(0)
  %stack = pyfn.torch.stack [%reshape_1, %reshape_2] : !fx.tensor<f32[2, 12], cpu>
  %exp_1 = method.exp %stack : !fx.tensor<f32[2, 12], cpu>
  fx.output (%exp, %exp_1)
}
