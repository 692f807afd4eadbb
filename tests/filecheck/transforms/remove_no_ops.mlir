// RUN: xductor-opt %s -p remove_no_ops | filecheck %s --check-prefixes=CHECK,EXACT
// RUN: xductor-opt %s -p 'remove_no_ops{policy="strict"}' | filecheck %s --check-prefixes=CHECK,EXACT
// RUN: xductor-opt %s -p 'remove_no_ops{policy="fast"}' | filecheck %s --check-prefixes=CHECK,FAST

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>, %h : !fx.tensor<f16[4], cpu>) {
  // CHECK-NEXT: %neg = aten.neg.default %x
  %neg = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  %ones = aten.full.default [4], 1.0 : !fx.tensor<f32[4], cpu>
  %zeros = aten.full.default [4], 0.0 : !fx.tensor<f32[4], cpu>
  %a = aten.mul.Tensor %neg, %ones : !fx.tensor<f32[4], cpu>
  %b = aten.div.Tensor %a, %ones : !fx.tensor<f32[4], cpu>
  %c = aten.sub.Tensor %b, %zeros : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %cast = prims.convert_element_type.default %h, f32
  %cast = aten.mul.Tensor %h, %ones : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%neg, %cast)
  fx.output (%c, %cast)
}

// -0.0 + 0.0 is 0.0.
// CHECK-LABEL: fx.graph @sign
fx.graph @sign stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %neg = aten.neg.default %x
  %neg = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // EXACT-NEXT: %zeros = aten.full.default
  %zeros = aten.full.default [4], 0.0 : !fx.tensor<f32[4], cpu>
  // EXACT-NEXT: %a = aten.add.Tensor %neg, %zeros
  %a = aten.add.Tensor %neg, %zeros : !fx.tensor<f32[4], cpu>
  // EXACT-NEXT: fx.output (%a,)
  // FAST-NEXT: fx.output (%neg,)
  fx.output (%a,)
}

// An input would be returned; sizes or strides would differ; alpha counts.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>, %y : !fx.tensor<f32[4, 4][1, 4], cpu>) {
  %ones = aten.full.default [4], 1.0 : !fx.tensor<f32[4], cpu>
  %zeros = aten.full.default [4, 4], -0.0 : !fx.tensor<f32[4, 4], cpu>
  // CHECK: %a = aten.mul.Tensor %x, %ones
  %a = aten.mul.Tensor %x, %ones : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %b = aten.add.Tensor %a, %zeros
  %b = aten.add.Tensor %a, %zeros : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %c = aten.add.Tensor %zeros, %y
  %c = aten.add.Tensor %zeros, %y : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %d = aten.add.Tensor %b, %zeros, alpha = 2
  %d = aten.add.Tensor %b, %zeros, alpha = 2 : !fx.tensor<f32[4, 4], cpu>
  fx.output (%a, %c, %d)
}
