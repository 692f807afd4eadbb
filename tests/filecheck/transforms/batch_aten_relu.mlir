// RUN: xductor-opt %s -p 'batch_aten_relu{min_fuse_set_size=2}' | filecheck %s

// One that is returned gets storage of its own.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 4], cpu>, %y : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %y, 0 : !fx.tensor<f32[1, s0, 4], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %x, 0 : !fx.tensor<f32[1, s0, 4], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%unsqueeze, %unsqueeze_1] : !fx.tensor<f32[2, s0, 4], cpu>
  // CHECK-NEXT: %relu = aten.relu.default %cat : !fx.tensor<f32[2, s0, 4], cpu>
  // CHECK-NEXT: %select = aten.select.int %relu, 0, 0 : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: %select_1 = aten.select.int %relu, 0, 1 : !fx.tensor<f32[s0, 4], cpu, offset 4*s0>
  // CHECK-NEXT: %clone = aten.clone.default %select : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %select_1 : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: fx.output (%s, %clone)
  %a = aten.relu.default %x : !fx.tensor<f32[s0, 4], cpu>
  %s = aten.sin.default %a : !fx.tensor<f32[s0, 4], cpu>
  %b = aten.relu.default %y : !fx.tensor<f32[s0, 4], cpu>
  fx.output (%s, %b)
}

// Another dtype or size; one that depends on the other; one that is laid out otherwise.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f64[3, 4], cpu>, %z : !fx.tensor<f32[4, 3], cpu>, %w : !fx.tensor<f32[3, 4][1, 3], cpu>) {
  // CHECK-NEXT: %a = aten.relu.default %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = aten.relu.default %y : !fx.tensor<f64[3, 4], cpu>
  // CHECK-NEXT: %c = aten.relu.default %z : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %d = aten.relu.default %a : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %e = aten.relu.default %w : !fx.tensor<f32[3, 4][1, 3], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d, %e)
  %a = aten.relu.default %x : !fx.tensor<f32[3, 4], cpu>
  %b = aten.relu.default %y : !fx.tensor<f64[3, 4], cpu>
  %c = aten.relu.default %z : !fx.tensor<f32[4, 3], cpu>
  %d = aten.relu.default %a : !fx.tensor<f32[3, 4], cpu>
  %e = aten.relu.default %w : !fx.tensor<f32[3, 4][1, 3], cpu>
  fx.output (%a, %b, %c, %d, %e)
}
