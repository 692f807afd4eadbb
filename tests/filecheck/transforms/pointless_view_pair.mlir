// RUN: xductor-opt %s -p pointless_view_pair | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols(s0 : int positive [2, 64]) (%n : !fx.symint<s0>, %x : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %neg = aten.neg.default %x
  %a = aten.view.default %x, [-1] : !fx.tensor<f32[4 * s0], cpu>
  %b = aten.view.default %a, [%n, 4] : !fx.tensor<f32[s0, 4], cpu>
  %neg = aten.neg.default %b : !fx.tensor<f32[s0, 4], cpu>
  fx.output (%neg,)
}

// The inner view stays for its other user.
// CHECK-LABEL: fx.graph @shared
fx.graph @shared stage(joint) symbols() (%x : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = aten.view.default %x, [12]
  %a = aten.view.default %x, [12] : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %sum = aten.sum.default %a
  %sum = aten.sum.default %a : !fx.tensor<f32[], cpu>
  %b = aten.view.default %a, [3, 4] : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x, %sum
  %mul = aten.mul.Tensor %b, %sum : !fx.tensor<f32[3, 4], cpu>
  fx.output (%mul,)
}

// Back to another shape; an output that would be the input.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: aten.view.default %x, [12]
  %a = aten.view.default %x, [12] : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: aten.view.default %a, [4, 3]
  %b = aten.view.default %a, [4, 3] : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: aten.view.default %a, [3, 4]
  %c = aten.view.default %a, [3, 4] : !fx.tensor<f32[3, 4], cpu>
  fx.output (%b, %c)
}
