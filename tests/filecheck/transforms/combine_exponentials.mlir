// RUN: xductor-opt %s -p 'combine_exponentials{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>, %y_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %add = aten.add.Tensor %x_1, %y_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %exp = aten.exp.default %add : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %sub = aten.sub.Tensor %x_1, %y_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %exp_1 = aten.exp.default %sub : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x_1, 3 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %exp_2 = aten.exp.default %mul : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%exp, %exp_1, %clone, %exp_2)
  %exp = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %exp_1 = aten.exp.default %y_1 : !fx.tensor<f32[3, 4], cpu>
  %mul = aten.mul.Tensor %exp, %exp_1 : !fx.tensor<f32[3, 4], cpu>
  %exp_2 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %exp_3 = aten.exp.default %y_1 : !fx.tensor<f32[3, 4], cpu>
  %div = aten.div.Tensor %exp_2, %exp_3 : !fx.tensor<f32[3, 4], cpu>
  %exp_4 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %log = aten.log.default %exp_4 : !fx.tensor<f32[3, 4], cpu>
  %exp_5 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %pow_1 = aten.pow.Tensor_Scalar %exp_5, 3 : !fx.tensor<f32[3, 4], cpu>
  fx.output (%mul, %div, %log, %pow_1)
}

// An exponential that is read elsewhere; other sizes; integers; a power of zero.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>, %y_1 : !fx.tensor<f32[3, 4], cpu>, %n_1 : !fx.tensor<i64[3], cpu>) {
  // CHECK-NEXT: %exp = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %exp_1 = aten.exp.default %y_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %exp, %exp_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %exp_2 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %y_1, 0, 0, 1 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %exp_3 = aten.exp.default %slice_1 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %exp_2, %exp_3 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %exp_4 = aten.exp.default %n_1 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %log = aten.log.default %exp_4 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %exp_5 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %pow_1 = aten.pow.Tensor_Scalar %exp_5, 0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%exp, %mul, %mul_1, %log, %pow_1)
  %exp = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %exp_1 = aten.exp.default %y_1 : !fx.tensor<f32[3, 4], cpu>
  %mul = aten.mul.Tensor %exp, %exp_1 : !fx.tensor<f32[3, 4], cpu>
  %exp_2 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %slice_1 = aten.slice.Tensor %y_1, 0, 0, 1 : !fx.tensor<f32[1, 4], cpu>
  %exp_3 = aten.exp.default %slice_1 : !fx.tensor<f32[1, 4], cpu>
  %mul_1 = aten.mul.Tensor %exp_2, %exp_3 : !fx.tensor<f32[3, 4], cpu>
  %exp_4 = aten.exp.default %n_1 : !fx.tensor<f32[3], cpu>
  %log = aten.log.default %exp_4 : !fx.tensor<f32[3], cpu>
  %exp_5 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %pow_1 = aten.pow.Tensor_Scalar %exp_5, 0 : !fx.tensor<f32[3, 4], cpu>
  fx.output (%exp, %mul, %mul_1, %log, %pow_1)
}
