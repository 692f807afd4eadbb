// RUN: xductor-opt %s -p 'batch_linear_post_grad{min_fuse_set_size=2}' | filecheck %s

// What is added to a product of 16 bits goes into it.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %v : !fx.tensor<f32[4, 5], cpu>, %w : !fx.tensor<f32[4, 5], cpu>, %b : !fx.tensor<f32[5], cpu>, %p : !fx.tensor<bf16[3, 4], cpu>, %q : !fx.tensor<bf16[4, 5], cpu>, %c : !fx.tensor<bf16[5], cpu>) {
  // CHECK-NEXT: %unsqueeze = aten.unsqueeze.default %x, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_1 = aten.unsqueeze.default %y, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%unsqueeze, %unsqueeze_1] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_2 = aten.unsqueeze.default %v, 0 : !fx.tensor<f32[1, 4, 5], cpu>
  // CHECK-NEXT: %unsqueeze_3 = aten.unsqueeze.default %w, 0 : !fx.tensor<f32[1, 4, 5], cpu>
  // CHECK-NEXT: %cat_1 = aten.cat.default [%unsqueeze_2, %unsqueeze_3] : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %bmm = aten.bmm.default %cat, %cat_1 : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: %select = aten.select.int %bmm, 0, 0 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %select_1 = aten.select.int %bmm, 0, 1 : !fx.tensor<f32[3, 5], cpu, offset 15>
  // CHECK-NEXT: %unsqueeze_4 = aten.unsqueeze.default %x, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_5 = aten.unsqueeze.default %y, 0 : !fx.tensor<f32[1, 3, 4], cpu>
  // CHECK-NEXT: %cat_2 = aten.cat.default [%unsqueeze_4, %unsqueeze_5] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_6 = aten.unsqueeze.default %w, 0 : !fx.tensor<f32[1, 4, 5], cpu>
  // CHECK-NEXT: %unsqueeze_7 = aten.unsqueeze.default %v, 0 : !fx.tensor<f32[1, 4, 5], cpu>
  // CHECK-NEXT: %cat_3 = aten.cat.default [%unsqueeze_6, %unsqueeze_7] : !fx.tensor<f32[2, 4, 5], cpu>
  // CHECK-NEXT: %bmm_1 = aten.bmm.default %cat_2, %cat_3 : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: %select_2 = aten.select.int %bmm_1, 0, 0 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %select_3 = aten.select.int %bmm_1, 0, 1 : !fx.tensor<f32[3, 5], cpu, offset 15>
  // CHECK-NEXT: %add = aten.add.Tensor %b, %select_2 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %add_1 = aten.add.Tensor %b, %select_3 : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %unsqueeze_8 = aten.unsqueeze.default %p, 0 : !fx.tensor<bf16[1, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_9 = aten.unsqueeze.default %p, 0 : !fx.tensor<bf16[1, 3, 4], cpu>
  // CHECK-NEXT: %cat_4 = aten.cat.default [%unsqueeze_8, %unsqueeze_9] : !fx.tensor<bf16[2, 3, 4], cpu>
  // CHECK-NEXT: %unsqueeze_10 = aten.unsqueeze.default %q, 0 : !fx.tensor<bf16[1, 4, 5], cpu>
  // CHECK-NEXT: %unsqueeze_11 = aten.unsqueeze.default %q, 0 : !fx.tensor<bf16[1, 4, 5], cpu>
  // CHECK-NEXT: %cat_5 = aten.cat.default [%unsqueeze_10, %unsqueeze_11] : !fx.tensor<bf16[2, 4, 5], cpu>
  // CHECK-NEXT: %unsqueeze_12 = aten.unsqueeze.default %c, 0 : !fx.tensor<bf16[1, 5], cpu>
  // CHECK-NEXT: %unsqueeze_13 = aten.unsqueeze.default %c, 0 : !fx.tensor<bf16[1, 5], cpu>
  // CHECK-NEXT: %unsqueeze_14 = aten.unsqueeze.default %unsqueeze_12, 0 : !fx.tensor<bf16[1, 1, 5], cpu>
  // CHECK-NEXT: %unsqueeze_15 = aten.unsqueeze.default %unsqueeze_13, 0 : !fx.tensor<bf16[1, 1, 5], cpu>
  // CHECK-NEXT: %cat_6 = aten.cat.default [%unsqueeze_14, %unsqueeze_15] : !fx.tensor<bf16[2, 1, 5], cpu>
  // CHECK-NEXT: %baddbmm = aten.baddbmm.default %cat_6, %cat_4, %cat_5 : !fx.tensor<bf16[2, 3, 5], cpu>
  // CHECK-NEXT: %select_4 = aten.select.int %baddbmm, 0, 0 : !fx.tensor<bf16[3, 5], cpu>
  // CHECK-NEXT: %select_5 = aten.select.int %baddbmm, 0, 1 : !fx.tensor<bf16[3, 5], cpu, offset 15>
  // CHECK-NEXT: %i = aten.cat.default [%select, %select_1, %add, %add_1] : !fx.tensor<f32[12, 5], cpu>
  // CHECK-NEXT: %j = aten.cat.default [%select_4, %select_5] : !fx.tensor<bf16[6, 5], cpu>
  // CHECK-NEXT: fx.output (%i, %j)
  %a = aten.mm.default %x, %v : !fx.tensor<f32[3, 5], cpu>
  %d = aten.mm.default %y, %w : !fx.tensor<f32[3, 5], cpu>
  %e = aten.addmm.default %b, %x, %w : !fx.tensor<f32[3, 5], cpu>
  %f = aten.addmm.default %b, %y, %v : !fx.tensor<f32[3, 5], cpu>
  %g = aten.addmm.default %c, %p, %q : !fx.tensor<bf16[3, 5], cpu>
  %h = aten.addmm.default %c, %p, %q : !fx.tensor<bf16[3, 5], cpu>
  %i = aten.cat.default [%a, %d, %e, %f] : !fx.tensor<f32[12, 5], cpu>
  %j = aten.cat.default [%g, %h] : !fx.tensor<bf16[6, 5], cpu>
  fx.output (%i, %j)
}

// Other sizes or dtypes; factors; one that depends on the other.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %z : !fx.tensor<f64[4, 4], cpu>, %b : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %c = aten.mm.default %y, %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %d = aten.mm.default %z, %z : !fx.tensor<f64[4, 4], cpu>
  // CHECK-NEXT: %e = aten.mm.default %a, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %f = aten.addmm.default %b, %x, %x, alpha = 2 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %g = aten.addmm.default %b, %x, %x, alpha = 2 : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%a, %c, %d, %e, %f, %g)
  %a = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %c = aten.mm.default %y, %x : !fx.tensor<f32[3, 4], cpu>
  %d = aten.mm.default %z, %z : !fx.tensor<f64[4, 4], cpu>
  %e = aten.mm.default %a, %x : !fx.tensor<f32[4, 4], cpu>
  %f = aten.addmm.default %b, %x, %x, alpha = 2 : !fx.tensor<f32[4, 4], cpu>
  %g = aten.addmm.default %b, %x, %x, alpha = 2 : !fx.tensor<f32[4, 4], cpu>
  fx.output (%a, %c, %d, %e, %f, %g)
}
