// RUN: xductor-opt %s -p pointless_view | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols(s0 : int positive [2, 64]) (%n : !fx.symint<s0>, %x : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %neg = aten.neg.default %x
  %a = aten.view.default %x, [%n, 4] : !fx.tensor<f32[s0, 4], cpu>
  %b = aten.view.default %a, [-1, 4] : !fx.tensor<f32[s0, 4], cpu>
  %neg = aten.neg.default %b : !fx.tensor<f32[s0, 4], cpu>
  fx.output (%neg,)
}

// Another size, other strides, an output that would be the input.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols(s0 : int positive [2, 64], s1 : int positive [2, 64]) (%n : !fx.symint<s1>, %x : !fx.tensor<f32[s0, 4], cpu>, %y : !fx.tensor<f32[1, 4][9, 1], cpu>) {
  // CHECK-NEXT: %a = aten.view.default %x, [%n, 4]
  %a = aten.view.default %x, [%n, 4] : !fx.tensor<f32[s1, 4], cpu>
  // CHECK-NEXT: %b = aten.view.default %y, [1, 4]
  %b = aten.view.default %y, [1, 4] : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %c = aten.neg.default %b
  %c = aten.neg.default %b : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %d = aten.view.default %x, [-1, 4]
  %d = aten.view.default %x, [-1, 4] : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: fx.output (%a, %c, %d)
  fx.output (%a, %c, %d)
}
