// RUN: xductor-opt %s -p view_to_reshape | filecheck %s
// RUN: xductor-opt %s -p 'view_to_reshape,remove_noop_ops' | filecheck %s

// The result goes on sharing storage with the input, so the clone stays.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 16]) (%n : !fx.symint<s0>, %x : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %y = aten.reshape.default %x, [4, %n]
  %y = aten.view.default %x, [4, %n] : !fx.tensor<f32[4, s0], cpu>
  // CHECK-NEXT: %z = aten.clone.default %y
  %z = aten.clone.default %y : !fx.tensor<f32[4, s0], cpu>
  fx.output (%z,)
}

// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %y = aten.view.dtype %x, i32
  %y = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
  fx.output (%y,)
}
