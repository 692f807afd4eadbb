// RUN: xductor-opt %s -p 'product_of_diagonal{policy=fast}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) (%v_1 : !fx.tensor<f32[3], cpu>, %a_1 : !fx.tensor<f32[2, 3], cpu>, %b_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %v_1, 1 : !fx.tensor<f32[3, 1], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %unsqueeze, %b_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %a_1, %v_1 : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: fx.output (%mul, %mul_1)
  %unsqueeze = aten.unsqueeze.default %v_1, 0 : !fx.tensor<f32[1, 3], cpu>
  %permute = aten.permute.default %unsqueeze, [0, 1] : !fx.tensor<f32[1, 3], cpu>
  %iota = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  %iota_1 = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  %unsqueeze_1 = aten.unsqueeze.default %iota_1, -1 : !fx.tensor<i64[3, 1], cpu>
  %eq = aten.eq.Tensor %iota, %unsqueeze_1 : !fx.tensor<i1[3, 3], cpu>
  %view = aten.view.default %eq, [3, 3] : !fx.tensor<i1[3, 3], cpu>
  %scalar_tensor = aten.scalar_tensor.default 0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  %where = aten.where.self %view, %permute, %scalar_tensor : !fx.tensor<f32[3, 3], cpu>
  %mm = aten.mm.default %where, %b_1 : !fx.tensor<f32[3, 4], cpu>
  %unsqueeze_2 = aten.unsqueeze.default %v_1, 0 : !fx.tensor<f32[1, 3], cpu>
  %permute_1 = aten.permute.default %unsqueeze_2, [0, 1] : !fx.tensor<f32[1, 3], cpu>
  %iota_2 = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  %iota_3 = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  %unsqueeze_3 = aten.unsqueeze.default %iota_3, -1 : !fx.tensor<i64[3, 1], cpu>
  %eq_1 = aten.eq.Tensor %iota_2, %unsqueeze_3 : !fx.tensor<i1[3, 3], cpu>
  %view_1 = aten.view.default %eq_1, [3, 3] : !fx.tensor<i1[3, 3], cpu>
  %scalar_tensor_1 = aten.scalar_tensor.default 0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  %where_1 = aten.where.self %view_1, %permute_1, %scalar_tensor_1 : !fx.tensor<f32[3, 3], cpu>
  %mm_1 = aten.mm.default %a_1, %where_1 : !fx.tensor<f32[2, 3], cpu>
  fx.output (%mm, %mm_1)
}

// A matrix that is read elsewhere; another diagonal.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) (%v_1 : !fx.tensor<f32[3], cpu>, %b_1 : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %v_1, 0 : !fx.tensor<f32[1, 3], cpu>
  // CHECK-NEXT: %permute = aten.permute.default %unsqueeze, [0, 1] : !fx.tensor<f32[1, 3], cpu>
  // CHECK-NEXT: %iota = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  // CHECK-NEXT: %iota_1 = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %iota_1, -1 : !fx.tensor<i64[3, 1], cpu>
  // CHECK-NEXT: %eq = aten.eq.Tensor %iota, %unsqueeze_1 : !fx.tensor<i1[3, 3], cpu>
  // CHECK-NEXT: %view = aten.view.default %eq, [3, 3] : !fx.tensor<i1[3, 3], cpu>
  // CHECK-NEXT: %scalar_tensor = aten.scalar_tensor.default 0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %where = aten.where.self %view, %permute, %scalar_tensor : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %where, %b_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %full = aten.full.default [1], 0, dtype = f32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%full, %v_1], -1 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %cat, 0 : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %permute_1 = aten.permute.default %unsqueeze_2, [0, 1] : !fx.tensor<f32[1, 4], cpu>
  // CHECK-NEXT: %iota_2 = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %iota_3 = prims.iota.default 4, start = 1, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %iota_3, -1 : !fx.tensor<i64[4, 1], cpu>
  // CHECK-NEXT: %eq_1 = aten.eq.Tensor %iota_2, %unsqueeze_3 : !fx.tensor<i1[4, 4], cpu>
  // CHECK-NEXT: %view_1 = aten.view.default %eq_1, [4, 4] : !fx.tensor<i1[4, 4], cpu>
  // CHECK-NEXT: %scalar_tensor_1 = aten.scalar_tensor.default 0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %where_1 = aten.where.self %view_1, %permute_1, %scalar_tensor_1 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %permute_2 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[4, 3][1, 4], cpu>
  // CHECK-NEXT: %mm_1 = aten.mm.default %where_1, %permute_2 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: fx.output (%where, %mm, %mm_1)
  %unsqueeze = aten.unsqueeze.default %v_1, 0 : !fx.tensor<f32[1, 3], cpu>
  %permute = aten.permute.default %unsqueeze, [0, 1] : !fx.tensor<f32[1, 3], cpu>
  %iota = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  %iota_1 = prims.iota.default 3, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[3], cpu>
  %unsqueeze_1 = aten.unsqueeze.default %iota_1, -1 : !fx.tensor<i64[3, 1], cpu>
  %eq = aten.eq.Tensor %iota, %unsqueeze_1 : !fx.tensor<i1[3, 3], cpu>
  %view = aten.view.default %eq, [3, 3] : !fx.tensor<i1[3, 3], cpu>
  %scalar_tensor = aten.scalar_tensor.default 0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  %where = aten.where.self %view, %permute, %scalar_tensor : !fx.tensor<f32[3, 3], cpu>
  %mm = aten.mm.default %where, %b_1 : !fx.tensor<f32[3, 4], cpu>
  %full = aten.full.default [1], 0, dtype = f32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<f32[1], cpu>
  %cat = aten.cat.default [%full, %v_1], -1 : !fx.tensor<f32[4], cpu>
  %unsqueeze_2 = aten.unsqueeze.default %cat, 0 : !fx.tensor<f32[1, 4], cpu>
  %permute_1 = aten.permute.default %unsqueeze_2, [0, 1] : !fx.tensor<f32[1, 4], cpu>
  %iota_2 = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %iota_3 = prims.iota.default 4, start = 1, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %unsqueeze_3 = aten.unsqueeze.default %iota_3, -1 : !fx.tensor<i64[4, 1], cpu>
  %eq_1 = aten.eq.Tensor %iota_2, %unsqueeze_3 : !fx.tensor<i1[4, 4], cpu>
  %view_1 = aten.view.default %eq_1, [4, 4] : !fx.tensor<i1[4, 4], cpu>
  %scalar_tensor_1 = aten.scalar_tensor.default 0, dtype = f32, layout = layout<strided>, device = device<cpu> : !fx.tensor<f32[], cpu>
  %where_1 = aten.where.self %view_1, %permute_1, %scalar_tensor_1 : !fx.tensor<f32[4, 4], cpu>
  %permute_2 = aten.permute.default %b_1, [1, 0] : !fx.tensor<f32[4, 3][1, 4], cpu>
  %mm_1 = aten.mm.default %where_1, %permute_2 : !fx.tensor<f32[4, 3], cpu>
  fx.output (%where, %mm, %mm_1)
}
