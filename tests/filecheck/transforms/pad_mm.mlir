// RUN: xductor-opt %s -p pad_mm | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%a : !fx.tensor<f32[8, 7], cuda:0>, %b : !fx.tensor<f32[7, 5], cuda:0>) {
  // CHECK-NEXT: %constant_pad_nd = aten.constant_pad_nd.default %a, [0, 1, 0, 0] : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %constant_pad_nd_1 = aten.constant_pad_nd.default %b, [0, 3, 0, 1] : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %mm = aten.mm.default %constant_pad_nd, %constant_pad_nd_1 : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %slice = aten.slice.Tensor %mm, 1, 0, -3 : !fx.tensor<f32[8, 5][8, 1], cuda:0>
  // CHECK-NEXT: %z = aten.neg.default %slice : !fx.tensor<f32[8, 5], cuda:0>
  // CHECK-NEXT: fx.output (%z,)
  %y = aten.mm.default %a, %b : !fx.tensor<f32[8, 5], cuda:0>
  %z = aten.neg.default %y : !fx.tensor<f32[8, 5], cuda:0>
  fx.output (%z,)
}

// Where somebody sees the rows, they are next to each other.
// CHECK-LABEL: fx.graph @dense
fx.graph @dense stage(joint) symbols() (%a : !fx.tensor<f32[8, 8], cuda:0>, %b : !fx.tensor<f32[8, 5], cuda:0>) {
  // CHECK-NEXT: %constant_pad_nd = aten.constant_pad_nd.default %b, [0, 3, 0, 0] : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %mm = aten.mm.default %a, %constant_pad_nd : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %slice = aten.slice.Tensor %mm, 1, 0, -3 : !fx.tensor<f32[8, 5][8, 1], cuda:0>
  // CHECK-NEXT: %clone = aten.clone.default %slice, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[8, 5], cuda:0>
  // CHECK-NEXT: fx.output (%clone,)
  %y = aten.mm.default %a, %b : !fx.tensor<f32[8, 5], cuda:0>
  fx.output (%y,)
}

// Sizes that are aligned; a device where it does not pay.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%a : !fx.tensor<f32[8, 8], cuda:0>, %b : !fx.tensor<f32[8, 4], cuda:0>, %c : !fx.tensor<f32[8, 7], cpu>, %d : !fx.tensor<f32[7, 5], cpu>) {
  // CHECK-NEXT: %y = aten.mm.default %a, %b : !fx.tensor<f32[8, 4], cuda:0>
  // CHECK-NEXT: %z = aten.mm.default %c, %d : !fx.tensor<f32[8, 5], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %y = aten.mm.default %a, %b : !fx.tensor<f32[8, 4], cuda:0>
  %z = aten.mm.default %c, %d : !fx.tensor<f32[8, 5], cpu>
  fx.output (%y, %z)
}
