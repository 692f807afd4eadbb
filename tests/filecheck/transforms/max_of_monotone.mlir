// RUN: xductor-opt %s -p 'max_of_monotone{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %amax = aten.amax.default %x_1, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %exp = aten.exp.default %amax : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %amax_1 = aten.amax.default %x_1, [0, 1] : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %sigmoid = aten.sigmoid.default %amax_1 : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %amax_2 = aten.amax.default %x_1, [0], true : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %tanh = aten.tanh.default %amax_2 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: fx.output (%exp, %sigmoid, %tanh)
  %exp = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %amax = aten.amax.default %exp, [1] : !fx.tensor<f32[3], cpu>
  %sigmoid = aten.sigmoid.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %amax_1 = aten.amax.default %sigmoid, [0, 1] : !fx.tensor<f32[], cpu>
  %tanh = aten.tanh.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %amax_2 = aten.amax.default %tanh, [0], true : !fx.tensor<f32[1, 4], cpu>
  fx.output (%amax, %amax_1, %amax_2)
}

// A function that falls; a minimum; a value that is read elsewhere; integers.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%x_1 : !fx.tensor<f32[3, 4], cpu>, %n_1 : !fx.tensor<i64[3, 4], cpu>) {
  // CHECK-NEXT: %cos = aten.cos.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %amax = aten.amax.default %cos, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %exp = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %amin = aten.amin.default %exp, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %exp_1 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %amax_1 = aten.amax.default %exp_1, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %exp_2 = aten.exp.default %n_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %amax_2 = aten.amax.default %exp_2, [1] : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%amax, %amin, %exp_1, %amax_1, %amax_2)
  %cos = aten.cos.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %amax = aten.amax.default %cos, [1] : !fx.tensor<f32[3], cpu>
  %exp = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %amin = aten.amin.default %exp, [1] : !fx.tensor<f32[3], cpu>
  %exp_1 = aten.exp.default %x_1 : !fx.tensor<f32[3, 4], cpu>
  %amax_1 = aten.amax.default %exp_1, [1] : !fx.tensor<f32[3], cpu>
  %exp_2 = aten.exp.default %n_1 : !fx.tensor<f32[3, 4], cpu>
  %amax_2 = aten.amax.default %exp_2, [1] : !fx.tensor<f32[3], cpu>
  fx.output (%amax, %amin, %exp_1, %amax_1, %amax_2)
}
