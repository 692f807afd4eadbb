// RUN: xductor-opt %s -p pointless_permute_pair | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 3, 4], cpu>) {
  // CHECK-NEXT: %neg = aten.neg.default %x
  %a = aten.permute.default %x, [1, -1, 0] : !fx.tensor<f32[3, 4, s0][4, 1, 12], cpu>
  %b = aten.permute.default %a, [2, 0, 1] : !fx.tensor<f32[s0, 3, 4], cpu>
  %neg = aten.neg.default %b : !fx.tensor<f32[s0, 3, 4], cpu>
  fx.output (%neg,)
}

// Shapes agree, values do not; an output that would be the input.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[2, 2, 2], cpu>) {
  // CHECK-NEXT: %a = aten.permute.default %x, [1, 2, 0]
  %a = aten.permute.default %x, [1, 2, 0] : !fx.tensor<f32[2, 2, 2][2, 1, 4], cpu>
  // CHECK-NEXT: %b = aten.permute.default %a, [1, 2, 0]
  %b = aten.permute.default %a, [1, 2, 0] : !fx.tensor<f32[2, 2, 2][1, 4, 2], cpu>
  // CHECK-NEXT: %c = aten.permute.default %a, [2, 0, 1]
  %c = aten.permute.default %a, [2, 0, 1] : !fx.tensor<f32[2, 2, 2], cpu>
  // CHECK-NEXT: fx.output (%b, %c)
  fx.output (%b, %c)
}
