// RUN: xductor-opt %s -p einsum_to_pointwise_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3, 4], cpu>, %w : !fx.tensor<f32[2, 3, 4, 5], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.unsqueeze %x, -1 : !fx.tensor<f32[2, 3, 4, 1], cpu> aliases(0)
  // CHECK-NEXT: %torch_1 = pyfn.torch.mul %torch, %w : !fx.tensor<f32[2, 3, 4, 5], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.sum %torch_1, [-2] : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: %z = pyfn._operator.add %torch_2, 1 : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %y = pyfn.torch.einsum "bni,bnio->bno", %x, %w : !fx.tensor<f32[2, 3, 5], cpu>
  %z = pyfn._operator.add %y, 1 : !fx.tensor<f32[2, 3, 5], cpu>
  fx.output (%z,)
}

// Another product, and one that nothing is added to.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3, 4], cpu>, %w : !fx.tensor<f32[2, 3, 4, 5], cpu>) {
  // CHECK-NEXT: %y = pyfn.torch.einsum "bni,bnio->bo", %x, %w : !fx.tensor<f32[2, 5], cpu>
  // CHECK-NEXT: %u = pyfn._operator.add %y, 1 : !fx.tensor<f32[2, 5], cpu>
  // CHECK-NEXT: %z = pyfn.torch.einsum "bni,bnio->bno", %x, %w : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: %v = pyfn._operator.mul %z, 2 : !fx.tensor<f32[2, 3, 5], cpu>
  // CHECK-NEXT: fx.output (%u, %v)
  %y = pyfn.torch.einsum "bni,bnio->bo", %x, %w : !fx.tensor<f32[2, 5], cpu>
  %u = pyfn._operator.add %y, 1 : !fx.tensor<f32[2, 5], cpu>
  %z = pyfn.torch.einsum "bni,bnio->bno", %x, %w : !fx.tensor<f32[2, 3, 5], cpu>
  %v = pyfn._operator.mul %z, 2 : !fx.tensor<f32[2, 3, 5], cpu>
  fx.output (%u, %v)
}
