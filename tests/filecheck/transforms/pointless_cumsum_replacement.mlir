// RUN: xductor-opt %s -p pointless_cumsum_replacement | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) () {
  // CHECK-NEXT: %f = aten.full.default [sym<s0>, 3], 2, dtype = i32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<i32[s0, 3], cpu>
  // CHECK-NEXT: %convert_element_type = prims.convert_element_type.default %f, i64 : !fx.tensor<i64[s0, 3], cpu>
  // CHECK-NEXT: %sym_size = aten.sym_size.int %f, 0 : !fx.symint<s0>
  // CHECK-NEXT: %iota = prims.iota.default %sym_size, start = 1, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[s0], cpu>
  // CHECK-NEXT: %view = aten.view.default %iota, [%sym_size, 1] : !fx.tensor<i64[s0, 1], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %convert_element_type, %view : !fx.tensor<i64[s0, 3], cpu>
  // CHECK-NEXT: fx.output (%mul,)
  %f = aten.full.default [sym<s0>, 3], 2, dtype = i32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<i32[s0, 3], cpu>
  %y = aten.cumsum.default %f, 0 : !fx.tensor<i64[s0, 3], cpu>
  fx.output (%y,)
}

// What is not one value; a negative zero, whose sums begin at 0.0.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %y = aten.cumsum.default %x, 0 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %f = aten.full.default [4], -0.0, dtype = f32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %z = aten.cumsum.default %f, 0 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %y = aten.cumsum.default %x, 0 : !fx.tensor<f32[4], cpu>
  %f = aten.full.default [4], -0.0, dtype = f32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4], cpu>
  %z = aten.cumsum.default %f, 0 : !fx.tensor<f32[4], cpu>
  fx.output (%y, %z)
}
