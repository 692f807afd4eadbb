// RUN: xductor-opt %s --verify-level structure | filecheck %s
// RUN: not xductor-opt %s --verify-level types 2>&1 | filecheck %s --check-prefix=TYPES
// RUN: xductor-opt %s --verify-level types --verify-diagnostics | filecheck %s --check-prefix=TYPES
// RUN: xductor-opt %s --verify-level types --disable-verify | filecheck %s

// CHECK: fx.graph @forward
// CHECK: %sin = aten.sin.default %x : !fx.tensor<f64[4], cpu>
// TYPES: aten.sin.default (node sin)
// TYPES: expected: !fx.tensor<f32[4], cpu>
// TYPES: found: {{ *}}!fx.tensor<f64[4], cpu>
// TYPES: model.py:7
fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %sin = aten.sin.default %x : !fx.tensor<f64[4], cpu> loc("model.py":7)
  fx.output (%sin,)
}
