// RUN: xductor-opt %s -p cond_to_where --split-input-file --verify-level types | filecheck %s

// Both branches, and a choice.
builtin.module {
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%p : !fx.tensor<i1[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %sin = aten.sin.default %x : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %neg = aten.neg.default %x : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %cos = aten.cos.default %x : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %full = aten.full.default [3], 1.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %where = aten.where.self %p, %sin, %cos : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %where_1 = aten.where.self %p, %neg, %full : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%where, %where_1)
  %a, %b = higher_order.cond %p, @yes, @no, (%x,) : !fx.tensor<f32[3], cpu>, !fx.tensor<f32[3], cpu> as (*, *) {node = "cond"}
  fx.output (%a, %b)
}
fx.graph @yes stage(joint) symbols() (%x : !fx.tensor<f32[3], cpu>) {
  %sin = aten.sin.default %x : !fx.tensor<f32[3], cpu>
  %neg = aten.neg.default %x : !fx.tensor<f32[3], cpu>
  fx.output (%sin, %neg)
}
fx.graph @no stage(joint) symbols() (%x : !fx.tensor<f32[3], cpu>) {
  %cos = aten.cos.default %x : !fx.tensor<f32[3], cpu>
  %full = aten.full.default [3], 1.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[3], cpu>
  fx.output (%cos, %full)
}
}

// -----

// The predicate may have dims of size one.
builtin.module {
// CHECK-LABEL: fx.graph @one
fx.graph @one stage(joint) symbols(s0 : int positive [2, int_oo] hint 5) (%p : !fx.tensor<i1[1], cpu>, %x : !fx.tensor<f32[s0], cpu>) {
  // CHECK-NEXT: %view = aten.view.default %p, [] : !fx.tensor<i1[], cpu>
  // CHECK-NEXT: %sin = aten.sin.default %x : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %cos = aten.cos.default %x : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %where = aten.where.self %view, %sin, %cos : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: fx.output (%where,)
  %a = higher_order.cond %p, @sine, @cosine, (%x,) : !fx.tensor<f32[s0], cpu> as (*,) {node = "cond"}
  fx.output (%a,)
}
fx.graph @sine stage(joint) symbols(s7 : int positive [2, int_oo] hint 5) (%x : !fx.tensor<f32[s7], cpu>) {
  %sin = aten.sin.default %x : !fx.tensor<f32[s7], cpu>
  fx.output (%sin,)
}
fx.graph @cosine stage(joint) symbols(s7 : int positive [2, int_oo] hint 5) (%x : !fx.tensor<f32[s7], cpu>) {
  %cos = aten.cos.default %x : !fx.tensor<f32[s7], cpu>
  fx.output (%cos,)
}
}

// -----

// A product takes longer than a choice saves.
builtin.module {
// CHECK-LABEL: fx.graph @product
fx.graph @product stage(joint) symbols() (%p : !fx.tensor<i1[], cpu>, %x : !fx.tensor<f32[3, 3], cpu>) {
  // CHECK-NEXT: %a = higher_order.cond %p, @times, @plus, (%x,) : !fx.tensor<f32[3, 3], cpu> as (*,) {node = "cond"}
  // CHECK-NEXT: fx.output (%a,)
  %a = higher_order.cond %p, @times, @plus, (%x,) : !fx.tensor<f32[3, 3], cpu> as (*,) {node = "cond"}
  fx.output (%a,)
}
fx.graph @times stage(joint) symbols() (%x : !fx.tensor<f32[3, 3], cpu>) {
  %mm = aten.mm.default %x, %x : !fx.tensor<f32[3, 3], cpu>
  fx.output (%mm,)
}
fx.graph @plus stage(joint) symbols() (%x : !fx.tensor<f32[3, 3], cpu>) {
  %add = aten.add.Tensor %x, %x : !fx.tensor<f32[3, 3], cpu>
  fx.output (%add,)
}
}

// -----

