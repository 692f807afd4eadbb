// RUN: xductor-opt %s -p common_subexpression_elimination | filecheck %s

// A product and what is made of it, with all results of an op that has several.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %x
  %a = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  %b = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %c = aten.relu.default %a
  %c = aten.relu.default %a : !fx.tensor<f32[4, 4], cpu>
  %d = aten.relu.default %b : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %v, %i = aten.max.dim %c, 1
  %v, %i = aten.max.dim %c, 1 : !fx.tensor<f32[4], cpu>, !fx.tensor<i64[4], cpu>
  %w, %j = aten.max.dim %d, 1 : !fx.tensor<f32[4], cpu>, !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %s = aten.add.Tensor %v, %i
  %s = aten.add.Tensor %v, %j : !fx.tensor<f32[4], cpu>
  fx.output (%a, %s)
}

// Two outputs stay two tensors, and yet what is made of them is the same.
// CHECK-LABEL: fx.graph @outputs
fx.graph @outputs stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %a = aten.mm.default %x, %x
  %a = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %b = aten.mm.default %x, %x
  %b = aten.mm.default %x, %x : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %c = aten.sum.default %a
  %c = aten.sum.default %a : !fx.tensor<f32[], cpu>
  %d = aten.sum.default %b : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %e = aten.sub.Tensor %c, %c
  %e = aten.sub.Tensor %c, %d : !fx.tensor<f32[], cpu>
  fx.output (%a, %b, %e)
}

// Draws; undefined memory; 0.0 and -0.0; two outputs; before and after a write.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.bernoulli.p %x, 0.5
  %a = aten.bernoulli.p %x, 0.5 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %b = aten.bernoulli.p %x, 0.5
  %b = aten.bernoulli.p %x, 0.5 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %c = aten.empty_like.default %x
  %c = aten.empty_like.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %d = aten.empty_like.default %x
  %d = aten.empty_like.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %e = aten.add.Tensor %x, 0.0
  %e = aten.add.Tensor %x, 0.0 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %f = aten.add.Tensor %x, -0.0
  %f = aten.add.Tensor %x, -0.0 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %g = aten.exp.default %x
  %g = aten.exp.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %h = aten.exp.default %x
  %h = aten.exp.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %k = aten.neg.default %x
  %k = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: aten.copy_.default
  %w = aten.copy_.default %x, %e : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %l = aten.neg.default %x
  %l = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %m = aten.add.Tensor %k, %l
  %m = aten.add.Tensor %k, %l : !fx.tensor<f32[4], cpu>
  fx.output (%a, %b, %c, %d, %e, %f, %g, %h, %m)
}
