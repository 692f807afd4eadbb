// What `xductor.check` says of the graph that the wrong pass leaves, as text.
// RUN: not xductor-opt %s --verify-level types 2>&1 | filecheck %s

// CHECK: fx_pass.mlir:{{[0-9]+}}:3: aten.log1p.default (node log1p): the recorded type is not what the op gives
// CHECK-NEXT: expected: !fx.tensor<f32[8], cpu> (inferred)
// CHECK-NEXT: found:    !fx.tensor<i64[8], cpu> (recorded)
fx.graph @forward stage(post_grad) symbols() (%n : !fx.tensor<i64[8], cpu>) {
  %log1p = aten.log1p.default %n : !fx.tensor<i64[8], cpu>
  fx.output (%log1p,)
}
