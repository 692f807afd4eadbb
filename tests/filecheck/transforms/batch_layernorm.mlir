// RUN: xductor-opt %s -p 'batch_layernorm{min_fuse_set_size=2}' | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>, %v : !fx.tensor<f32[4], cpu>, %w : !fx.tensor<f32[4], cpu>, %b : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.stack [%v, %w] : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.stack [%b, %b] : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %torch_3 = pyfn.torch.layer_norm %torch, [4] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_4 = pyfn.torch.reshape %torch_1, [2, 1, 4] : !fx.tensor<f32[2, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch_5 = pyfn.torch.mul %torch_3, %torch_4 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_6 = pyfn.torch.reshape %torch_2, [2, 1, 4] : !fx.tensor<f32[2, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch_7 = pyfn.torch.add %torch_5, %torch_6 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_7 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.layer_norm %x, [4], %v, %b : !fx.tensor<f32[3, 4], cpu>
  %d = pyfn.torch.nn.functional.layer_norm %y, (4,), weight = %w, bias = %b, eps = 1e-05 : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %d : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// CHECK-LABEL: fx.graph @without_weights
fx.graph @without_weights stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.layer_norm %torch, [3, 4], none, none, 0.1 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %torch_1 : !fx.tensor<f32[3, 4], cpu>, !fx.tensor<f32[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.layer_norm %x, [3, 4], eps = 0.1 : !fx.tensor<f32[3, 4], cpu>
  %d = pyfn.torch.layer_norm %y, [3, 4], eps = 0.1 : !fx.tensor<f32[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %d : !fx.tensor<f32[3, 4], cpu>
  fx.output (%s,)
}

// Rounded once.
// CHECK-LABEL: fx.graph @sixteen_bits
fx.graph @sixteen_bits stage(pre_grad) symbols() (%x : !fx.tensor<bf16[3, 4], cpu>, %y : !fx.tensor<bf16[3, 4], cpu>, %v : !fx.tensor<bf16[4], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.stack [%x, %y] : !fx.tensor<bf16[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.stack [%v, %v] : !fx.tensor<bf16[2, 4], cpu>
  // CHECK-NEXT: %method = method.to %torch, f32 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.layer_norm %method, [4] : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %method_1 = method.to %torch_1, f32 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %torch_3 = pyfn.torch.reshape %method_1, [2, 1, 4] : !fx.tensor<f32[2, 1, 4], cpu> aliases(0)
  // CHECK-NEXT: %torch_4 = pyfn.torch.mul %torch_2, %torch_3 : !fx.tensor<f32[2, 3, 4], cpu>
  // CHECK-NEXT: %method_2 = method.to %torch_4, bf16 : !fx.tensor<bf16[2, 3, 4], cpu>
  // CHECK-NEXT: %torch#0, %torch#1 = pyfn.torch.unbind %method_2 : !fx.tensor<bf16[3, 4], cpu>, !fx.tensor<bf16[3, 4], cpu, offset 12> aliases(0, 0) as (*, *)
  // CHECK-NEXT: %s = pyfn.torch.maximum %torch#0, %torch#1 : !fx.tensor<bf16[3, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = pyfn.torch.nn.functional.layer_norm %x, [4], %v : !fx.tensor<bf16[3, 4], cpu>
  %d = pyfn.torch.nn.functional.layer_norm %y, [4], %v : !fx.tensor<bf16[3, 4], cpu>
  %s = pyfn.torch.maximum %a, %d : !fx.tensor<bf16[3, 4], cpu>
  fx.output (%s,)
}

// Another eps or dtype, other dims, no weight, a bias alone.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f64[3, 4], cpu>, %v : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.nn.functional.layer_norm %x, [4], %v : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %b = pyfn.torch.nn.functional.layer_norm %x, [4], %v, eps = 0.1 : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %c = pyfn.torch.nn.functional.layer_norm %y, [4] : !fx.tensor<f64[3, 4], cpu>
  // CHECK-NEXT: %d = pyfn.torch.nn.functional.layer_norm %x, [3, 4] : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %e = pyfn.torch.nn.functional.layer_norm %x, [4] : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: %f = pyfn.torch.nn.functional.layer_norm %x, [4], bias = %v : !fx.tensor<f32[3, 4], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d, %e, %f)
  %a = pyfn.torch.nn.functional.layer_norm %x, [4], %v : !fx.tensor<f32[3, 4], cpu>
  %b = pyfn.torch.nn.functional.layer_norm %x, [4], %v, eps = 0.1 : !fx.tensor<f32[3, 4], cpu>
  %c = pyfn.torch.nn.functional.layer_norm %y, [4] : !fx.tensor<f64[3, 4], cpu>
  %d = pyfn.torch.nn.functional.layer_norm %x, [3, 4] : !fx.tensor<f32[3, 4], cpu>
  %e = pyfn.torch.nn.functional.layer_norm %x, [4] : !fx.tensor<f32[3, 4], cpu>
  %f = pyfn.torch.nn.functional.layer_norm %x, [4], bias = %v : !fx.tensor<f32[3, 4], cpu>
  fx.output (%a, %b, %c, %d, %e, %f)
}
