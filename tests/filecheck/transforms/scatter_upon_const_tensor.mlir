// RUN: xductor-opt %s -p scatter_upon_const_tensor | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%i : !fx.tensor<i64[4, 1], cpu>) {
  // CHECK-NEXT: %iota = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  // CHECK-NEXT: %expand = aten.expand.default %i, [4, 3] : !fx.tensor<i64[4, 3][1, 0], cpu>
  // CHECK-NEXT: %view = aten.view.default %iota, [1, 3] : !fx.tensor<i64[1, 3], cpu>
  // CHECK-NEXT: %eq = aten.eq.Tensor %expand, %view : !fx.tensor<i1[4, 3], cpu>
  // CHECK-NEXT: %scalar_tensor = aten.scalar_tensor.default -1.0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %scalar_tensor_1 = aten.scalar_tensor.default 0.0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %where = aten.where.self %eq, %scalar_tensor, %scalar_tensor_1 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: fx.output (%where,)
  %c = aten.full.default [4, 3], 0.0, dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4, 3], cpu>
  %y = aten.scatter.value %c, 1, %i, -1.0 : !fx.tensor<f32[4, 3], cpu>
  fx.output (%y,)
}

// More than one index along the dim; indices for fewer rows than the constant has.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%i : !fx.tensor<i64[4, 2], cpu>, %j : !fx.tensor<i64[3, 1], cpu>) {
  // CHECK-NEXT: %c = aten.full.default [4, 3], 0.0, dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %y = aten.scatter.value %c, 1, %i, -1.0 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %z = aten.scatter.value %c, 1, %j, -1.0 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: fx.output (%y, %z)
  %c = aten.full.default [4, 3], 0.0, dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4, 3], cpu>
  %y = aten.scatter.value %c, 1, %i, -1.0 : !fx.tensor<f32[4, 3], cpu>
  %z = aten.scatter.value %c, 1, %j, -1.0 : !fx.tensor<f32[4, 3], cpu>
  fx.output (%y, %z)
}
