// RUN: xductor-opt %s -p fix_iota_device | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[8, 4], cuda:0>) {
  // CHECK-NEXT: %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cuda:0>, requires_grad = false : !fx.tensor<i64[4], cuda:0>
  %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %y = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4, 4], cuda:0>
  fx.output (%y,)
}

// As a value that is put, a range may stay on CPU; as an output it must.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<i64[8], cuda:0>, %j : !fx.tensor<i64[1], cuda:0>) {
  // CHECK-NEXT: %i = prims.iota.default 1, start = 3, step = 1, dtype = i64, device = device<cpu>
  %i = prims.iota.default 1, start = 3, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[1], cpu>
  %y = aten.index_put.default %x, [%j], %i : !fx.tensor<i64[8], cuda:0>
  // CHECK: %k = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>
  %k = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %z = aten.index.Tensor %x, [%k] : !fx.tensor<i64[4], cuda:0>
  fx.output (%y, %z, %k)
}
