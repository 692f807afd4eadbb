// RUN: xductor-opt %s -p 'batch_dropout{min_fuse_set_size=2}' | filecheck %s

// All numbers are drawn at once, where another draw stands between.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %r = pyfn.torch.rand_like %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.dropout %torch, 0.2, true : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %t = pyfn.torch.maximum %s, %r : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%t,)
  %a = pyfn.torch.nn.functional.dropout %x, 0.2 : !fx.tensor<f32[3, 4], cpu>
  %r = pyfn.torch.rand_like %x : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.dropout %y, 0.2, true : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  %t = pyfn.torch.maximum %s, %r : !fx.tensor<f32[3, 4], cpu>
  fx.output (%t,)
}

// Other probabilities, and none that draws.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.dropout %x, 0.2 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.dropout %y, 0.3 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = pyfn.torch.nn.functional.dropout %x, 0.2, false : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %d = pyfn.torch.nn.functional.dropout %y, 0.2, false : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %e = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %f = pyfn.torch.maximum %c, %d : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%e, %f)
  %a = pyfn.torch.nn.functional.dropout %x, 0.2 : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.nn.functional.dropout %y, 0.3 : !fx.tensor<f32[3, 4], cpu>
  %c = pyfn.torch.nn.functional.dropout %x, 0.2, false : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %d = pyfn.torch.nn.functional.dropout %y, 0.2, false : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %e = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  %f = pyfn.torch.maximum %c, %d : !fx.tensor<f32[3, 4], cpu>
  fx.output (%e, %f)
}

// A seed is set between.
// CHECK-LABEL: fx.graph @seed
fx.graph @seed stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.dropout %x, 0.2 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %r = pyfn.torch.random.manual_seed 3 : !fx.object<"torch.Generator">
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.dropout %y, 0.2 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.dropout %x, 0.2 : !fx.tensor<f32[3, 4], cpu>
  %r = pyfn.torch.random.manual_seed 3 : !fx.object<"torch.Generator">
  %b = pyfn.torch.nn.functional.dropout %y, 0.2 : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}
