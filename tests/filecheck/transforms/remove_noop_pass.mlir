// RUN: xductor-opt %s -p remove_noop_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %transpose = method.transpose %l_x_, 0, 1 : !fx.tensor<f32[6, 4][1, 6], cpu> aliases(0)
  // CHECK-NEXT: %exp = method.exp %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %sin = method.sin %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %cos = method.cos %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %tan = method.tan %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %abs_1 = method.abs %l_x_ : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: fx.output (%exp, %sin, %cos, %tan, %abs_1)
  %transpose = method.transpose %l_x_, 0, 1 : !fx.tensor<f32[6, 4][1, 6], cpu> aliases(0)
  %transpose_1 = method.transpose %transpose, 1, 0 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  %exp = method.exp %transpose_1 : !fx.tensor<f32[4, 6], cpu>
  %reshape = method.reshape %l_x_, 4, 6 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  %sin = method.sin %reshape : !fx.tensor<f32[4, 6], cpu>
  %getitem = pyfn._operator.getitem %l_x_, slice(none, none, none) : !fx.tensor<f32[4, 6], cpu> aliases(0)
  %cos = method.cos %getitem : !fx.tensor<f32[4, 6], cpu>
  %dropout = pyfn.torch.nn.functional.dropout %l_x_, 0.5, false : !fx.tensor<f32[4, 6], cpu>
  %tan = method.tan %dropout : !fx.tensor<f32[4, 6], cpu>
  %getitem_1 = method.split %l_x_, 8 : !fx.tensor<f32[4, 6], cpu> aliases(0) as (*,) {node = "split"}
  %abs_1 = method.abs %getitem_1 : !fx.tensor<f32[4, 6], cpu>
  fx.output (%exp, %sin, %cos, %tan, %abs_1)
}

// Other sizes, other dims, a dropout that drops, what is written later.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) (%l_x_ : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %reshape = method.reshape %l_x_, 6, 4 : !fx.tensor<f32[6, 4], cpu> aliases(0)
  // CHECK-NEXT: %sin = method.sin %reshape : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %getitem = pyfn._operator.getitem %l_x_, slice(1, none, none) : !fx.tensor<f32[3, 6], cpu, offset 6> aliases(0)
  // CHECK-NEXT: %cos = method.cos %getitem : !fx.tensor<f32[3, 6], cpu>
  // CHECK-NEXT: %dropout = pyfn.torch.nn.functional.dropout %l_x_, 0.5, true : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %tan = method.tan %dropout : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %cat = pyfn.torch.cat [%add] : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %mul_ = method.mul_ %cat, 2 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%sin, %cos, %tan, %mul_)
  %reshape = method.reshape %l_x_, 6, 4 : !fx.tensor<f32[6, 4], cpu> aliases(0)
  %sin = method.sin %reshape : !fx.tensor<f32[6, 4], cpu>
  %getitem = pyfn._operator.getitem %l_x_, slice(1, none, none) : !fx.tensor<f32[3, 6], cpu, offset 6> aliases(0)
  %cos = method.cos %getitem : !fx.tensor<f32[3, 6], cpu>
  %dropout = pyfn.torch.nn.functional.dropout %l_x_, 0.5, true : !fx.tensor<f32[4, 6], cpu>
  %tan = method.tan %dropout : !fx.tensor<f32[4, 6], cpu>
  %add = pyfn._operator.add %l_x_, 1 : !fx.tensor<f32[4, 6], cpu>
  %cat = pyfn.torch.cat [%add] : !fx.tensor<f32[4, 6], cpu>
  %mul_ = method.mul_ %cat, 2 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  fx.output (%sin, %cos, %tan, %mul_)
}
