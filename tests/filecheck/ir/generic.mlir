// RUN: xductor-opt %s | filecheck %s
// RUN: xductor-opt %s --print-op-generic | xductor-opt | filecheck %s
// RUN: xductor-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Both formats say the same, and the generic one carries names, metadata and locations.

// CHECK: fx.graph @forward stage(joint) symbols(s0 : int positive [2, int_oo] hint 16) (%x : !fx.tensor<f32[s0, 4], cpu>) {
fx.graph @forward stage(joint) symbols(s0 : int positive [2, int_oo] hint 16) (%x : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %add = aten.add.Tensor %x, 1.0, alpha = 2 : !fx.tensor<f32[s0, 4], cpu> {tag = "is_forward"} loc("model.py":7)
  // GENERIC: "aten.add.Tensor"(%0) <{args = #fx.args<%0, 1.0, 2>}> {node = #fx.node<"add" : "add" {tag = "is_forward"} loc("model.py":7)>}
  %add = aten.add.Tensor %x, 1.0, alpha = 2 : !fx.tensor<f32[s0, 4], cpu> {tag = "is_forward"} loc("model.py":7)
  // CHECK-NEXT: %a, %split#1 = aten.split.Tensor %add, 2, 1
  %a, %split#1 = "aten.split.Tensor"(%add) <{args = #fx.args<%0, 2, 1>}> {node = #fx.node<"a", "" : "split">} : (!fx.tensor<f32[s0, 4], cpu>) -> (!fx.tensor<f32[s0, 2][4, 1], cpu>, !fx.tensor<f32[s0, 2][4, 1], cpu, offset 2>)
  // CHECK-NEXT: %weird = "module.a-b" %a, true, none : !fx.none
  %weird = "module.a-b" %a, true, none : !fx.none
  // CHECK-NEXT: fx.output (%a, none)
  fx.output (%a, none)
}
