// RUN: xductor-opt %s -p remove_noop_ops | filecheck %s --check-prefixes=CHECK,ALL
// RUN: xductor-opt %s -p 'remove_noop_ops{keep_for_spmd=true}' | filecheck %s --check-prefixes=CHECK,SPMD

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols(s0 : int positive [2, 16]) (%x : !fx.tensor<f32[s0, 4], cpu>) {
  // ALL-NEXT: %neg = aten.neg.default %x
  // SPMD-NEXT: %slice_1 = aten.slice.Tensor %x
  // SPMD-NEXT: %neg = aten.neg.default %slice_1
  %slice_1 = aten.slice.Tensor %x, 0, 0, 16 : !fx.tensor<f32[s0, 4], cpu>
  %repeat = aten.repeat.default %slice_1, [1, 1] : !fx.tensor<f32[s0, 4], cpu>
  %convert = prims.convert_element_type.default %repeat, f32 : !fx.tensor<f32[s0, 4], cpu>
  %cat = aten.cat.default [%convert] : !fx.tensor<f32[s0, 4], cpu>
  %clone = aten.clone.default %cat : !fx.tensor<f32[s0, 4], cpu>
  %neg = aten.neg.default %clone : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: fx.output (%neg,)
  fx.output (%neg,)
}

// The slice could be shorter, the power is no one, the cast and the clone change the type.
// CHECK-LABEL: fx.graph @other_values
fx.graph @other_values stage(joint) symbols(s0 : int positive [2, 17]) (%x : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: aten.slice.Tensor
  %slice_1 = aten.slice.Tensor %x, 0, 0, 16 : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: aten.pow.Tensor_Scalar
  %pow = aten.pow.Tensor_Scalar %slice_1, 2 : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: prims.convert_element_type.default
  %convert = prims.convert_element_type.default %pow, f64 : !fx.tensor<f64[s0, 4], cpu>
  // CHECK-NEXT: aten.clone.default
  %clone = aten.clone.default %convert : !fx.tensor<f64[s0, 4][8, 1], cpu>
  fx.output (%clone,)
}

// An output keeps apart from inputs and from other outputs.
// CHECK-LABEL: fx.graph @aliases
fx.graph @aliases stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.clone.default %x
  %a = aten.clone.default %x : !fx.tensor<f32[4], cpu>
  %b = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // CHECK: %c = aten.clone.default %b
  %c = aten.clone.default %b : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c)
  fx.output (%a, %b, %c)
}

// The first copy is read before the input is written, the second after.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %neg = aten.neg.default %x
  %early = aten.clone.default %x : !fx.tensor<f32[4], cpu>
  %neg = aten.neg.default %early : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %late = aten.clone.default %x
  %late = aten.clone.default %x : !fx.tensor<f32[4], cpu>
  %copy_ = aten.copy_.default %x, %neg : !fx.tensor<f32[4], cpu>
  // CHECK: %sum = aten.add.Tensor %neg, %late
  %sum = aten.add.Tensor %neg, %late : !fx.tensor<f32[4], cpu>
  fx.output (%sum,)
}

// Before autograd, `clone` is a method.
// CHECK-LABEL: fx.graph @method
fx.graph @method stage(pre_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %add = pyfn._operator.add %x, 1
  %y = method.clone %x : !fx.tensor<f32[4], cpu>
  %add = pyfn._operator.add %y, 1 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %z = method.clone %x
  %z = method.clone %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%add, %z)
  fx.output (%add, %z)
}

// Within a level of functorch, which other functions begin for vmap than for grad, it stays.
// CHECK-LABEL: fx.graph @level
fx.graph @level stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>) {
  %begin = pyfn.torch._functorch.predispatch._vmap_increment_nesting 2, "error" : !fx.none
  %row = pyfn.torch._functorch.predispatch._add_batch_dim %x, 0, 1 : !fx.tensor<f32[4], cpu>
  // CHECK: %y = method.clone %row
  %y = method.clone %row : !fx.tensor<f32[4], cpu>
  %add = pyfn._operator.add %y, 1 : !fx.tensor<f32[4], cpu>
  %z = pyfn.torch._functorch.predispatch._remove_batch_dim %add, 1, 2, 0 : !fx.tensor<f32[2, 4], cpu>
  %end = pyfn.torch._functorch.predispatch._vmap_decrement_nesting : !fx.none
  fx.output (%z,)
}
