// RUN: xductor-opt %s -p 'batch_detach{min_fuse_set_size=2}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu, requires_grad>, %y : !fx.tensor<f32[3, 4], cpu, requires_grad>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu, requires_grad>
  // CHECK-NEXT: %torch_1 = pyfn.torch.detach %torch : !fx.tensor<f32[2, 3, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.detach %x : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %b = method.detach %y : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// The caller gets his own tensor.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu, requires_grad>, %y : !fx.tensor<f32[3, 4], cpu, requires_grad>) {
  // CHECK-NEXT: %a = pyfn.torch.detach %x : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %b = method.detach %y : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%a, %b)
  %a = pyfn.torch.detach %x : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %b = method.detach %y : !fx.tensor<f32[3, 4], cpu> aliases(0)
  fx.output (%a, %b)
}

// What is written to later, as itself or by the other name.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %c = pyfn.torch.neg %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %d = pyfn.torch.neg %y : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %a = pyfn.torch.detach %c : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %b = method.detach %d : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %e = method.add_ %a, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %f = method.add_ %d, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %s = pyfn.torch.maximum %b, %e : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %c = pyfn.torch.neg %x : !fx.tensor<f32[3, 4], cpu>
  %d = pyfn.torch.neg %y : !fx.tensor<f32[3, 4], cpu>
  %a = pyfn.torch.detach %c : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %b = method.detach %d : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %e = method.add_ %a, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %f = method.add_ %d, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %s = pyfn.torch.maximum %b, %e : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// An input that may be a view of what is written to.
// CHECK-LABEL: fx.graph @outside
fx.graph @outside stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %z : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.detach %x : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %b = method.detach %y : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %e = method.add_ %z, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.detach %x : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %b = method.detach %y : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %e = method.add_ %z, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// Read by unlike calls.
// CHECK-LABEL: fx.graph @users
fx.graph @users stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu, requires_grad>, %y : !fx.tensor<f32[3, 4], cpu, requires_grad>) {
  // CHECK-NEXT: %a = pyfn.torch.detach %x : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %b = method.detach %y : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %c = pyfn.torch.neg %a : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %s = pyfn.torch.maximum %c, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.detach %x : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %b = method.detach %y : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %c = pyfn.torch.neg %a : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %c, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}
