// RUN: xductor-opt %s -p move_constructors_to_gpu | filecheck %s

// What is computed of a range, and indexes a tensor there, is computed there.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[8, 4], cuda:0>) {
  // CHECK-NEXT: %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cuda:0>, requires_grad = false : !fx.tensor<i64[4], cuda:0>
  // CHECK-NEXT: %o = aten.full.default [4], 2, dtype = i64, device = device<cuda:0> : !fx.tensor<i64[4], cuda:0>
  // CHECK-NEXT: %j = aten.add.Tensor %i, %o : !fx.tensor<i64[4], cuda:0>
  // CHECK-NEXT: %y = aten.index.Tensor %x, [%j] : !fx.tensor<f32[4, 4], cuda:0>
  // CHECK-NEXT: fx.output (%y,)
  %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %o = aten.full.default [4], 2, dtype = i64, device = device<cpu> : !fx.tensor<i64[4], cpu>
  %j = aten.add.Tensor %i, %o : !fx.tensor<i64[4], cpu>
  %y = aten.index.Tensor %x, [%j] : !fx.tensor<f32[4, 4], cuda:0>
  fx.output (%y,)
}

// Each set moves to where it is read.
// CHECK-LABEL: fx.graph @two_devices
fx.graph @two_devices stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %y : !fx.tensor<f32[8], cuda:1>) {
  // CHECK-NEXT: %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cuda:0>, requires_grad = false : !fx.tensor<i64[4], cuda:0>
  // CHECK-NEXT: %j = prims.iota.default 4, start = 1, step = 1, dtype = i64, device = device<cuda:1>, requires_grad = false : !fx.tensor<i64[4], cuda:1>
  // CHECK-NEXT: %a = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4], cuda:0>
  // CHECK-NEXT: %b = aten.index.Tensor %y, [%j] : !fx.tensor<f32[4], cuda:1>
  // CHECK-NEXT: fx.output (%a, %b)
  %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %j = prims.iota.default 4, start = 1, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %a = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4], cuda:0>
  %b = aten.index.Tensor %y, [%j] : !fx.tensor<f32[4], cuda:1>
  fx.output (%a, %b)
}

// One that two devices read stays between them.
// CHECK-LABEL: fx.graph @read_on_two_devices
fx.graph @read_on_two_devices stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %y : !fx.tensor<f32[8], cuda:1>) {
  // CHECK-NEXT: %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %a = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4], cuda:0>
  // CHECK-NEXT: %b = aten.index.Tensor %y, [%i] : !fx.tensor<f32[4], cuda:1>
  // CHECK-NEXT: fx.output (%a, %b)
  %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %a = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4], cuda:0>
  %b = aten.index.Tensor %y, [%i] : !fx.tensor<f32[4], cuda:1>
  fx.output (%a, %b)
}

// A returned tensor is the caller's, on CPU; and what it is computed with stays there too.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>) {
  // CHECK-NEXT: %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %o = aten.full.default [4], 2, dtype = i64, device = device<cpu> : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %j = aten.mul.Tensor %i, %o : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %a = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4], cuda:0>
  // CHECK-NEXT: fx.output (%a, %j)
  %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %o = aten.full.default [4], 2, dtype = i64, device = device<cpu> : !fx.tensor<i64[4], cpu>
  %j = aten.mul.Tensor %i, %o : !fx.tensor<i64[4], cpu>
  %a = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4], cuda:0>
  fx.output (%a, %j)
}

// A scalar that fills at a mask is filled in at once while it is on CPU.
// CHECK-LABEL: fx.graph @filled_at_a_mask
fx.graph @filled_at_a_mask stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %m : !fx.tensor<i1[8], cuda:0>) {
  // CHECK-NEXT: %v = aten.full.default [], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %a = aten.index_put.default %x, [%m], %v : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: fx.output (%a,)
  %v = aten.full.default [], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  %a = aten.index_put.default %x, [%m], %v : !fx.tensor<f32[8], cuda:0>
  fx.output (%a,)
}

// At places it is read there.
// CHECK-LABEL: fx.graph @put_at_places
fx.graph @put_at_places stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %i : !fx.tensor<i64[2], cuda:0>) {
  // CHECK-NEXT: %v = aten.full.default [], 2.0, dtype = f32, device = device<cuda:0> : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: %a = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: fx.output (%a,)
  %v = aten.full.default [], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  %a = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[8], cuda:0>
  fx.output (%a,)
}

// Code generation takes a scalar on CPU as an argument of a kernel.
// CHECK-LABEL: fx.graph @scalar
fx.graph @scalar stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>) {
  // CHECK-NEXT: %v = aten.full.default [], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %a = aten.mul.Tensor %x, %v : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: fx.output (%a,)
  %v = aten.full.default [], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  %a = aten.mul.Tensor %x, %v : !fx.tensor<f32[8], cuda:0>
  fx.output (%a,)
}

// A draw gives other numbers elsewhere, and a sine other bits.
// CHECK-LABEL: fx.graph @other_values
fx.graph @other_values stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>) {
  // CHECK-NEXT: %p = aten.randperm.default 8, dtype = i64, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %v = aten.full.default [8], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: %s = aten.sin.default %v : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: %a = aten.index.Tensor %x, [%p] : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: %b = aten.copy.default %x, %s : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: fx.output (%a, %b)
  %p = aten.randperm.default 8, dtype = i64, device = device<cpu>, pin_memory = false : !fx.tensor<i64[8], cpu>
  %v = aten.full.default [8], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[8], cpu>
  %s = aten.sin.default %v : !fx.tensor<f32[8], cpu>
  %a = aten.index.Tensor %x, [%p] : !fx.tensor<f32[8], cuda:0>
  %b = aten.copy.default %x, %s : !fx.tensor<f32[8], cuda:0>
  fx.output (%a, %b)
}

// What names the CPU, or is read beside another tensor on CPU, has to stay.
// CHECK-LABEL: fx.graph @names_the_cpu
fx.graph @names_the_cpu stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %c : !fx.tensor<i64[8], cpu>) {
  // CHECK-NEXT: %v = aten.full.default [8], 2, dtype = i64, device = device<cpu> : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %w = aten.full.default [8], 3, dtype = i64, device = device<cpu> : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %l = aten.full_like.default %v, 1, dtype = i64, device = device<cpu> : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %s = aten.add.Tensor %w, %c : !fx.tensor<i64[8], cpu>
  // CHECK-NEXT: %a = aten.index.Tensor %x, [%l] : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: %b = aten.index.Tensor %x, [%s] : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: fx.output (%a, %b)
  %v = aten.full.default [8], 2, dtype = i64, device = device<cpu> : !fx.tensor<i64[8], cpu>
  %w = aten.full.default [8], 3, dtype = i64, device = device<cpu> : !fx.tensor<i64[8], cpu>
  %l = aten.full_like.default %v, 1, dtype = i64, device = device<cpu> : !fx.tensor<i64[8], cpu>
  %s = aten.add.Tensor %w, %c : !fx.tensor<i64[8], cpu>
  %a = aten.index.Tensor %x, [%l] : !fx.tensor<f32[8], cuda:0>
  %b = aten.index.Tensor %x, [%s] : !fx.tensor<f32[8], cuda:0>
  fx.output (%a, %b)
}
