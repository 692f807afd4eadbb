// RUN: xductor-opt %s -p constant_fold_uniform_value | filecheck %s --check-prefixes=CHECK,EXACT
// RUN: xductor-opt %s -p 'constant_fold_uniform_value{policy="strict"}' | filecheck %s --check-prefixes=CHECK,EXACT
// RUN: xductor-opt %s -p 'constant_fold_uniform_value{policy="fast"}' | filecheck %s --check-prefixes=CHECK,FAST

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols(s0 : int positive [2, 16]) (%n : !fx.symint<s0>, %x : !fx.tensor<f32[s0, 4], cpu>) {
  %ones = aten.ones.default [%n, 4] : !fx.tensor<f32[s0, 4], cpu>
  %half = aten.full.default [%n, 1], 0.5 : !fx.tensor<f32[s0, 1], cpu>
  %mul = aten.mul.Tensor %ones, %half : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: %neg = aten.full.default [%n, 4], -0.5, dtype = f32, layout = layout<strided>, device = device<cpu>, pin_memory = false
  %neg = aten.neg.default %mul : !fx.tensor<f32[s0, 4], cpu> {tag = "is_backward"}
  // CHECK-SAME: is_backward
  // CHECK-NEXT: %sum = aten.add.Tensor %x, %neg
  %sum = aten.add.Tensor %x, %neg : !fx.tensor<f32[s0, 4], cpu>
  fx.output (%sum,)
}

// A product with 0 is NaN where the other number is infinite; of integers it is 0.
// CHECK-LABEL: fx.graph @zero
fx.graph @zero stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>, %i : !fx.tensor<i64[4], cpu>) {
  // EXACT-NEXT: %a = aten.mul.Tensor %x, 0
  // FAST-NEXT: %a = aten.full.default [4], 0.0, dtype = f32
  %a = aten.mul.Tensor %x, 0 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %b = aten.full.default [4], 0, dtype = i64
  %b = aten.mul.Tensor %i, 0 : !fx.tensor<i64[4], cpu>
  fx.output (%a, %b)
}

// Random, uninitialised, written to, not contiguous, of a size that no value has.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols(s0 : int positive [2, 16]) (%x : !fx.tensor<f32[s0], cpu>) {
  // CHECK-NEXT: aten.rand.default
  %r = aten.rand.default [4] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: aten.empty.memory_format
  %e = aten.empty.memory_format [4] : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %w = aten.full.default [4], 1.0 :
  %w = aten.full.default [4], 1.0 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: aten.add_.Tensor
  %w2 = aten.add_.Tensor %w, %r : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %f = aten.full.default [4, 1], 2.0, dtype = f32
  %f = aten.full.default [4, 1], 2.0 : !fx.tensor<f32[4, 1], cpu>
  // CHECK-NEXT: aten.expand.default %f
  %v = aten.expand.default %f, [4, 4] : !fx.tensor<f32[4, 4][1, 0], cpu>
  // CHECK-NEXT: aten.zeros_like.default %x
  %z = aten.zeros_like.default %x : !fx.tensor<f32[s0], cpu>
  fx.output (%r, %e, %w2, %v, %z)
}
