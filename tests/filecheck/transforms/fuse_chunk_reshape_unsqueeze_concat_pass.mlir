// RUN: xductor-opt %s -p fuse_chunk_reshape_unsqueeze_concat_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %o, %o_1 = method.chunk %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "chunk"}
  // CHECK-NEXT: %reshape = method.reshape %o, -1 : !fx.tensor<f32[12], cpu> aliases(0)
  // CHECK-NEXT: %unsqueeze = method.unsqueeze %reshape, 0 : !fx.tensor<f32[1, 12], cpu> aliases(0)
  // CHECK-NEXT: %reshape_1 = method.reshape %o_1, -1 : !fx.tensor<f32[12], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %unsqueeze_1 = method.unsqueeze %reshape_1, 0 : !fx.tensor<f32[1, 12], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.reshape %l_x_, [2, 12] : !fx.tensor<f32[2, 12], cpu> aliases(0)
  // CHECK-NEXT: %exp = method.exp %torch : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: fx.output (%exp,)
  %o, %o_1 = method.chunk %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "chunk"}
  %reshape = method.reshape %o, -1 : !fx.tensor<f32[12], cpu> aliases(0)
  %unsqueeze = method.unsqueeze %reshape, 0 : !fx.tensor<f32[1, 12], cpu> aliases(0)
  %reshape_1 = method.reshape %o_1, -1 : !fx.tensor<f32[12], cpu, offset 12> aliases(0)
  %unsqueeze_1 = method.unsqueeze %reshape_1, 0 : !fx.tensor<f32[1, 12], cpu, offset 12> aliases(0)
  %cat = pyfn.torch.cat [%unsqueeze, %unsqueeze_1] : !fx.tensor<f32[2, 12], cpu>
  %exp = method.exp %cat : !fx.tensor<f32[2, 12], cpu>
  fx.output (%exp,)
}

// A piece without the new dim; another order than that of the whole.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %o, %o_1 = method.chunk %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "chunk"}
  // CHECK-NEXT: %reshape = method.reshape %o, 1, -1 : !fx.tensor<f32[1, 12], cpu> aliases(0)
  // CHECK-NEXT: %reshape_1 = method.reshape %o_1, 1, -1 : !fx.tensor<f32[1, 12], cpu, offset 12> aliases(0)
  // CHECK-NEXT: %cat = pyfn.torch.cat [%reshape, %reshape_1] : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: %exp = method.exp %cat : !fx.tensor<f32[2, 12], cpu>
  // CHECK-NEXT: fx.output (%exp,)
  %o, %o_1 = method.chunk %l_x_, 2 : !fx.tensor<f32[2, 6], cpu>, !fx.tensor<f32[2, 6], cpu, offset 12> aliases(0, 0) as (*, *) {node = "chunk"}
  %reshape = method.reshape %o, 1, -1 : !fx.tensor<f32[1, 12], cpu> aliases(0)
  %reshape_1 = method.reshape %o_1, 1, -1 : !fx.tensor<f32[1, 12], cpu, offset 12> aliases(0)
  %cat = pyfn.torch.cat [%reshape, %reshape_1] : !fx.tensor<f32[2, 12], cpu>
  %exp = method.exp %cat : !fx.tensor<f32[2, 12], cpu>
  fx.output (%exp,)
}
