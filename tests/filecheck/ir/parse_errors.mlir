// RUN: xductor-opt %s --split-input-file --parsing-diagnostics | filecheck %s

// Each error says where, and what was expected there.

fx.graph @undefined stage(joint) (%x : !fx.tensor<f32[4], cpu>) {
  %y = aten.add.Tensor %x, %z : !fx.tensor<f32[4], cpu>
  fx.output (%y,)
}
// CHECK: parse_errors.mlir:6:28
// CHECK: value %z is used before its definition

// -----

fx.graph @twice stage(joint) (%x : !fx.tensor<f32[4], cpu>) {
  %x = aten.relu.default %x : !fx.tensor<f32[4], cpu>
  fx.output (%x,)
}
// CHECK: the name %x is taken

// -----

fx.graph @type stage(joint) (%x : !fx.tensor<f7[4], cpu>) {
  fx.output (%x,)
}
// CHECK: 'f7' is no element type

// -----

fx.graph @paren stage(joint) (%x : !fx.tensor<f32[4], cpu> {
  fx.output (%x,)
}
// CHECK: expected ')', found '{'

// -----

fx.graph @argument stage(joint) (%x : !fx.tensor<f32[4], cpu>) {
  %y = aten.sum.dim_IntList %x, [0], keep = true : !fx.tensor<f32[1], cpu>
  fx.output (%y,)
}
// CHECK: aten.sum.dim_IntList has no argument 'keep'; it has: self, dim, keepdim, dtype
