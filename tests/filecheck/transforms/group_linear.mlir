// RUN: xductor-opt %s -p 'group_linear{min_fuse_set_size=2}' | filecheck %s

// Where fbgemm is not installed nothing is done.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>, %y : !fx.tensor<f32[4, 6], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %y : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: %b = aten.mm.default %x, %y : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %a = aten.mm.default %x, %y : !fx.tensor<f32[2, 6], cpu>
  %b = aten.mm.default %x, %y : !fx.tensor<f32[2, 6], cpu>
  fx.output (%a, %b)
}
