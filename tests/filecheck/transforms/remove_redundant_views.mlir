// RUN: xductor-opt %s -p remove_redundant_views | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.view.dtype %x, i32
  %a = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
  %b = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
  %c = aten.view.dtype %b, f32 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %d = aten.add.Tensor %a, %a
  %d = aten.add.Tensor %a, %b : !fx.tensor<i32[4], cpu>
  // CHECK-NEXT: %e = aten.neg.default %x
  %e = aten.neg.default %c : !fx.tensor<f32[4], cpu>
  fx.output (%d, %e)
}

// Of two tensors; of other sizes; returned.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>, %y : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.view.dtype %x, i32
  %a = aten.view.dtype %x, i32 : !fx.tensor<i32[4], cpu>
  // CHECK-NEXT: %b = aten.view.dtype %y, i32
  %b = aten.view.dtype %y, i32 : !fx.tensor<i32[4], cpu>
  // CHECK-NEXT: %c = aten.view.dtype %x, i16
  %c = aten.view.dtype %x, i16 : !fx.tensor<i16[8], cpu>
  // CHECK-NEXT: %d = aten.view.dtype %a, f32
  %d = aten.view.dtype %a, f32 : !fx.tensor<f32[4], cpu>
  fx.output (%a, %b, %c, %d)
}
