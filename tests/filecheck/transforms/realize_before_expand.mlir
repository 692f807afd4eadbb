// RUN: xductor-opt %s -p realize_before_expand | filecheck %s

// The sines are dear, and 256 heads are turned by them: they get a buffer after the cast.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%q : !fx.tensor<bf16[256, 512, 64], cuda:0>, %angle : !fx.tensor<f32[512, 64], cuda:0>) {
  // CHECK-NEXT: %sin = aten.sin.default %angle : !fx.tensor<f32[512, 64], cuda:0>
  // CHECK-NEXT: %narrow = prims.convert_element_type.default %sin, bf16 : !fx.tensor<bf16[512, 64], cuda:0>
  // CHECK-NEXT: %inductor_force_stride_order = prims.inductor_force_stride_order.default %narrow, [64, 1] : !fx.tensor<bf16[512, 64], cuda:0>
  // CHECK-NEXT: %view = aten.unsqueeze.default %inductor_force_stride_order, 0 : !fx.tensor<bf16[1, 512, 64], cuda:0>
  // CHECK-NEXT: %y = aten.mul.Tensor %q, %view : !fx.tensor<bf16[256, 512, 64], cuda:0>
  // CHECK-NEXT: fx.output %y
  %sin = aten.sin.default %angle : !fx.tensor<f32[512, 64], cuda:0>
  %narrow = prims.convert_element_type.default %sin, bf16 : !fx.tensor<bf16[512, 64], cuda:0>
  %view = aten.unsqueeze.default %narrow, 0 : !fx.tensor<bf16[1, 512, 64], cuda:0>
  %y = aten.mul.Tensor %q, %view : !fx.tensor<bf16[256, 512, 64], cuda:0>
  fx.output %y
}

// A cheap function; a number for each row; a CPU; few elements.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%q : !fx.tensor<f32[256, 512, 64], cuda:0>, %x : !fx.tensor<f32[512, 64], cuda:0>, %row : !fx.tensor<f32[512, 1], cuda:0>, %c : !fx.tensor<f32[256, 512, 64], cpu>, %d : !fx.tensor<f32[512, 64], cpu>, %few : !fx.tensor<f32[16, 512, 64], cuda:0>) {
  // CHECK-NEXT: %abs = aten.abs.default %x : !fx.tensor<f32[512, 64], cuda:0>
  // CHECK-NEXT: %y0 = aten.mul.Tensor %q, %abs : !fx.tensor<f32[256, 512, 64], cuda:0>
  // CHECK-NEXT: %exp = aten.exp.default %row : !fx.tensor<f32[512, 1], cuda:0>
  // CHECK-NEXT: %y1 = aten.mul.Tensor %q, %exp : !fx.tensor<f32[256, 512, 64], cuda:0>
  // CHECK-NEXT: %on_cpu = aten.exp.default %d : !fx.tensor<f32[512, 64], cpu>
  // CHECK-NEXT: %y2 = aten.mul.Tensor %c, %on_cpu : !fx.tensor<f32[256, 512, 64], cpu>
  // CHECK-NEXT: %cos = aten.cos.default %x : !fx.tensor<f32[512, 64], cuda:0>
  // CHECK-NEXT: %y3 = aten.mul.Tensor %few, %cos : !fx.tensor<f32[16, 512, 64], cuda:0>
  // CHECK-NEXT: fx.output (%y0, %y1, %y2, %y3)
  %abs = aten.abs.default %x : !fx.tensor<f32[512, 64], cuda:0>
  %y0 = aten.mul.Tensor %q, %abs : !fx.tensor<f32[256, 512, 64], cuda:0>
  %exp = aten.exp.default %row : !fx.tensor<f32[512, 1], cuda:0>
  %y1 = aten.mul.Tensor %q, %exp : !fx.tensor<f32[256, 512, 64], cuda:0>
  %on_cpu = aten.exp.default %d : !fx.tensor<f32[512, 64], cpu>
  %y2 = aten.mul.Tensor %c, %on_cpu : !fx.tensor<f32[256, 512, 64], cpu>
  %cos = aten.cos.default %x : !fx.tensor<f32[512, 64], cuda:0>
  %y3 = aten.mul.Tensor %few, %cos : !fx.tensor<f32[16, 512, 64], cuda:0>
  fx.output (%y0, %y1, %y2, %y3)
}
