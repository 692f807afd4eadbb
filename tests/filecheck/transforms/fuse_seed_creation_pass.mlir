// RUN: xductor-opt %s -p fuse_seed_creation_pass | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() () {
  // CHECK-NEXT: %inductor_seeds = prims.inductor_seeds.default 2, device<cpu> : !fx.tensor<i64[2], cpu>
  // CHECK-NEXT: %s = prims.inductor_lookup_seed.default %inductor_seeds, 0 : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %a = prims.inductor_random.default [4], %s, "rand" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %inductor_seeds_1 = prims.inductor_seeds.default 1, device<cuda:0> : !fx.tensor<i64[1], cuda:0>
  // CHECK-NEXT: %t = prims.inductor_lookup_seed.default %inductor_seeds_1, 0 : !fx.tensor<i64[], cuda:0>
  // CHECK-NEXT: %b = prims.inductor_random.default [4], %t, "randn" : !fx.tensor<f32[4], cuda:0>
  // CHECK-NEXT: %u = prims.inductor_lookup_seed.default %inductor_seeds, 1 : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %c = prims.inductor_random.default [4], %u, "randn" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b, %c)
  %s = prims.inductor_seed.default device<cpu> : !fx.tensor<i64[], cpu>
  %a = prims.inductor_random.default [4], %s, "rand" : !fx.tensor<f32[4], cpu>
  %t = prims.inductor_seed.default device<cuda:0> : !fx.tensor<i64[], cuda:0>
  %b = prims.inductor_random.default [4], %t, "randn" : !fx.tensor<f32[4], cuda:0>
  %u = prims.inductor_seed.default device<cpu> : !fx.tensor<i64[], cpu>
  %c = prims.inductor_random.default [4], %u, "randn" : !fx.tensor<f32[4], cpu>
  fx.output (%a, %b, %c)
}

// Seeds that are read already.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%seeds : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %s = prims.inductor_lookup_seed.default %seeds, 1 : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %a = prims.inductor_random.default [4], %s, "rand" : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%a,)
  %s = prims.inductor_lookup_seed.default %seeds, 1 : !fx.tensor<i64[], cpu>
  %a = prims.inductor_random.default [4], %s, "rand" : !fx.tensor<f32[4], cpu>
  fx.output (%a,)
}
