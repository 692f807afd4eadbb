// RUN: xductor-opt %s -p 'mul_softmax_pattern{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[2, 8], cpu>) {
  // CHECK-NEXT: %s = aten.mul.Tensor %x, -0.5 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x, -1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %amax = aten.amax.default %mul, [1], true : !fx.tensor<f32[2, 1], cpu>
  // CHECK-NEXT: %sub = aten.sub.Tensor %mul, %amax : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %eq = aten.eq.Tensor %s, %s : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %abs = aten.abs.default %s : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %ne = aten.ne.Scalar %abs, inf : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %eq, %ne : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %logical_not = aten.logical_not.default %mul_1 : !fx.tensor<i1[2, 8], cpu>
  // CHECK-NEXT: %any = aten.any.dims %logical_not, [1], true : !fx.tensor<i1[2, 1], cpu>
  // CHECK-NEXT: %logical_not_1 = aten.logical_not.default %any : !fx.tensor<i1[2, 1], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %sub, 0.5 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %amax_1 = aten.amax.default %s, [1], true : !fx.tensor<f32[2, 1], cpu>
  // CHECK-NEXT: %sub_1 = aten.sub.Tensor %s, %amax_1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %where = aten.where.self %logical_not_1, %mul_2, %sub_1 : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: fx.output (%where,)
  %s = aten.mul.Tensor %x, -0.5 : !fx.tensor<f32[2, 8], cpu>
  %m = aten.amax.default %s, [1], true : !fx.tensor<f32[2, 1], cpu>
  %y = aten.sub.Tensor %s, %m : !fx.tensor<f32[2, 8], cpu>
  fx.output (%y,)
}

// A scale that changes along the row; integers.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[2, 8], cpu>, %t : !fx.tensor<f32[8], cpu>, %i : !fx.tensor<i64[2, 8], cpu>) {
  // CHECK-NEXT: %s = aten.mul.Tensor %x, %t : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %m = aten.amax.default %s, [1], true : !fx.tensor<f32[2, 1], cpu>
  // CHECK-NEXT: %y = aten.sub.Tensor %s, %m : !fx.tensor<f32[2, 8], cpu>
  // CHECK-NEXT: %u = aten.mul.Tensor %i, 2 : !fx.tensor<i64[2, 8], cpu>
  // CHECK-NEXT: %n = aten.amax.default %u, [1], true : !fx.tensor<i64[2, 1], cpu>
  // CHECK-NEXT: %z = aten.sub.Tensor %u, %n : !fx.tensor<i64[2, 8], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %s = aten.mul.Tensor %x, %t : !fx.tensor<f32[2, 8], cpu>
  %m = aten.amax.default %s, [1], true : !fx.tensor<f32[2, 1], cpu>
  %y = aten.sub.Tensor %s, %m : !fx.tensor<f32[2, 8], cpu>
  %u = aten.mul.Tensor %i, 2 : !fx.tensor<i64[2, 8], cpu>
  %n = aten.amax.default %u, [1], true : !fx.tensor<i64[2, 1], cpu>
  %z = aten.sub.Tensor %u, %n : !fx.tensor<i64[2, 8], cpu>
  fx.output (%y, %z)
}
