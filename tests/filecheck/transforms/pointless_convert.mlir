// RUN: xductor-opt %s -p pointless_convert | filecheck %s --check-prefixes=CHECK,EXACT
// RUN: xductor-opt %s -p 'pointless_convert{policy="strict"}' | filecheck %s --check-prefixes=CHECK,EXACT
// RUN: xductor-opt %s -p 'pointless_convert{policy="fast"}' | filecheck %s --check-prefixes=CHECK,FAST
// RUN: xductor-opt %s -p 'pointless_convert{policy="fast" emulate_precision_casts=true}' | filecheck %s --check-prefixes=CHECK,EXACT

// bf16 is part of f32.
// CHECK-LABEL: fx.graph @widens
fx.graph @widens stage(joint) symbols() (%x : !fx.tensor<bf16[4], cpu>) {
  // CHECK-NEXT: %b = prims.convert_element_type.default %x, f16 : !fx.tensor<f16[4], cpu> {tag = "is_backward"}
  %a = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[4], cpu>
  %b = prims.convert_element_type.default %a, f16 : !fx.tensor<f16[4], cpu> {tag = "is_backward"}
  fx.output (%b,)
}

// The cast in the middle rounds.
// CHECK-LABEL: fx.graph @rounds
fx.graph @rounds stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // EXACT-NEXT: %a = prims.convert_element_type.default %x, bf16
  // EXACT-NEXT: %b = prims.convert_element_type.default %a, f16
  // FAST-NEXT: %b = prims.convert_element_type.default %x, f16
  %a = prims.convert_element_type.default %x, bf16 : !fx.tensor<bf16[4], cpu>
  %b = prims.convert_element_type.default %a, f16 : !fx.tensor<f16[4], cpu>
  fx.output (%b,)
}

// The cast in the middle is used elsewhere, is cheaper to keep, or is no float's.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<bf16[4], cpu>) {
  // CHECK-NEXT: %a = prims.convert_element_type.default %x, f32
  %a = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %b = prims.convert_element_type.default %a, f16
  %b = prims.convert_element_type.default %a, f16 : !fx.tensor<f16[4], cpu>
  // CHECK-NEXT: %c = prims.convert_element_type.default %x, f32
  %c = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %d = prims.convert_element_type.default %c, f64
  %d = prims.convert_element_type.default %c, f64 : !fx.tensor<f64[4], cpu>
  // CHECK-NEXT: %e = prims.convert_element_type.default %x, i64
  %e = prims.convert_element_type.default %x, i64 : !fx.tensor<i64[4], cpu>
  // CHECK-NEXT: %f = prims.convert_element_type.default %e, f32
  %f = prims.convert_element_type.default %e, f32 : !fx.tensor<f32[4], cpu>
  fx.output (%a, %b, %d, %f)
}

// The second cast reads what the write left; the first did not.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(post_grad) symbols() (%x : !fx.tensor<bf16[4], cpu>) {
  // CHECK-NEXT: %a = prims.convert_element_type.default %x, f32
  %a = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[4], cpu>
  %w = aten.fill_.Scalar %x, 2 : !fx.tensor<bf16[4], cpu>
  // CHECK: %b = prims.convert_element_type.default %a, f16
  %b = prims.convert_element_type.default %a, f16 : !fx.tensor<f16[4], cpu>
  fx.output (%b,)
}
