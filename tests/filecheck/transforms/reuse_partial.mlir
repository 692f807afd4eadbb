// RUN: xductor-opt %s -p reuse_partial | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%a : !fx.tensor<f32[64, 128], cpu>, %b : !fx.tensor<i64[64, 128], cpu>) {
  // CHECK-NEXT: %rows = aten.amax.default %a, [1], true : !fx.tensor<f32[64, 1], cpu>
  // CHECK-NEXT: %amax = aten.amax.default %rows : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %columns = aten.amin.default %b, [0] : !fx.tensor<i64[128], cpu>
  // CHECK-NEXT: %least = aten.amin.default %columns : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: fx.output (%rows, %amax, %columns, %least)
  %rows = aten.amax.default %a, [1], true : !fx.tensor<f32[64, 1], cpu>
  %all = aten.max.default %a : !fx.tensor<f32[], cpu>
  %columns = aten.amin.default %b, [0] : !fx.tensor<i64[128], cpu>
  %least = aten.amin.default %b : !fx.tensor<i64[], cpu>
  fx.output (%rows, %all, %columns, %least)
}

// Few elements; two tensors; a largest and a smallest.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%a : !fx.tensor<f32[8, 8], cpu>, %b : !fx.tensor<f32[64, 128], cpu>, %c : !fx.tensor<f32[64, 128], cpu>) {
  // CHECK-NEXT: %u = aten.amax.default %a, [1] : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: %v = aten.max.default %a : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %w = aten.amax.default %b, [1] : !fx.tensor<f32[64], cpu>
  // CHECK-NEXT: %x = aten.max.default %c : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %z = aten.min.default %b : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: fx.output (%u, %v, %w, %x, %z)
  %u = aten.amax.default %a, [1] : !fx.tensor<f32[8], cpu>
  %v = aten.max.default %a : !fx.tensor<f32[], cpu>
  %w = aten.amax.default %b, [1] : !fx.tensor<f32[64], cpu>
  %x = aten.max.default %c : !fx.tensor<f32[], cpu>
  %z = aten.min.default %b : !fx.tensor<f32[], cpu>
  fx.output (%u, %v, %w, %x, %z)
}

// Whether they are few is not known.
// CHECK-LABEL: fx.graph @unknown
fx.graph @unknown stage(post_grad) symbols(s0 : int positive [2, 64]) (%a : !fx.tensor<f32[s0, 128], cpu>) {
  // CHECK-NEXT: %u = aten.amax.default %a, [1] : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %v = aten.max.default %a : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: fx.output (%u, %v)
  %u = aten.amax.default %a, [1] : !fx.tensor<f32[s0], cpu>
  %v = aten.max.default %a : !fx.tensor<f32[], cpu>
  fx.output (%u, %v)
}
