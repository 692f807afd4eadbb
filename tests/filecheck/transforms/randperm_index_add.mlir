// RUN: xductor-opt %s -p randperm_index_add | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[8, 4], cpu>, %v : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %p = aten.randperm.default 8, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %i = aten.slice.Tensor %p, 0, 0, 3 : !fx.tensor<i64[3], cpu>
  // CHECK-NEXT: %_unsafe_index = aten._unsafe_index.Tensor %x, [%i] : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %_unsafe_index, %v : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %y = aten.index_put.default %x, [%i], %add : !fx.tensor<f32[8, 4], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p = aten.randperm.default 8, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  %i = aten.slice.Tensor %p, 0, 0, 3 : !fx.tensor<i64[3], cpu>
  %y = aten.index_put.default %x, [%i], %v, true : !fx.tensor<f32[8, 4], cpu>
  fx.output (%y,)
}

// Values that are broadcast.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[8, 4], cpu>, %v : !fx.tensor<f32[1, 4], cpu>) {
  // CHECK-NEXT: %p = aten.randperm.default 8, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %y = aten.index_put.default %x, [%p], %v, true : !fx.tensor<f32[8, 4], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %p = aten.randperm.default 8, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  %y = aten.index_put.default %x, [%p], %v, true : !fx.tensor<f32[8, 4], cpu>
  fx.output (%y,)
}
