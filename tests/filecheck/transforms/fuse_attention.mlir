// RUN: xductor-opt %s -p fuse_attention | filecheck %s

// CHECK-LABEL: fx.graph @causal
fx.graph @causal stage(pre_grad) ambient(grad false) (%k : !fx.tensor<f32[2, 4, 8, 16], cpu>, %q : !fx.tensor<f32[2, 4, 8, 16], cpu>, %v : !fx.tensor<f32[2, 4, 8, 16], cpu>) {
  // CHECK-NEXT: pyfn.torch.nn.functional.scaled_dot_product_attention %q, %k, %v, is_causal = true, scale = 0.25
  %ones = pyfn.torch.ones 8, 8, dtype = i1 : !fx.tensor<i1[8, 8], cpu>
  %keep = method.tril %ones : !fx.tensor<i1[8, 8], cpu>
  %transpose = method.transpose %k, -2, -1 : !fx.tensor<f32[2, 4, 16, 8][512, 128, 1, 16], cpu> aliases(0)
  %matmul = pyfn._operator.matmul %q, %transpose : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %s = pyfn._operator.mul %matmul, 0.25 : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %invert = pyfn._operator.invert %keep : !fx.tensor<i1[8, 8], cpu>
  %masked_fill = method.masked_fill %s, %invert, -inf : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %softmax = pyfn.torch.softmax %masked_fill, -1 : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %matmul_1 = pyfn._operator.matmul %softmax, %v : !fx.tensor<f32[2, 4, 8, 16], cpu>
  // CHECK-NEXT: method.transpose
  %transpose_1 = method.transpose %matmul_1, 1, 2 : !fx.tensor<f32[2, 8, 4, 16][512, 16, 128, 1], cpu> aliases(0)
  // CHECK-NEXT: %reshape = method.reshape
  %reshape = method.reshape %transpose_1, 2, 8, 64 : !fx.tensor<f32[2, 8, 64], cpu>
  fx.output (%reshape,)
}

// A softmax over rows.
// CHECK-LABEL: fx.graph @rows
fx.graph @rows stage(pre_grad) ambient(grad false) (%k : !fx.tensor<f32[2, 4, 8, 16], cpu>, %q : !fx.tensor<f32[2, 4, 8, 16], cpu>, %v : !fx.tensor<f32[2, 4, 8, 16], cpu>) {
  // CHECK-NOT: scaled_dot_product_attention
  %transpose = method.transpose %k, -2, -1 : !fx.tensor<f32[2, 4, 16, 8][512, 128, 1, 16], cpu> aliases(0)
  %matmul = pyfn._operator.matmul %q, %transpose : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %mul = pyfn._operator.mul %matmul, 0.25 : !fx.tensor<f32[2, 4, 8, 8], cpu>
  // CHECK: pyfn.torch.softmax
  %softmax = pyfn.torch.softmax %mul, -2 : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %matmul_1 = pyfn._operator.matmul %softmax, %v : !fx.tensor<f32[2, 4, 8, 16], cpu>
  fx.output (%matmul_1,)
}

// Probabilities that a cast quantises.
// CHECK-LABEL: fx.graph @quantised
fx.graph @quantised stage(pre_grad) ambient(grad false) (%k : !fx.tensor<f32[2, 4, 8, 16], cpu>, %q : !fx.tensor<f32[2, 4, 8, 16], cpu>, %v : !fx.tensor<f32[2, 4, 8, 16], cpu>) {
  // CHECK-NOT: scaled_dot_product_attention
  %transpose = method.transpose %k, -2, -1 : !fx.tensor<f32[2, 4, 16, 8][512, 128, 1, 16], cpu> aliases(0)
  %matmul = pyfn._operator.matmul %q, %transpose : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %softmax = pyfn.torch.softmax %matmul, -1 : !fx.tensor<f32[2, 4, 8, 8], cpu>
  // CHECK: method.bfloat16
  %narrow = method.bfloat16 %softmax : !fx.tensor<bf16[2, 4, 8, 8], cpu>
  %wide = method.float %narrow : !fx.tensor<f32[2, 4, 8, 8], cpu>
  %matmul_1 = pyfn._operator.matmul %wide, %v : !fx.tensor<f32[2, 4, 8, 16], cpu>
  fx.output (%matmul_1,)
}
