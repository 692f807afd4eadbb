// RUN: xductor-opt %s -p unroll_while_loop --split-input-file --verify-level types | filecheck %s

// The body is repeated. What it computes from nothing else than what all trips share is computed once.
builtin.module {
// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[3], cpu>, %w : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %exp = aten.exp.default %w : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x, %exp : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %mul, %exp : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %mul_1, %exp : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%mul_2,)
  %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  %n, %r = higher_order.while_loop @goes_on, @body, (%i, %x), (%w,) : !fx.tensor<i64[], cpu>, !fx.tensor<f32[3], cpu> as (*, *) {node = "loop"}
  fx.output (%r,)
}
fx.graph @goes_on stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>, %w : !fx.tensor<f32[3], cpu>) {
  %lt = aten.lt.Scalar %i, 3 : !fx.tensor<i1[], cpu>
  fx.output %lt
}
fx.graph @body stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>, %w : !fx.tensor<f32[3], cpu>) {
  %exp = aten.exp.default %w : !fx.tensor<f32[3], cpu>
  %mul = aten.mul.Tensor %x, %exp : !fx.tensor<f32[3], cpu>
  %add = aten.add.Tensor %i, 1 : !fx.tensor<i64[], cpu>
  fx.output (%add, %mul)
}
}

// -----

// A counter that goes down and is read. Sizes of the body are those of what it gets.
builtin.module {
// CHECK-LABEL: fx.graph @down
fx.graph @down stage(joint) symbols(s0 : int positive [2, int_oo] hint 5) (%x : !fx.tensor<f32[s0], cpu>) {
  // CHECK-NEXT: %i = aten.full.default [], 4, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %sym_size = aten.sym_size.int %x, 0 : !fx.symint<s0>
  // CHECK-NEXT: %full = aten.full.default [%sym_size], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x, %full : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %add = aten.add.Tensor %mul, %i : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %sub = aten.sub.Tensor %i, 2 : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %sym_size_1 = aten.sym_size.int %add, 0 : !fx.symint<s0>
  // CHECK-NEXT: %full_1 = aten.full.default [%sym_size_1], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %add, %full_1 : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %add_1 = aten.add.Tensor %mul_1, %sub : !fx.tensor<f32[s0], cpu>
  // CHECK-NEXT: %sub_1 = aten.sub.Tensor %sub, 2 : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: fx.output (%sub_1, %add_1)
  %i = aten.full.default [], 4, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  %n, %r = higher_order.while_loop @positive, @step, (%i, %x), () : !fx.tensor<i64[], cpu>, !fx.tensor<f32[s0], cpu> as (*, *) {node = "loop"}
  fx.output (%n, %r)
}
fx.graph @positive stage(joint) symbols(s3 : int positive [2, int_oo] hint 5) (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[s3], cpu>) {
  %gt = aten.gt.Scalar %i, 0 : !fx.tensor<i1[], cpu>
  fx.output %gt
}
fx.graph @step stage(joint) symbols(s3 : int positive [2, int_oo] hint 5) (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[s3], cpu>) {
  %size = aten.sym_size.int %x, 0 : !fx.symint<s3>
  %full = aten.full.default [%size], 2.0, dtype = f32, device = device<cpu> : !fx.tensor<f32[s3], cpu>
  %mul = aten.mul.Tensor %x, %full : !fx.tensor<f32[s3], cpu>
  %add = aten.add.Tensor %mul, %i : !fx.tensor<f32[s3], cpu>
  %sub = aten.sub.Tensor %i, 2 : !fx.tensor<i64[], cpu>
  fx.output (%sub, %add)
}
}

// -----

// No trip: the results are what the loop gets, each in a storage of its own.
builtin.module {
// CHECK-LABEL: fx.graph @never
fx.graph @never stage(joint) symbols() (%x : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %i : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %clone_1 = aten.clone.default %x : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%clone, %clone_1)
  %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  %n, %r = higher_order.while_loop @below, @sine, (%i, %x), () : !fx.tensor<i64[], cpu>, !fx.tensor<f32[3], cpu> as (*, *) {node = "loop"}
  fx.output (%n, %r)
}
fx.graph @below stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
  %lt = aten.lt.Scalar %i, 0 : !fx.tensor<i1[], cpu>
  fx.output %lt
}
fx.graph @sine stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
  %sin = aten.sin.default %x : !fx.tensor<f32[3], cpu>
  %add = aten.add.Tensor %i, 1 : !fx.tensor<i64[], cpu>
  fx.output (%add, %sin)
}
}

// -----

