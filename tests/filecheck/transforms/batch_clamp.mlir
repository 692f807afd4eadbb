// RUN: xductor-opt %s -p 'batch_clamp{min_fuse_set_size=2}' | filecheck %s

// By place and by name.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.clamp %torch, 0.0, 1.0 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.clamp %x, 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  %b = method.clip %y, min = 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// Other numbers, another dtype, other sizes, integers.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f64[3, 4], cpu>, %z : !fx.tensor<f32[12], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.clamp %x, 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = pyfn.torch.clamp %x, -0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = pyfn.torch.clamp %y, 0.0, max = 1.0 : !fx.tensor<f64[3, 4], cpu>
  // CHECK-NEXT: %d = pyfn.torch.clamp %z, 0.0, max = 1.0 : !fx.tensor<f32[12], cpu>
  // CHECK-NEXT: %e = pyfn.torch.clamp %x, 0, max = 1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d, %e)
  %a = pyfn.torch.clamp %x, 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.clamp %x, -0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  %c = pyfn.torch.clamp %y, 0.0, max = 1.0 : !fx.tensor<f64[3, 4], cpu>
  %d = pyfn.torch.clamp %z, 0.0, max = 1.0 : !fx.tensor<f32[12], cpu>
  %e = pyfn.torch.clamp %x, 0, max = 1 : !fx.tensor<f32[3, 4], cpu>
  fx.output (%a, %b, %c, %d, %e)
}

// Read by unlike calls.
// CHECK-LABEL: fx.graph @users
fx.graph @users stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.clamp %x, 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = method.clip %y, min = 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = pyfn.torch.neg %a : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %s = pyfn.torch.maximum %c, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.clamp %x, 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  %b = method.clip %y, min = 0.0, max = 1.0 : !fx.tensor<f32[3, 4], cpu>
  %c = pyfn.torch.neg %a : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %c, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// One tensor as a bound; two of them.
// CHECK-LABEL: fx.graph @tensors
fx.graph @tensors stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %low : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.clamp %torch, %low : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.clamp %x, %low : !fx.tensor<f32[3, 4], cpu>
  %b = method.clamp %y, min = %low : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// CHECK-LABEL: fx.graph @other_tensors
fx.graph @other_tensors stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %low : !fx.tensor<f32[4], cpu>, %high : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.clamp %x, %low : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = pyfn.torch.clamp %y, %high : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.clamp %x, %low : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.clamp %y, %high : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}
