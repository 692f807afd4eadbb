// RUN: xductor-opt %s -p dead_code_elimination | filecheck %s --check-prefixes=CHECK,DRAWS
// RUN: xductor-opt %s -p 'dead_code_elimination{fallback_random=true}' | filecheck %s --check-prefixes=CHECK,EAGER

// CHECK-LABEL: fx.graph @dead
fx.graph @dead stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %weight = fx.get_attr "weight" : !fx.tensor<f32[4], cpu>
  %a = aten.mul.Tensor %x, %weight : !fx.tensor<f32[4], cpu>
  %b = aten.exp.default %a : !fx.tensor<f32[4], cpu>
  // DRAWS-NEXT: %out = aten.neg.default
  // EAGER-NEXT: %draw = aten.rand_like.default
  // EAGER-NEXT: %out = aten.neg.default
  %draw = aten.rand_like.default %x : !fx.tensor<f32[4], cpu>
  %out = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%out,)
  fx.output (%out,)
}

// What writes, asserts or changes a mode is not dead.
// CHECK-LABEL: fx.graph @alive
fx.graph @alive stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: aten.add_.Tensor
  %written = aten.add_.Tensor %x, 1 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: aten.any.default
  %s = aten.any.default %x : !fx.tensor<i1[], cpu>
  // CHECK-NEXT: aten._assert_async.msg
  aten._assert_async.msg %s, "some value is not zero"
  // CHECK-NEXT: pyfn.torch._C._set_grad_enabled
  %mode = pyfn.torch._C._set_grad_enabled false : !fx.none
  fx.output ()
}

// A size that a later type mentions has to be made.
// CHECK-LABEL: fx.graph @unbacked
fx.graph @unbacked stage(post_grad) symbols(u0 : int unbacked size_like [0, int_oo], u1 : int unbacked size_like [0, int_oo]) (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %n = aten.nonzero.default %x : !fx.tensor<i64[u0, 1]
  %n = aten.nonzero.default %x : !fx.tensor<i64[u0, 1][1, u0], cpu> {unbacked_bindings = "u0 = .size()[0]"}
  // CHECK-NEXT: %ones = aten.full.default
  %m = aten.nonzero.default %x : !fx.tensor<i64[u1, 1][1, u1], cpu> {unbacked_bindings = "u1 = .size()[0]"}
  %ones = aten.full.default [sym<u0>], 1.0 : !fx.tensor<f32[u0], cpu>
  fx.output (%ones,)
}
