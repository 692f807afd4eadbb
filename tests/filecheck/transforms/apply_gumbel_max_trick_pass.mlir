// RUN: xductor-opt %s -p 'apply_gumbel_max_trick_pass{policy="fast"}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %b = pyfn.torch.empty_like %x : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %method = method.exponential_ %b : !fx.tensor<f32[2, 3], cpu> aliases(0)
  // CHECK-NEXT: %torch = pyfn.torch.log %method : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.sub %x, %torch : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %e = pyfn.torch.argmax %torch_1, 1, true : !fx.tensor<i64[2, 1], cpu>
  // CHECK-NEXT: fx.output (%e,)
  %a = pyfn.torch.nn.functional.softmax %x, dim = -1 : !fx.tensor<f32[2, 3], cpu>
  %b = pyfn.torch.empty_like %x : !fx.tensor<f32[2, 3], cpu>
  %c = method.exponential_ %b, 1.0 : !fx.tensor<f32[2, 3], cpu> aliases(0)
  %d = pyfn._operator.truediv %a, %c : !fx.tensor<f32[2, 3], cpu>
  %e = pyfn.torch.argmax %d, dim = 1, keepdim = true : !fx.tensor<i64[2, 1], cpu>
  fx.output (%e,)
}

// The softmax is along another dim; the noise has another rate.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.softmax %x, 0 : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %b = pyfn.torch.empty_like %x : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %c = method.exponential_ %b, 1.0 : !fx.tensor<f32[2, 3], cpu> aliases(0)
  // CHECK-NEXT: %d = pyfn._operator.truediv %a, %c : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %e = pyfn.torch.argmax %d, dim = 1 : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %f = method.softmax %x, 1 : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %g = pyfn.torch.empty_like %x : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %h = method.exponential_ %g, 2.0 : !fx.tensor<f32[2, 3], cpu> aliases(0)
  // CHECK-NEXT: %i = pyfn._operator.truediv %f, %h : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %j = method.argmax %i, 1 : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: fx.output (%e, %j)
  %a = pyfn.torch.softmax %x, 0 : !fx.tensor<f32[2, 3], cpu>
  %b = pyfn.torch.empty_like %x : !fx.tensor<f32[2, 3], cpu>
  %c = method.exponential_ %b, 1.0 : !fx.tensor<f32[2, 3], cpu> aliases(0)
  %d = pyfn._operator.truediv %a, %c : !fx.tensor<f32[2, 3], cpu>
  %e = pyfn.torch.argmax %d, dim = 1 : !fx.tensor<i64[2], cpu>
  %f = method.softmax %x, 1 : !fx.tensor<f32[2, 3], cpu>
  %g = pyfn.torch.empty_like %x : !fx.tensor<f32[2, 3], cpu>
  %h = method.exponential_ %g, 2.0 : !fx.tensor<f32[2, 3], cpu> aliases(0)
  %i = pyfn._operator.truediv %f, %h : !fx.tensor<f32[2, 3], cpu>
  %j = method.argmax %i, 1 : !fx.tensor<i64[2], cpu>
  fx.output (%e, %j)
}
