// RUN: xductor-opt %s -p 'move_constructors_to_gpu{scalars_too=true}' | filecheck %s

// One copy for each dtype: joined in one they would be numbers of another dtype.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %a : !fx.tensor<f32[], cpu>, %n : !fx.tensor<i64[], cpu>, %b : !fx.tensor<f32[], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %a, 0 : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %b, 0 : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%unsqueeze, %unsqueeze_1] : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %device_put = prims.device_put.default %cat, device<cuda:0>, true : !fx.tensor<f32[2], cuda:0>
  // CHECK-NEXT: %select = aten.select.int %device_put, 0, 0 : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: %select_1 = aten.select.int %device_put, 0, 1 : !fx.tensor<f32[], cuda:0, offset 1>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %n, 0 : !fx.tensor<i64[1], cpu>
  // CHECK-NEXT: %cat_1 = aten.cat.default [%unsqueeze_2] : !fx.tensor<i64[1], cpu>
  // CHECK-NEXT: %device_put_1 = prims.device_put.default %cat_1, device<cuda:0>, true : !fx.tensor<i64[1], cuda:0>
  // CHECK-NEXT: %select_2 = aten.select.int %device_put_1, 0, 0 : !fx.tensor<i64[], cuda:0>
  // CHECK-NEXT: %m = aten.mul.Tensor %x, %select : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: %s = aten.add.Tensor %m, %select_2 : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: %c = aten.mul.Tensor %select, %select_1 : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: %r = aten.add.Tensor %s, %c : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: fx.output (%r,)
  %m = aten.mul.Tensor %x, %a : !fx.tensor<f32[8], cuda:0>
  %s = aten.add.Tensor %m, %n : !fx.tensor<f32[8], cuda:0>
  %c = aten.mul.Tensor %a, %b : !fx.tensor<f32[], cpu>
  %r = aten.add.Tensor %s, %c : !fx.tensor<f32[8], cuda:0>
  fx.output (%r,)
}

// The caller gets his scalar back, and its copy on the device is the one that was made.
// CHECK-LABEL: fx.graph @returned_and_written
fx.graph @returned_and_written stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %a : !fx.tensor<f32[], cpu>, %b : !fx.tensor<f32[], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %a, 0 : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%unsqueeze] : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %device_put = prims.device_put.default %cat, device<cuda:0>, true : !fx.tensor<f32[1], cuda:0>
  // CHECK-NEXT: %select = aten.select.int %device_put, 0, 0 : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: %m = aten.mul.Tensor %x, %select : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: %w = aten.copy_.default %a, %b : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: fx.output (%m, %a)
  %p = prims.device_put.default %a, device<cuda:0> : !fx.tensor<f32[], cuda:0>
  %m = aten.mul.Tensor %x, %p : !fx.tensor<f32[8], cuda:0>
  %w = aten.copy_.default %a, %b : !fx.tensor<f32[], cpu>
  fx.output (%m, %a)
}

// A copy that is returned is a tensor of its own.
// CHECK-LABEL: fx.graph @copy_is_returned
fx.graph @copy_is_returned stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %a : !fx.tensor<f32[], cpu>, %b : !fx.tensor<f32[], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %a, 0 : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %b, 0 : !fx.tensor<f32[1], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%unsqueeze, %unsqueeze_1] : !fx.tensor<f32[2], cpu>
  // CHECK-NEXT: %device_put = prims.device_put.default %cat, device<cuda:0>, true : !fx.tensor<f32[2], cuda:0>
  // CHECK-NEXT: %select = aten.select.int %device_put, 0, 0 : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: %select_1 = aten.select.int %device_put, 0, 1 : !fx.tensor<f32[], cuda:0, offset 1>
  // CHECK-NEXT: %p = prims.device_put.default %select, device<cuda:0> : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: %q = prims.device_put.default %select_1, device<cuda:0> : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: fx.output (%p, %q)
  %p = prims.device_put.default %a, device<cuda:0> : !fx.tensor<f32[], cuda:0>
  %q = prims.device_put.default %b, device<cuda:0> : !fx.tensor<f32[], cuda:0>
  fx.output (%p, %q)
}

// What is made and returned stays on CPU, and the device reads a copy; a scalar that is written and then read is not the old one.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cuda:0>, %a : !fx.tensor<f32[], cpu>) {
  // CHECK-NEXT: %z = aten.full.default [], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %w = aten.copy_.default %a, %z : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %m = aten.mul.Tensor %x, %a : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: %v = aten.full.default [], 3.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %device_put = prims.device_put.default %v, device<cuda:0>, true : !fx.tensor<f32[], cuda:0>
  // CHECK-NEXT: %n = aten.mul.Tensor %x, %device_put : !fx.tensor<f32[8], cuda:0>
  // CHECK-NEXT: fx.output (%m, %n, %v)
  %z = aten.full.default [], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  %w = aten.copy_.default %a, %z : !fx.tensor<f32[], cpu>
  %m = aten.mul.Tensor %x, %a : !fx.tensor<f32[8], cuda:0>
  %v = aten.full.default [], 3.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[], cpu>
  %n = aten.mul.Tensor %x, %v : !fx.tensor<f32[8], cuda:0>
  fx.output (%m, %n, %v)
}