// A division of whole numbers may raise, and only the branch that is taken may.
builtin.module {
// CHECK-LABEL: fx.graph @raises
fx.graph @raises stage(joint) symbols() (%p : !fx.tensor<i1[], cpu>, %x : !fx.tensor<i64[3], cpu>) {
  // CHECK-NEXT: %a = higher_order.cond %p, @divide, @keep, (%x,) : !fx.tensor<i64[3], cpu> as (*,) {node = "cond"}
  // CHECK-NEXT: fx.output (%a,)
  %a = higher_order.cond %p, @divide, @keep, (%x,) : !fx.tensor<i64[3], cpu> as (*,) {node = "cond"}
  fx.output (%a,)
}
fx.graph @divide stage(joint) symbols() (%x : !fx.tensor<i64[3], cpu>) {
  %full = aten.full.default [3], 7, dtype = i64, device = device<cpu> : !fx.tensor<i64[3], cpu>
  %remainder = aten.remainder.Tensor %full, %x : !fx.tensor<i64[3], cpu>
  fx.output (%remainder,)
}
fx.graph @keep stage(joint) symbols() (%x : !fx.tensor<i64[3], cpu>) {
  %clone = aten.clone.default %x : !fx.tensor<i64[3], cpu>
  fx.output (%clone,)
}
}

// -----

// On a CPU a large branch that is not taken takes longer than a call of the branch that is.
builtin.module {
// CHECK-LABEL: fx.graph @large
fx.graph @large stage(joint) symbols() (%p : !fx.tensor<i1[], cpu>, %x : !fx.tensor<f32[1000000], cpu>) {
  // CHECK-NEXT: %a = higher_order.cond %p, @minus, @relu, (%x,) : !fx.tensor<f32[1000000], cpu> as (*,) {node = "cond"}
  // CHECK-NEXT: fx.output (%a,)
  %a = higher_order.cond %p, @minus, @relu, (%x,) : !fx.tensor<f32[1000000], cpu> as (*,) {node = "cond"}
  fx.output (%a,)
}
fx.graph @minus stage(joint) symbols() (%x : !fx.tensor<f32[1000000], cpu>) {
  %neg = aten.neg.default %x : !fx.tensor<f32[1000000], cpu>
  fx.output (%neg,)
}
fx.graph @relu stage(joint) symbols() (%x : !fx.tensor<f32[1000000], cpu>) {
  %relu = aten.relu.default %x : !fx.tensor<f32[1000000], cpu>
  fx.output (%relu,)
}
}

// -----

// A GPU would be waited for, unless the predicate is on the CPU.
builtin.module {
// CHECK-LABEL: fx.graph @gpu
fx.graph @gpu stage(joint) symbols() (%p : !fx.tensor<i1[], cuda:0>, %q : !fx.tensor<i1[], cpu>, %x : !fx.tensor<f32[1000000], cuda:0>) {
  // CHECK-NEXT: %neg = aten.neg.default %x : !fx.tensor<f32[1000000], cuda:0>
  // CHECK-NEXT: %relu = aten.relu.default %x : !fx.tensor<f32[1000000], cuda:0>
  // CHECK-NEXT: %where = aten.where.self %p, %neg, %relu : !fx.tensor<f32[1000000], cuda:0>
  // CHECK-NEXT: %b = higher_order.cond %q, @minus, @relu, (%x,) : !fx.tensor<f32[1000000], cuda:0> as (*,) {node = "cond_1"}
  // CHECK-NEXT: fx.output (%where, %b)
  %a = higher_order.cond %p, @minus, @relu, (%x,) : !fx.tensor<f32[1000000], cuda:0> as (*,) {node = "cond"}
  %b = higher_order.cond %q, @minus, @relu, (%x,) : !fx.tensor<f32[1000000], cuda:0> as (*,) {node = "cond_1"}
  fx.output (%a, %b)
}
fx.graph @minus stage(joint) symbols() (%x : !fx.tensor<f32[1000000], cuda:0>) {
  %neg = aten.neg.default %x : !fx.tensor<f32[1000000], cuda:0>
  fx.output (%neg,)
}
fx.graph @relu stage(joint) symbols() (%x : !fx.tensor<f32[1000000], cuda:0>) {
  %relu = aten.relu.default %x : !fx.tensor<f32[1000000], cuda:0>
  fx.output (%relu,)
}
}
