// RUN: xductor-opt %s -p 'concat_linear_woq_int4{enable_concat_linear=true}' | filecheck %s

// In a text, constants have no elements; in a compile, the joined ones are computed.
// CHECK-LABEL: fx.graph @two
fx.graph @two stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<bf16[s0, 64], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<ui8[64, 32], cpu>
  // CHECK-NEXT: %vs = fx.get_attr "vs" : !fx.tensor<bf16[2, 64, 2], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<ui8[128, 32], cpu>
  // CHECK-NEXT: %ws = fx.get_attr "ws" : !fx.tensor<bf16[2, 128, 2], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%v, %w] : !fx.tensor<ui8[192, 32], cpu>
  // CHECK-NEXT: %cat_1 = aten.cat.default [%vs, %ws], 1 : !fx.tensor<bf16[2, 192, 2], cpu>
  // CHECK-NEXT: %_weight_int4pack_mm_for_cpu = aten._weight_int4pack_mm_for_cpu.default %x, %cat, 32, %cat_1 : !fx.tensor<bf16[s0, 192], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %_weight_int4pack_mm_for_cpu, 1, 0, 64 : !fx.tensor<bf16[s0, 64][192, 1], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %_weight_int4pack_mm_for_cpu, 1, 64, 192 : !fx.tensor<bf16[s0, 128][192, 1], cpu, offset 64>
  // CHECK-NEXT: %b = aten.relu.default %slice : !fx.tensor<bf16[s0, 64], cpu>
  // CHECK-NEXT: %d = aten.relu.default %slice_1 : !fx.tensor<bf16[s0, 128], cpu>
  // CHECK-NEXT: fx.output (%b, %d)
  %v = fx.get_attr "v" : !fx.tensor<ui8[64, 32], cpu>
  %vs = fx.get_attr "vs" : !fx.tensor<bf16[2, 64, 2], cpu>
  %w = fx.get_attr "w" : !fx.tensor<ui8[128, 32], cpu>
  %ws = fx.get_attr "ws" : !fx.tensor<bf16[2, 128, 2], cpu>
  %a = aten._weight_int4pack_mm_for_cpu.default %x, %v, 32, %vs : !fx.tensor<bf16[s0, 64], cpu>
  %b = aten.relu.default %a : !fx.tensor<bf16[s0, 64], cpu>
  %c = aten._weight_int4pack_mm_for_cpu.default %x, %w, 32, %ws : !fx.tensor<bf16[s0, 128], cpu>
  %d = aten.relu.default %c : !fx.tensor<bf16[s0, 128], cpu>
  fx.output (%b, %d)
}

// Part of a block of rows; groups of another size.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<bf16[4, 64], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<ui8[64, 32], cpu>
  // CHECK-NEXT: %vs = fx.get_attr "vs" : !fx.tensor<bf16[2, 64, 2], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<ui8[16, 32], cpu>
  // CHECK-NEXT: %ws = fx.get_attr "ws" : !fx.tensor<bf16[2, 16, 2], cpu>
  // CHECK-NEXT: %u = fx.get_attr "u" : !fx.tensor<ui8[64, 32], cpu>
  // CHECK-NEXT: %us = fx.get_attr "us" : !fx.tensor<bf16[1, 64, 2], cpu>
  // CHECK-NEXT: %a = aten._weight_int4pack_mm_for_cpu.default %x, %v, 32, %vs : !fx.tensor<bf16[4, 64], cpu>
  // CHECK-NEXT: %b = aten._weight_int4pack_mm_for_cpu.default %x, %w, 32, %ws : !fx.tensor<bf16[4, 16], cpu>
  // CHECK-NEXT: %c = aten._weight_int4pack_mm_for_cpu.default %x, %u, 64, %us : !fx.tensor<bf16[4, 64], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c)
  %v = fx.get_attr "v" : !fx.tensor<ui8[64, 32], cpu>
  %vs = fx.get_attr "vs" : !fx.tensor<bf16[2, 64, 2], cpu>
  %w = fx.get_attr "w" : !fx.tensor<ui8[16, 32], cpu>
  %ws = fx.get_attr "ws" : !fx.tensor<bf16[2, 16, 2], cpu>
  %u = fx.get_attr "u" : !fx.tensor<ui8[64, 32], cpu>
  %us = fx.get_attr "us" : !fx.tensor<bf16[1, 64, 2], cpu>
  %a = aten._weight_int4pack_mm_for_cpu.default %x, %v, 32, %vs : !fx.tensor<bf16[4, 64], cpu>
  %b = aten._weight_int4pack_mm_for_cpu.default %x, %w, 32, %ws : !fx.tensor<bf16[4, 16], cpu>
  %c = aten._weight_int4pack_mm_for_cpu.default %x, %u, 64, %us : !fx.tensor<bf16[4, 64], cpu>
  fx.output (%a, %b, %c)
}
