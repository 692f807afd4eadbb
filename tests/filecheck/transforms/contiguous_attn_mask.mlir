// RUN: xductor-opt %s -p contiguous_attn_mask | filecheck %s

// A position bias that was looked up with the heads last.
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%q : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>, %k : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>, %v : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>, %bias : !fx.tensor<bf16[1, 16, 512, 512][16, 1, 8192, 16], cuda:0>) {
  // CHECK-NEXT: %torch = pyfn.torch.clone %bias, memory_format = memory_format<contiguous_format> : !fx.tensor<bf16[1, 16, 512, 512], cuda:0>
  // CHECK-NEXT: %_nn = pyfn.torch._C._nn.scaled_dot_product_attention %q, %k, %v, %torch, scale = 1.0 : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  // CHECK-NEXT: %torch_1 = pyfn.torch.clone %_nn, memory_format = memory_format<contiguous_format> : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  // CHECK-NEXT: fx.output (%torch_1,)
  %y = pyfn.torch._C._nn.scaled_dot_product_attention %q, %k, %v, attn_mask = %bias, scale = 1.0 : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  fx.output (%y)
}

// CHECK-LABEL: fx.graph @dropout
fx.graph @dropout stage(pre_grad) symbols() (%q : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>, %k : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>, %v : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>, %bias : !fx.tensor<bf16[1, 16, 512, 512][16, 1, 8192, 16], cuda:0>) {
  // CHECK-NEXT: %torch = pyfn.torch.clone %bias, memory_format = memory_format<contiguous_format> : !fx.tensor<bf16[1, 16, 512, 512], cuda:0>
  // CHECK-NEXT: %_nn = pyfn.torch._C._nn.scaled_dot_product_attention %q, %k, %v, %torch, 0.1 : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  // CHECK-NEXT: %torch_1 = pyfn.torch.clone %_nn, memory_format = memory_format<contiguous_format> : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  // CHECK-NEXT: fx.output (%torch_1,)
  %y = pyfn.torch._C._nn.scaled_dot_product_attention %q, %k, %v, attn_mask = %bias, dropout_p = 0.1 : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  fx.output (%y)
}

// A contiguous mask, float32 without tf32, a head of 60, and a CPU.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%q : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>, %m : !fx.tensor<bf16[1, 16, 512, 512], cuda:0>, %s : !fx.tensor<f32[8, 16, 512, 64], cuda:0>, %n : !fx.tensor<f32[1, 16, 512, 512][16, 1, 8192, 16], cuda:0>, %t : !fx.tensor<bf16[8, 16, 512, 60], cuda:0>, %o : !fx.tensor<bf16[1, 16, 512, 512][16, 1, 8192, 16], cuda:0>, %u : !fx.tensor<bf16[8, 16, 512, 64], cpu>, %p : !fx.tensor<bf16[1, 16, 512, 512][16, 1, 8192, 16], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch._C._nn.scaled_dot_product_attention %q, %q, %q, attn_mask = %m : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  // CHECK-NEXT: %b = pyfn.torch._C._nn.scaled_dot_product_attention %s, %s, %s, attn_mask = %n : !fx.tensor<f32[8, 16, 512, 64], cuda:0>
  // CHECK-NEXT: %c = pyfn.torch._C._nn.scaled_dot_product_attention %t, %t, %t, attn_mask = %o : !fx.tensor<bf16[8, 16, 512, 60], cuda:0>
  // CHECK-NEXT: %d = pyfn.torch._C._nn.scaled_dot_product_attention %u, %u, %u, attn_mask = %p : !fx.tensor<bf16[8, 16, 512, 64], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c, %d)
  %a = pyfn.torch._C._nn.scaled_dot_product_attention %q, %q, %q, attn_mask = %m : !fx.tensor<bf16[8, 16, 512, 64], cuda:0>
  %b = pyfn.torch._C._nn.scaled_dot_product_attention %s, %s, %s, attn_mask = %n : !fx.tensor<f32[8, 16, 512, 64], cuda:0>
  %c = pyfn.torch._C._nn.scaled_dot_product_attention %t, %t, %t, attn_mask = %o : !fx.tensor<bf16[8, 16, 512, 60], cuda:0>
  %d = pyfn.torch._C._nn.scaled_dot_product_attention %u, %u, %u, attn_mask = %p : !fx.tensor<bf16[8, 16, 512, 64], cpu>
  fx.output (%a, %b, %c, %d)
}
