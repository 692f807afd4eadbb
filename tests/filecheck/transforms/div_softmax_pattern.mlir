// RUN: xductor-opt %s -p 'div_softmax_pattern{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[2, 8], cpu>, %t : !fx.tensor<f32[2, 1], cpu>) {
  // CHECK-NEXT: %s = aten.div.Tensor %x, %t : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %scalar_tensor = aten.scalar_tensor.default 1, dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %ge = aten.ge.Scalar %t, 0 : !fx.tensor<i1[2, 1], cpu>
  // CHECK-NEXT: %neg = aten.neg.default %scalar_tensor : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %where = aten.where.self %ge, %scalar_tensor, %neg : !fx.tensor<f32[2, 1], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x, %where : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %amax = aten.amax.default %mul, [-1], true : !fx.tensor<f32[2, 1], cpu>
  // CHECK-NEXT: %sub = aten.sub.Tensor %mul, %amax : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %where, %t : !fx.tensor<f32[2, 1], cpu>
  // CHECK-NEXT: %eq = aten.eq.Tensor %s, %s : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %abs = aten.abs.default %s : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %ne = aten.ne.Scalar %abs, inf : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %eq, %ne : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %logical_not = aten.logical_not.default %mul_2 : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %any = aten.any.dims %logical_not, [-1], true : !fx.tensor<i1[2, 1], cpu>
  // CHECK-NEXT: %logical_not_1 = aten.logical_not.default %any : !fx.tensor<i1[2, 1], cpu>
  // CHECK-NEXT: %div = aten.div.Tensor %sub, %mul_1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %amax_1 = aten.amax.default %s, [-1], true : !fx.tensor<f32[2, 1], cpu>
  // CHECK-NEXT: %sub_1 = aten.sub.Tensor %s, %amax_1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %where_1 = aten.where.self %logical_not_1, %div, %sub_1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%where_1,)
  %s = aten.div.Tensor %x, %t : !fx.tensor<f32[2, 8], cpu>
  %m = aten.amax.default %s, [-1], true : !fx.tensor<f32[2, 1], cpu>
  %y = aten.sub.Tensor %s, %m : !fx.tensor<f32[2, 8], cpu>
  fx.output (%y,)
}

// A maximum along a dim in which the scale changes.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[2, 8], cpu>, %t : !fx.tensor<f32[2, 1], cpu>) {
  // CHECK-NEXT: %s = aten.div.Tensor %x, %t : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %m = aten.amax.default %s, [0], true : !fx.tensor<f32[1, 8], cpu>
  // CHECK-NEXT: %y = aten.sub.Tensor %s, %m : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %s = aten.div.Tensor %x, %t : !fx.tensor<f32[2, 8], cpu>
  %m = aten.amax.default %s, [0], true : !fx.tensor<f32[1, 8], cpu>
  %y = aten.sub.Tensor %s, %m : !fx.tensor<f32[2, 8], cpu>
  fx.output (%y,)
}
