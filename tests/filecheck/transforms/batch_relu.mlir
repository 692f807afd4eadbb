// RUN: xductor-opt %s -p 'batch_relu{min_fuse_set_size=2}' | filecheck %s

// A function and a method.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.relu %torch : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  %b = method.relu %y : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// Another dtype, other sizes, one in place.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f64[3, 4], cpu>, %z : !fx.tensor<f32[4, 3], cpu>, %w : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f64[3, 4], cpu>
  // CHECK-NEXT: %c = pyfn.torch.nn.functional.relu %z : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %d = method.relu_ %w : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%a, %b, %c, %d)
  %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f64[3, 4], cpu>
  %c = pyfn.torch.nn.functional.relu %z : !fx.tensor<f32[4, 3], cpu>
  %d = method.relu_ %w : !fx.tensor<f32[3, 4], cpu> aliases(0)
  fx.output (%a, %b, %c, %d)
}

// What is returned has storage of its own.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.relu %torch : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %torch_2 = pyfn.torch.clone %torch#0 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %torch_3 = pyfn.torch.clone %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%torch_2, %torch_3)
  %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f32[3, 4], cpu>
  fx.output (%a, %b)
}

// What is written to later.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = method.add_ %a, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %s = pyfn.torch.maximum %b, %c : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f32[3, 4], cpu>
  %c = method.add_ %a, 1 : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %s = pyfn.torch.maximum %b, %c : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// Under other modes.
// CHECK-LABEL: fx.graph @modes
fx.graph @modes stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %off = pyfn.torch._C._set_grad_enabled false : !fx.none
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %on = pyfn.torch._C._set_grad_enabled true : !fx.none
  // CHECK-NEXT: %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4], cpu>
  %off = pyfn.torch._C._set_grad_enabled false : !fx.none
  %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f32[3, 4], cpu>
  %on = pyfn.torch._C._set_grad_enabled true : !fx.none
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// Their operands are laid out otherwise than the rows of a stack.
// CHECK-LABEL: fx.graph @layout
fx.graph @layout stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4][1, 3], cpu>, %y : !fx.tensor<f32[3, 4][1, 3], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4][1, 3], cpu>
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f32[3, 4][1, 3], cpu>
  // CHECK-NEXT: %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4][1, 3], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.relu %x : !fx.tensor<f32[3, 4][1, 3], cpu>
  %b = pyfn.torch.nn.functional.relu %y : !fx.tensor<f32[3, 4][1, 3], cpu>
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4][1, 3], cpu>
  fx.output (%s,)
}

// In place by an argument.
// CHECK-LABEL: fx.graph @in_place
fx.graph @in_place stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.relu %x, inplace = true : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.relu %y, inplace = true : !fx.tensor<f32[3, 4], cpu> aliases(0)
  // CHECK-NEXT: %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.relu %x, inplace = true : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %b = pyfn.torch.nn.functional.relu %y, inplace = true : !fx.tensor<f32[3, 4], cpu> aliases(0)
  %s = pyfn.torch.maximum %a, %b : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}
