// RUN: xductor-opt %s -p 'batch_nan_to_num{min_fuse_set_size=2}' | filecheck %s

// By place and by name.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.nan_to_num %torch, 1.0, 2.0 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nan_to_num %x, 1.0, 2.0 : !fx.tensor<f32[3, 4], cpu>
  %b = method.nan_to_num %y, 1.0, posinf = 2.0 : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// Other numbers, another dtype, other sizes, and one in place.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f64[3, 4], cpu>, %z : !fx.tensor<f32[12], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nan_to_num %x, 1.0, 2.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = method.nan_to_num %x, 1.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = pyfn.torch.nan_to_num %y, 1.0, 2.0 : !fx.tensor<f64[3, 4], cpu>
  // CHECK-NEXT: %d = pyfn.torch.nan_to_num %z, 1.0, 2.0 : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %e = method.nan_to_num_ %x, 1.0, 2.0 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%a, %b, %c, %d, %e)
  %a = pyfn.torch.nan_to_num %x, 1.0, 2.0 : !fx.tensor<f32[3, 4], cpu>
  %b = method.nan_to_num %x, 1.0 : !fx.tensor<f32[3, 4], cpu>
  %c = pyfn.torch.nan_to_num %y, 1.0, 2.0 : !fx.tensor<f64[3, 4], cpu>
  %d = pyfn.torch.nan_to_num %z, 1.0, 2.0 : !fx.tensor<f32[12], cpu>
  %e = method.nan_to_num_ %x, 1.0, 2.0 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  fx.output (%a, %b, %c, %d, %e)
}

// Read by unlike calls.
// CHECK-LABEL: fx.graph @users
fx.graph @users stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nan_to_num %x, 1.0, 2.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = method.nan_to_num %y, 1.0, posinf = 2.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = pyfn.torch.neg %a : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %s = pyfn.torch.maximum %c, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nan_to_num %x, 1.0, 2.0 : !fx.tensor<f32[3, 4], cpu>
  %b = method.nan_to_num %y, 1.0, posinf = 2.0 : !fx.tensor<f32[3, 4], cpu>
  %c = pyfn.torch.neg %a : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %c, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}
