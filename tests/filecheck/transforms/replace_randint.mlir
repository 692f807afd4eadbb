// RUN: xductor-opt %s -p replace_randint | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() () {
  // CHECK-NEXT: %inductor_seed = prims.inductor_seed.default device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %a = prims.inductor_randint.default 2, 9, [4], %inductor_seed : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %inductor_seed_1 = prims.inductor_seed.default device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %inductor_randint = prims.inductor_randint.default 2, 9, [4], %inductor_seed_1 : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %b = prims.convert_element_type.default %inductor_randint, i32 : !fx.tensor<i32[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %a = aten.randint.low 2, 9, [4], dtype = i64, device = device<cpu>, pin_memory = false : !fx.tensor<i64[4], cpu>
  %b = aten.randint.low 2, 9, [4], dtype = i32, device = device<cpu>, pin_memory = false : !fx.tensor<i32[4], cpu>
  fx.output (%a, %b)
}

// Pinned memory; numbers that are no integers.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() () {
  // CHECK-NEXT: %a = aten.randint.low 2, 9, [4], dtype = i64, device = device<cpu>, pin_memory = true : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %b = aten.rand.default [4], dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %a = aten.randint.low 2, 9, [4], dtype = i64, device = device<cpu>, pin_memory = true : !fx.tensor<i64[4], cpu>
  %b = aten.rand.default [4], dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4], cpu>
  fx.output (%a, %b)
}
