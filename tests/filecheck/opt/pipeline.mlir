// RUN: xductor-opt %s | filecheck %s --check-prefixes=BOTH,PARSED
// RUN: xductor-opt %s -p dce | filecheck %s --check-prefixes=BOTH,DCE
// RUN: xductor-opt %s -p cse | filecheck %s --check-prefixes=BOTH,CSE
// RUN: xductor-opt %s | xductor-opt --verify-level types | filecheck %s --check-prefixes=BOTH,PARSED
// RUN: xductor-opt %s --print-op-generic | xductor-opt | filecheck %s --check-prefixes=BOTH,PARSED
// RUN: not xductor-opt %s -p dcee 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not xductor-opt %s -p 'cse{size=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not xductor-opt %S/none.mlir 2>&1 | filecheck %s --check-prefix=MISSING

// BOTH-LABEL: fx.graph @forward
fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // PARSED: %unused = aten.neg.default
  // DCE-NOT: aten.neg.default
  %unused = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // BOTH: %left = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  %left = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  // CSE-NOT: aten.sin.default
  %right = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  // Two draws are not one.
  // BOTH: %a = aten.rand_like.default
  %a = aten.rand_like.default %x : !fx.tensor<f32[4], cpu>
  // BOTH: %b = aten.rand_like.default
  %b = aten.rand_like.default %x : !fx.tensor<f32[4], cpu>
  // PARSED: %sum = aten.add.Tensor %left, %right
  // DCE: %sum = aten.add.Tensor %left, %right
  // CSE: %sum = aten.add.Tensor %left, %left
  %sum = aten.add.Tensor %left, %right : !fx.tensor<f32[4], cpu>
  // BOTH: fx.output (%sum, %a, %b)
  fx.output (%sum, %a, %b)
}

// Two results that the caller sees are two tensors: merging them would make them aliases.
// BOTH-LABEL: fx.graph @twice
fx.graph @twice stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // BOTH: %first = aten.sin.default
  %first = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  // BOTH: %second = aten.sin.default
  %second = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  // BOTH: fx.output (%first, %second)
  fx.output (%first, %second)
}

// UNKNOWN: no pass is called 'dcee'; did you mean 'dce'?
// OPTION: "size"
// MISSING: none.mlir: No such file or directory
