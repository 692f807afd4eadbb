// RUN: xductor-opt %s --split-input-file --parsing-diagnostics | filecheck %s

// Each error has the file, the line and column in it, and what was expected.

fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %relu = aten.relux.default %x : !fx.tensor<f32[4], cpu>
  fx.output (%relu,)
}
// CHECK: 'aten::relux' is not registered

// -----

fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %y = elsewhere.op.default %x : !fx.tensor<f32[4], cpu>
  fx.output (%y,)
}
// CHECK: 'elsewhere::op' is not registered
// CHECK-SAME: import the package

// -----

fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4, cpu>) {
  fx.output (%x,)
}
