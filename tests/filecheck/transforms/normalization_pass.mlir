// RUN: xductor-opt %s -p normalization_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 3], cpu>) {
  // CHECK-NEXT: %a, %b = pyfn.torch.split %x, [2, 1], dim = 1 : !fx.tensor<f32[4, 2][3, 1], cpu>, !fx.tensor<f32[4, 1][3, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %c = pyfn.torch.cat [%a, %b], dim = 1 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %d, %e, %f = pyfn.torch.unbind %c, dim = 1 : !fx.tensor<f32[4][3], cpu>, !fx.tensor<f32[4][3], cpu, offset 1>, !fx.tensor<f32[4][3], cpu, offset 2> aliases(0, 0, 0) as (*, *, *)
  // CHECK-NEXT: %g = pyfn.torch.stack [%d, %e, %f], dim = 1 : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %h = pyfn.torch.squeeze %g, dim = 0 : !fx.tensor<f32[4, 3], cpu> aliases(0)
  // CHECK-NEXT: %i = pyfn.torch.reshape %h, (12,) : !fx.tensor<f32[12], cpu> aliases(0)
  // CHECK-NEXT: %j = pyfn.torch.clamp %i, min = 0, max = none : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %k = pyfn.torch.detach %j : !fx.tensor<f32[12], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%k,)
  %a, %b = method.split %x, 2, dim = -1 : !fx.tensor<f32[4, 2][3, 1], cpu>, !fx.tensor<f32[4, 1][3, 1], cpu, offset 2> aliases(0, 0) as (*, *)
  %c = pyfn.torch.concat (%a, %b), axis = -1 : !fx.tensor<f32[4, 3], cpu>
  %d, %e, %f = method.unbind %c, -1 : !fx.tensor<f32[4][3], cpu>, !fx.tensor<f32[4][3], cpu, offset 1>, !fx.tensor<f32[4][3], cpu, offset 2> aliases(0, 0, 0) as (*, *, *)
  %g = pyfn.torch.stack [%d, %e, %f], -1 : !fx.tensor<f32[4, 3], cpu>
  %h = method.squeeze %g, 0 : !fx.tensor<f32[4, 3], cpu> aliases(0)
  %i = method.reshape %h, -1 : !fx.tensor<f32[12], cpu> aliases(0)
  %j = method.clip %i, 0 : !fx.tensor<f32[12], cpu>
  %k = method.detach %j : !fx.tensor<f32[12], cpu> aliases(0)
  fx.output (%k,)
}

// In that spelling already; in place; with `out`.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[4, 3], cpu>, %y : !fx.tensor<f32[8, 3], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.cat [%x, %x], dim = 1 : !fx.tensor<f32[4, 6], cpu>
  // CHECK-NEXT: %b = method.clamp_ %a, 0 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  // CHECK-NEXT: %c = pyfn.torch.cat [%x, %x], out = %y : !fx.tensor<f32[8, 3], cpu> aliases(2)
  // CHECK-NEXT: fx.output (%b, %c)
  %a = pyfn.torch.cat [%x, %x], dim = 1 : !fx.tensor<f32[4, 6], cpu>
  %b = method.clamp_ %a, 0 : !fx.tensor<f32[4, 6], cpu> aliases(0)
  %c = pyfn.torch.cat [%x, %x], out = %y : !fx.tensor<f32[8, 3], cpu> aliases(2)
  fx.output (%b, %c)
}
