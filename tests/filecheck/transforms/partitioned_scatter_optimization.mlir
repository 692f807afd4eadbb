// RUN: xductor-opt %s -p 'partitioned_scatter_optimization{min_index_size=8 max_partitions=4}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>, %i : !fx.tensor<i64[8], cpu>, %v : !fx.tensor<f32[2, 8], cpu>) {
  // CHECK-NEXT: %full = aten.full.default [2, 4, 3], 0, dtype = f32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<f32[2, 4, 3], cpu>
  // CHECK-NEXT: %iota = prims.iota.default 8, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %bitwise_and = aten.bitwise_and.Scalar %iota, 3 : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %view = aten.view.default %bitwise_and, [8] : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %index_put = aten.index_put.default %full, [none, %view, %i], %v, true : !fx.tensor<f32[2, 4, 3], cpu>
  // CHECK-NEXT: %sum = aten.sum.dim_IntList %index_put, [1] : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %x, %sum : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: fx.output (%add,)
  %y = aten.index_put.default %x, [none, %i], %v, true : !fx.tensor<f32[2, 3], cpu>
  fx.output (%y)
}

// Without adding up; a mask; two dims; few places.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 3], cpu>, %i : !fx.tensor<i64[8], cpu>, %v : !fx.tensor<f32[8, 3], cpu>, %m : !fx.tensor<i1[3], cpu>, %s : !fx.tensor<f32[], cpu>, %j : !fx.tensor<i64[4], cpu>) {
  // CHECK-NEXT: %a = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %b = aten.index_put.default %x, [%m], %s, true : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %c = aten.index_put.default %x, [%i, %i], %s, true : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: %d = aten.index_put.default %x, [%j], %s, true : !fx.tensor<f32[3, 3], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d)
  %a = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[3, 3], cpu>
  %b = aten.index_put.default %x, [%m], %s, true : !fx.tensor<f32[3, 3], cpu>
  %c = aten.index_put.default %x, [%i, %i], %s, true : !fx.tensor<f32[3, 3], cpu>
  %d = aten.index_put.default %x, [%j], %s, true : !fx.tensor<f32[3, 3], cpu>
  fx.output (%a, %b, %c, %d)
}
