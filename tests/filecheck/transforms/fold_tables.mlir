// RUN: xductor-opt %s -p fold_tables | filecheck %s

// The logarithms are held; the view of them stays.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[8, 2048], cpu>) {
  // CHECK-NEXT: %log = fx.get_attr "_frozen_param0" : !fx.tensor<f32[2048], cpu>
  // CHECK-NEXT: %many = aten.expand.default %log, [8, 2048]
  %places = prims.iota.default 2048, start = 1, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[2048], cpu>
  %log = aten.log.default %places : !fx.tensor<f32[2048], cpu>
  %many = aten.expand.default %log, [8, 2048] : !fx.tensor<f32[8, 2048][0, 1], cpu>
  // CHECK-NEXT: %y = aten.add.Tensor %x, %many
  %y = aten.add.Tensor %x, %many : !fx.tensor<f32[8, 2048], cpu>
  fx.output %y
}

// A few elements; a range, which code makes as fast as it reads it; an output.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[16], cpu>, %y : !fx.tensor<f32[2048], cpu>) {
  // CHECK-NEXT: %few = prims.iota.default 16
  %few = prims.iota.default 16, start = 1, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[16], cpu>
  // CHECK-NEXT: %log = aten.log.default %few
  %log = aten.log.default %few : !fx.tensor<f32[16], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %x, %log
  %a = aten.add.Tensor %x, %log : !fx.tensor<f32[16], cpu>
  // CHECK-NEXT: %many = prims.iota.default 2048
  %many = prims.iota.default 2048, start = 1, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[2048], cpu>
  // CHECK-NEXT: %b = aten.add.Tensor %y, %many
  %b = aten.add.Tensor %y, %many : !fx.tensor<f32[2048], cpu>
  // CHECK-NEXT: %c = aten.exp.default %many
  %c = aten.exp.default %many : !fx.tensor<f32[2048], cpu>
  // CHECK-NEXT: %d = aten.add.Tensor %y, %c
  %d = aten.add.Tensor %y, %c : !fx.tensor<f32[2048], cpu>
  fx.output (%a, %b, %c, %d)
}
