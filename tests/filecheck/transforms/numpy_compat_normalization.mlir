// RUN: xductor-opt %s -p numpy_compat_normalization | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 3], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.sum %x, dim = 1, keepdim = true : !fx.tensor<f32[4, 1], cpu>
  // CHECK-NEXT: %b = pyfn.torch.add input = %a, other = %x : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %c = pyfn.torch.cat [%x, %b], dim = 0 : !fx.tensor<f32[8, 3], cpu>
  // CHECK-NEXT: fx.output (%c,)
  %a = pyfn.torch.sum %x, axis = 1, keepdims = true : !fx.tensor<f32[4, 1], cpu>
  %b = pyfn.torch.add x1 = %a, x2 = %x : !fx.tensor<f32[4, 3], cpu>
  %c = pyfn.torch.cat [%x, %b], axis = 0 : !fx.tensor<f32[8, 3], cpu>
  fx.output (%c,)
}

// A method, which Inductor leaves; a Python function, of which the name is its own.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 3], cpu>) {
  // CHECK-NEXT: %a = method.sum %x, axis = 1 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %b = pyfn.torch.sum %x, dim = 1 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %a = method.sum %x, axis = 1 : !fx.tensor<f32[4], cpu>
  %b = pyfn.torch.sum %x, dim = 1 : !fx.tensor<f32[4], cpu>
  fx.output (%a, %b)
}
