// RUN: xductor-opt %s -p 'batch_aten_mul{min_fuse_set_size=2}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %x, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %y, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%unsqueeze, %unsqueeze_1] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %y, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %y, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %cat_1 = aten.cat.default [%unsqueeze_2, %unsqueeze_3] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %cat, %cat_1 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %select = aten.select.int %mul, 0, 0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %select_1 = aten.select.int %mul, 0, 1 : !fx.tensor<f32[3, 4], cpu, offset 12>
  // CHECK-NEXT: %s = aten.maximum.default %select, %select_1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = aten.mul.Tensor %x, %y : !fx.tensor<f32[3, 4], cpu>
  %b = aten.mul.Tensor %y, %y : !fx.tensor<f32[3, 4], cpu>
  %s = aten.maximum.default %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s)
}

// Another factor or dtype; sizes that are broadcast; a number.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f64[3, 4], cpu>, %z : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.mul.Tensor %x, %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = aten.neg.default %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = aten.mul.Tensor %x, %y : !fx.tensor<f64[3, 4], cpu>
  // CHECK-NEXT: %d = aten.mul.Tensor %x, %z : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %e = aten.mul.Tensor %a, 2 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d, %e)
  %a = aten.mul.Tensor %x, %x : !fx.tensor<f32[3, 4], cpu>
  %b = aten.neg.default %x : !fx.tensor<f32[3, 4], cpu>
  %c = aten.mul.Tensor %x, %y : !fx.tensor<f64[3, 4], cpu>
  %d = aten.mul.Tensor %x, %z : !fx.tensor<f32[3, 4], cpu>
  %e = aten.mul.Tensor %a, 2 : !fx.tensor<f32[3, 4], cpu>
  fx.output (%a, %b, %c, %d, %e)
}
