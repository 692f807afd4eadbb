// RUN: xductor-opt %s -p pad_bmm | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%a : !fx.tensor<bf16[2, 8, 7], cuda:0>, %b : !fx.tensor<bf16[2, 7, 16], cuda:0>) {
  // CHECK-NEXT: %constant_pad_nd = aten.constant_pad_nd.default %a, [0, 1, 0, 0] : !fx.tensor<bf16[2, 8, 8], cuda:0>
  // CHECK-NEXT: %constant_pad_nd_1 = aten.constant_pad_nd.default %b, [0, 0, 0, 1] : !fx.tensor<bf16[2, 8, 16], cuda:0>
  // CHECK-NEXT: %y = aten.bmm.default %constant_pad_nd, %constant_pad_nd_1 : !fx.tensor<bf16[2, 8, 16], cuda:0>
  // CHECK-NEXT: fx.output (%y,)
  %y = aten.bmm.default %a, %b : !fx.tensor<bf16[2, 8, 16], cuda:0>
  fx.output (%y,)
}

// Sizes that are aligned; a dtype without a kernel that wants them so.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%a : !fx.tensor<bf16[2, 8, 8], cuda:0>, %b : !fx.tensor<bf16[2, 8, 16], cuda:0>, %c : !fx.tensor<f64[2, 8, 7], cuda:0>, %d : !fx.tensor<f64[2, 7, 5], cuda:0>) {
  // CHECK-NEXT: %y = aten.bmm.default %a, %b : !fx.tensor<bf16[2, 8, 16], cuda:0>
  // CHECK-NEXT: %z = aten.bmm.default %c, %d : !fx.tensor<f64[2, 8, 5], cuda:0>
  // CHECK-NEXT: fx.output (%y, %z)
  %y = aten.bmm.default %a, %b : !fx.tensor<bf16[2, 8, 16], cuda:0>
  %z = aten.bmm.default %c, %d : !fx.tensor<f64[2, 8, 5], cuda:0>
  fx.output (%y, %z)
}
