// RUN: xductor-opt %s -p unbind_stack_aten_pass | filecheck %s

// As Inductor decomposes a stack.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %z = aten.relu.default %x : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0 = aten.select.int %x, 0, 0 : !fx.tensor<f32[4], cpu>
  %p1 = aten.select.int %x, 0, 1 : !fx.tensor<f32[4], cpu, offset 4>
  %q0 = aten.unsqueeze.default %p0, 0 : !fx.tensor<f32[1, 4], cpu>
  %q1 = aten.unsqueeze.default %p1, 0 : !fx.tensor<f32[1, 4], cpu, offset 4>
  %y = aten.cat.default [%q0, %q1] : !fx.tensor<f32[2, 4], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[2, 4], cpu>
  fx.output (%z,)
}

// CHECK-LABEL: fx.graph @stack
fx.graph @stack stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %z = aten.relu.default %x : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%z,)
  %p0, %p1 = aten.unbind.int %x : !fx.tensor<f32[4], cpu>, !fx.tensor<f32[4], cpu, offset 4>
  %y = aten.stack.default [%p0, %p1] : !fx.tensor<f32[2, 4], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[2, 4], cpu>
  fx.output (%z,)
}

// The other way around, along another dim where strides are seen, and of two tensors.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 4], cpu>, %w : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %p0, %p1 = aten.unbind.int %x : !fx.tensor<f32[4], cpu>, !fx.tensor<f32[4], cpu, offset 4>
  // CHECK-NEXT: %q0, %q1 = aten.unbind.int %w : !fx.tensor<f32[4], cpu>, !fx.tensor<f32[4], cpu, offset 4>
  // CHECK-NEXT: %u = aten.stack.default [%p1, %p0] : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %v = aten.stack.default [%p0, %p1], 1 : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %y = aten.stack.default [%p0, %q1] : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%u, %v, %y)
  %p0, %p1 = aten.unbind.int %x : !fx.tensor<f32[4], cpu>, !fx.tensor<f32[4], cpu, offset 4>
  %q0, %q1 = aten.unbind.int %w : !fx.tensor<f32[4], cpu>, !fx.tensor<f32[4], cpu, offset 4>
  %u = aten.stack.default [%p1, %p0] : !fx.tensor<f32[2, 4], cpu>
  %v = aten.stack.default [%p0, %p1], 1 : !fx.tensor<f32[4, 2], cpu>
  %y = aten.stack.default [%p0, %q1] : !fx.tensor<f32[2, 4], cpu>
  fx.output (%u, %v, %y)
}
