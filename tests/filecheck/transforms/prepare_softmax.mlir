// RUN: xductor-opt %s -p prepare_softmax | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[s0, 128], cuda:0>) {
  // CHECK-NEXT: %prepare_softmax_online#0, %prepare_softmax_online#1 = prims.prepare_softmax_online.default %a, -1 : !fx.tensor<f32[s0, 1], cuda:0>, !fx.tensor<f32[s0, 1], cuda:0>
  // CHECK-NEXT: %less = aten.sub.Tensor %a, %prepare_softmax_online#0 : !fx.tensor<f32[s0, 128], cuda:0>
  // CHECK-NEXT: %powers = aten.exp.default %less : !fx.tensor<f32[s0, 128], cuda:0>
  // CHECK-NEXT: %softmax = aten.div.Tensor %powers, %prepare_softmax_online#1 : !fx.tensor<f32[s0, 128], cuda:0>
  // CHECK-NEXT: fx.output (%softmax,)
  %largest = aten.amax.default %a, [-1], true : !fx.tensor<f32[s0, 1], cuda:0>
  %less = aten.sub.Tensor %a, %largest : !fx.tensor<f32[s0, 128], cuda:0>
  %powers = aten.exp.default %less : !fx.tensor<f32[s0, 128], cuda:0>
  %total = aten.sum.dim_IntList %powers, [-1], true : !fx.tensor<f32[s0, 1], cuda:0>
  %softmax = aten.div.Tensor %powers, %total : !fx.tensor<f32[s0, 128], cuda:0>
  fx.output (%softmax)
}

// Another device; the sum over another dim; a sum of another dtype; the largest of another tensor.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%a : !fx.tensor<f32[8, 8], cpu>, %b : !fx.tensor<f32[8, 8], cuda:0>, %c : !fx.tensor<f32[8, 8], cuda:0>) {
  // CHECK-NEXT: %d = aten.amax.default %a, [1], true : !fx.tensor<f32[8, 1], cpu>
  // CHECK-NEXT: %e = aten.sub.Tensor %a, %d : !fx.tensor<f32[8, 8], cpu>
  // CHECK-NEXT: %f = aten.exp.default %e : !fx.tensor<f32[8, 8], cpu>
  // CHECK-NEXT: %v = aten.sum.dim_IntList %f, [1], true : !fx.tensor<f32[8, 1], cpu>
  // CHECK-NEXT: %g = aten.amax.default %b, [1], true : !fx.tensor<f32[8, 1], cuda:0>
  // CHECK-NEXT: %h = aten.sub.Tensor %b, %g : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %i = aten.exp.default %h : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %w = aten.sum.dim_IntList %i, [0], true : !fx.tensor<f32[1, 8], cuda:0>
  // CHECK-NEXT: %x = aten.sum.dim_IntList %i, [1], true, dtype = f64 : !fx.tensor<f64[8, 1], cuda:0>
  // CHECK-NEXT: %j = aten.sub.Tensor %c, %g : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %k = aten.exp.default %j : !fx.tensor<f32[8, 8], cuda:0>
  // CHECK-NEXT: %y = aten.sum.dim_IntList %k, [1], true : !fx.tensor<f32[8, 1], cuda:0>
  // CHECK-NEXT: fx.output (%v, %w, %x, %y)
  %d = aten.amax.default %a, [1], true : !fx.tensor<f32[8, 1], cpu>
  %e = aten.sub.Tensor %a, %d : !fx.tensor<f32[8, 8], cpu>
  %f = aten.exp.default %e : !fx.tensor<f32[8, 8], cpu>
  %v = aten.sum.dim_IntList %f, [1], true : !fx.tensor<f32[8, 1], cpu>
  %g = aten.amax.default %b, [1], true : !fx.tensor<f32[8, 1], cuda:0>
  %h = aten.sub.Tensor %b, %g : !fx.tensor<f32[8, 8], cuda:0>
  %i = aten.exp.default %h : !fx.tensor<f32[8, 8], cuda:0>
  %w = aten.sum.dim_IntList %i, [0], true : !fx.tensor<f32[1, 8], cuda:0>
  %x = aten.sum.dim_IntList %i, [1], true, dtype = f64 : !fx.tensor<f64[8, 1], cuda:0>
  %j = aten.sub.Tensor %c, %g : !fx.tensor<f32[8, 8], cuda:0>
  %k = aten.exp.default %j : !fx.tensor<f32[8, 8], cuda:0>
  %y = aten.sum.dim_IntList %k, [1], true : !fx.tensor<f32[8, 1], cuda:0>
  fx.output (%v, %w, %x, %y)
}