// A counter that is no tensor becomes numbers, and so does what is computed from it.
builtin.module {
// CHECK-LABEL: fx.graph @numbers
fx.graph @numbers stage(joint) symbols(u0 : int unbacked [-int_oo, int_oo]) (%x : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %x, 1 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul_2 = aten.mul.Tensor %mul_1, 2 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %mul_2, 4 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (2, %mul)
  %n, %r = higher_order.while_loop @less, @next, (0, %x), () : !fx.symint<u0>, !fx.tensor<f32[3], cpu> as (*, *) {node = "loop"}
  %twice = pyfn._operator.mul %n, 2 : !fx.symint<2*u0>
  %mul = aten.mul.Tensor %r, %twice : !fx.tensor<f32[3], cpu>
  fx.output (%n, %mul)
}
fx.graph @less stage(joint) symbols(u1 : int unbacked [-int_oo, int_oo]) (%i : !fx.symint<u1>, %x : !fx.tensor<f32[3], cpu>) {
  %lt = pyfn._operator.lt %i, 2 : !fx.symbool<lt(u1, 2)>
  fx.output %lt
}
fx.graph @next stage(joint) symbols(u1 : int unbacked [-int_oo, int_oo]) (%i : !fx.symint<u1>, %x : !fx.tensor<f32[3], cpu>) {
  %add = pyfn._operator.add %i, 1 : !fx.symint<u1 + 1>
  %mul = aten.mul.Tensor %x, %add : !fx.tensor<f32[3], cpu>
  fx.output (%add, %mul)
}
}

// -----

// Each trip draws anew.
builtin.module {
// CHECK-LABEL: fx.graph @draws
fx.graph @draws stage(joint) symbols() (%x : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %rand = aten.rand.default [3], dtype = f32, device = device<cpu> : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul = aten.mul.Tensor %x, %rand : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %rand_1 = aten.rand.default [3], dtype = f32, device = device<cpu> : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: %mul_1 = aten.mul.Tensor %mul, %rand_1 : !fx.tensor<f32[3], cpu>
  // CHECK-NEXT: fx.output (%mul_1,)
  %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  %n, %r = higher_order.while_loop @once_more, @noise, (%i, %x), () : !fx.tensor<i64[], cpu>, !fx.tensor<f32[3], cpu> as (*, *) {node = "loop"}
  fx.output (%r,)
}
fx.graph @once_more stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
  %lt = aten.lt.Scalar %i, 2 : !fx.tensor<i1[], cpu>
  fx.output %lt
}
fx.graph @noise stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
  %rand = aten.rand.default [3], dtype = f32, device = device<cpu> : !fx.tensor<f32[3], cpu>
  %mul = aten.mul.Tensor %x, %rand : !fx.tensor<f32[3], cpu>
  %add = aten.add.Tensor %i, 1 : !fx.tensor<i64[], cpu>
  fx.output (%add, %mul)
}
}

// -----

// The condition reads what the inputs give.
builtin.module {
// CHECK-LABEL: fx.graph @depends
fx.graph @depends stage(joint) symbols() (%x : !fx.tensor<f32[3], cpu>) {
  // CHECK-NEXT: %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  // CHECK-NEXT: %n, %r = higher_order.while_loop @small, @double, (%i, %x), () : !fx.tensor<i64[], cpu>, !fx.tensor<f32[3], cpu> as (*, *) {node = "loop"}
  // CHECK-NEXT: fx.output (%r,)
  %i = aten.full.default [], 0, dtype = i64, device = device<cpu> : !fx.tensor<i64[], cpu>
  %n, %r = higher_order.while_loop @small, @double, (%i, %x), () : !fx.tensor<i64[], cpu>, !fx.tensor<f32[3], cpu> as (*, *) {node = "loop"}
  fx.output (%r,)
}
fx.graph @small stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
  %lt = aten.lt.Scalar %i, 3 : !fx.tensor<i1[], cpu>
  %sum = aten.sum.default %x : !fx.tensor<f32[], cpu>
  %le = aten.le.Scalar %sum, 100.0 : !fx.tensor<i1[], cpu>
  %and = aten.logical_and.default %lt, %le : !fx.tensor<i1[], cpu>
  fx.output %and
}
fx.graph @double stage(joint) symbols() (%i : !fx.tensor<i64[], cpu>, %x : !fx.tensor<f32[3], cpu>) {
  %mul = aten.mul.Tensor %x, 2 : !fx.tensor<f32[3], cpu>
  %add = aten.add.Tensor %i, 1 : !fx.tensor<i64[], cpu>
  fx.output (%add, %mul)
}
}
