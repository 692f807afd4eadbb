// RUN: xductor-opt %s --disable-verify -p stable_topological_sort | xductor-opt | filecheck %s
// RUN: not xductor-opt %s 2>&1 | filecheck %s --check-prefix=UNSORTED

// Only the generic format can use a value before it is defined.
// UNSORTED: operand 0 is defined after this op

// %c waits for %b, which waits for %a; what does not wait keeps its place.
// CHECK-LABEL: fx.graph @unsorted
// CHECK-NEXT: %first = aten.exp.default %x
// CHECK-NEXT: %a = aten.sin.default %x
// CHECK-NEXT: %b = aten.cos.default %a
// CHECK-NEXT: %c = aten.add.Tensor %b, %first
// CHECK-NEXT: %last = aten.neg.default %x
// CHECK-NEXT: fx.output (%c, %last)
"fx.graph"() <{sym_name = "unsorted", stage = "joint", symbols = #fx.symbols<symbols()>, ambient = #fx.ambient<>}> ({
^bb0(%x: !fx.tensor<f32[4], cpu>):
  %first = "aten.exp.default"(%x) <{args = #fx.args<%0>}> {node = #fx.node<"first" : "first">} : (!fx.tensor<f32[4], cpu>) -> !fx.tensor<f32[4], cpu>
  %c = "aten.add.Tensor"(%b, %first) <{args = #fx.args<%0, %1, 1>}> {node = #fx.node<"c" : "c">} : (!fx.tensor<f32[4], cpu>, !fx.tensor<f32[4], cpu>) -> !fx.tensor<f32[4], cpu>
  %b = "aten.cos.default"(%a) <{args = #fx.args<%0>}> {node = #fx.node<"b" : "b">} : (!fx.tensor<f32[4], cpu>) -> !fx.tensor<f32[4], cpu>
  %a = "aten.sin.default"(%x) <{args = #fx.args<%0>}> {node = #fx.node<"a" : "a">} : (!fx.tensor<f32[4], cpu>) -> !fx.tensor<f32[4], cpu>
  %last = "aten.neg.default"(%x) <{args = #fx.args<%0>}> {node = #fx.node<"last" : "last">} : (!fx.tensor<f32[4], cpu>) -> !fx.tensor<f32[4], cpu>
  "fx.output"(%c, %last) <{args = #fx.args<((%0, %1),), ()>}> {node = #fx.node< : "output">} : (!fx.tensor<f32[4], cpu>, !fx.tensor<f32[4], cpu>) -> ()
}) {node = #fx.node<"x">} : () -> ()

// CHECK-LABEL: fx.graph @sorted
fx.graph @sorted stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %b = aten.cos.default %x
  %b = aten.cos.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: %a = aten.sin.default %x
  %a = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%a, %b)
  fx.output (%a, %b)
}
