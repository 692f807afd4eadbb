// RUN: xductor-opt %s -p reorder_for_locality | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %b = aten.neg.default %x
  // CHECK-NEXT: %c = aten.abs.default %b
  // CHECK-NEXT: %a = aten.exp.default %x
  // CHECK-NEXT: %d = aten.mul.Tensor %c, %a
  %a = aten.exp.default %x : !fx.tensor<f32[4], cpu>
  %b = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  %c = aten.abs.default %b : !fx.tensor<f32[4], cpu>
  %d = aten.mul.Tensor %c, %a : !fx.tensor<f32[4], cpu>
  fx.output (%d,)
}

// A draw stays among the draws, a read on its side of a write.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %r = aten.rand.default
  %r = aten.rand.default [4] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %s = aten.rand.default
  %s = aten.rand.default [4] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %e = aten.exp.default %x
  %e = aten.exp.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %w = aten.add_.Tensor %x, %s
  %w = aten.add_.Tensor %x, %s : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %t = aten.add.Tensor %w, %r
  %t = aten.add.Tensor %w, %r : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %u = aten.mul.Tensor %t, %e
  %u = aten.mul.Tensor %t, %e : !fx.tensor<f32[4], cpu>
  fx.output (%u,)
}
