// RUN: xductor-opt %s -p randperm_index | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[8, 4], cpu>) {
  // CHECK-NEXT: %p = aten.randperm.default 8, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %i = aten.slice.Tensor %p, 0, 0, 3 : !fx.tensor<i64[3], cpu>
  // CHECK-NEXT: %_unsafe_index = aten._unsafe_index.Tensor %x, [%i] : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%_unsafe_index,)
  %p = aten.randperm.default 8, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  %i = aten.slice.Tensor %p, 0, 0, 3 : !fx.tensor<i64[3], cpu>
  %y = aten.index.Tensor %x, [%i] : !fx.tensor<f32[3, 4], cpu>
  fx.output (%y,)
}

// More indices than rows; indices that are no permutation.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[8, 4], cpu>, %j : !fx.tensor<i64[3], cpu>) {
  // CHECK-NEXT: %p = aten.randperm.default 9, device = device<cpu>, pin_memory = false : !fx.tensor<i64[9], cpu>
  // CHECK-NEXT: %y = aten.index.Tensor %x, [%p] : !fx.tensor<f32[9, 4], cpu>
  // CHECK-NEXT: %z = aten.index.Tensor %x, [%j] : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %p = aten.randperm.default 9, device = device<cpu>, pin_memory = false : !fx.tensor<i64[9], cpu>
  %y = aten.index.Tensor %x, [%p] : !fx.tensor<f32[9, 4], cpu>
  %z = aten.index.Tensor %x, [%j] : !fx.tensor<f32[3, 4], cpu>
  fx.output (%y, %z)
}
