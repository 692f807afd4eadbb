// RUN: xductor-opt %s --load-pass-plugin %S/mutating_ops.py -p fuse_silu_and_mul_quantize,dead_code_elimination --verify-level types | filecheck %s

// CHECK-LABEL: fx.graph @forward
// CHECK-NEXT: %[[OUT:.*]] = aten.empty.memory_format [6, 16], dtype = i8
// CHECK-NEXT: higher_order.auto_functionalized_v2 fn<torch.ops.examples.silu_and_mul_quantize_into.default>, x = %x, scale = %scale, _out_base_index = 0, _all_bases = [%[[OUT]]]
// CHECK-NEXT: fx.output
fx.graph @forward stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 32], cpu>, %scale : !fx.tensor<f32[], cpu>) {
  %empty = aten.empty.memory_format [6, 16], dtype = f32, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<f32[6, 16], cpu>
  %gated#0, %gated#1 = higher_order.auto_functionalized_v2 fn<torch.ops.examples.silu_and_mul_into.default>, x = %x, _out_base_index = 0, _all_bases = [%empty] : !fx.none, !fx.tensor<f32[6, 16], cpu>
  %empty_1 = aten.empty.memory_format [6, 16], dtype = i8, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<i8[6, 16], cpu>
  %out#0, %out#1 = higher_order.auto_functionalized_v2 fn<torch.ops.examples.quantize_into.default>, x = %gated#1, scale = %scale, _out_base_index = 0, _all_bases = [%empty_1] : !fx.none, !fx.tensor<i8[6, 16], cpu>
  fx.output (%out#1,)
}
