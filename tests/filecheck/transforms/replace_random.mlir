// RUN: xductor-opt %s -p replace_random | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() () {
  // CHECK-NEXT: %inductor_seed = prims.inductor_seed.default device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %a = prims.inductor_random.default [4], %inductor_seed, "rand" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %inductor_seed_1 = prims.inductor_seed.default device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %inductor_random = prims.inductor_random.default [4], %inductor_seed_1, "randn" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %b = prims.convert_element_type.default %inductor_random, bf16 : !fx.tensor<bf16[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %a = aten.rand.default [4], dtype = f32, device = device<cpu>, pin_memory = false : !fx.tensor<f32[4], cpu>
  %b = aten.randn.default [4], dtype = bf16, device = device<cpu>, pin_memory = false : !fx.tensor<bf16[4], cpu>
  fx.output (%a, %b)
}

// A dtype without code; pinned memory.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() () {
  // CHECK-NEXT: %a = aten.rand.default [4], dtype = complex<f32>, device = device<cpu>, pin_memory = false : !fx.tensor<complex<f32>[4], cpu>
  // CHECK-NEXT: %b = aten.rand.default [4], dtype = f32, device = device<cpu>, pin_memory = true : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  %a = aten.rand.default [4], dtype = complex<f32>, device = device<cpu>, pin_memory = false : !fx.tensor<complex<f32>[4], cpu>
  %b = aten.rand.default [4], dtype = f32, device = device<cpu>, pin_memory = true : !fx.tensor<f32[4], cpu>
  fx.output (%a, %b)
}
