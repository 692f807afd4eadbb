// RUN: xductor-opt %s -p reinplace_inplaceable_ops | filecheck %s

// The input that the epilogue writes is written at once, and not copied back.
// CHECK-LABEL: fx.graph @input
fx.graph @input stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put_.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// What the graph made, and nobody reads later.
// CHECK-LABEL: fx.graph @made_here
fx.graph @made_here stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %r = aten.index_put_.default %a, [%i], %v, true : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%r,)
  %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  %r = aten.index_put.default %a, [%i], %v, true : !fx.tensor<f32[5, 4], cpu>
  fx.output (%r,)
}

// Somebody reads the old content.
// CHECK-LABEL: fx.graph @read_later
fx.graph @read_later stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %r = aten.index_put.default %a, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %a : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%r, %s)
  %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  %r = aten.index_put.default %a, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %a : !fx.tensor<f32[5, 4], cpu>
  fx.output (%r, %s)
}

// Somebody reads it through a view.
// CHECK-LABEL: fx.graph @view_read_later
fx.graph @view_read_later stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %w = aten.slice.Tensor %a, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %r = aten.index_put.default %a, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %w : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%r, %s)
  %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  %w = aten.slice.Tensor %a, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  %r = aten.index_put.default %a, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %w : !fx.tensor<f32[2, 4], cpu>
  fx.output (%r, %s)
}

// The caller does not see a write to its input.
// CHECK-LABEL: fx.graph @no_epilogue
fx.graph @no_epilogue stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// The result would be the memory of an input.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%r,)
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%r,)
}

// A view of it would be, too: without the option nobody says that the caller gets another.
// CHECK-LABEL: fx.graph @regenerated_not_known
fx.graph @regenerated_not_known stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.select.int %r, 0, 1 : !fx.tensor<f32[4], cpu, offset 4>
  // CHECK-NEXT: fx.output (%s,)
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  %s = aten.select.int %r, 0, 1 : !fx.tensor<f32[4], cpu, offset 4>
  fx.output (%s,)
}

// Two results would have one memory.
// CHECK-LABEL: fx.graph @two_results
fx.graph @two_results stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %r = aten.index_put.default %a, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%a, %r)
  %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  %r = aten.index_put.default %a, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  fx.output (%a, %r)
}

// The input gets another content, and the result is read after that.
// CHECK-LABEL: fx.graph @written_over
fx.graph @written_over stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %e = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %e : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %e = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %e : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// It is copied back, and then something else is.
// CHECK-LABEL: fx.graph @two_copies_back
fx.graph @two_copies_back stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %e = aten.full.default [5, 4], 1.0 : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %d = aten.copy_.default %x, %e : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  %e = aten.full.default [5, 4], 1.0 : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %x, %e : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// Rows in another order are read between two writes to one input.
// CHECK-LABEL: fx.graph @read_between_two_writes
fx.graph @read_between_two_writes stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %f = prims.rev.default %r, [0] : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %r, %f : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %f = prims.rev.default %r, [0] : !fx.tensor<f32[5, 4], cpu>
  %a = aten.add.Tensor %r, %f : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// Each element is read where it is written again.
// CHECK-LABEL: fx.graph @element_by_element
fx.graph @element_by_element stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %r = aten.index_put_.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %a = aten.add.Tensor %r, 1 : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %r = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %a = aten.add.Tensor %r, 1 : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// Scatters into a part of a part are one write.
// CHECK-LABEL: fx.graph @nested_slices
fx.graph @nested_slices stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %p = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %n = aten.select.int %v, 0, 1 : !fx.tensor<f32[4], cpu, offset 4>
  // CHECK-NEXT: %slice = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %select = aten.select.int %slice, 0, 0 : !fx.tensor<f32[4], cpu, offset 4>
  // CHECK-NEXT: %copy_ = aten.copy_.default %select, %n : !fx.tensor<f32[4], cpu, offset 4>
  // CHECK-NEXT: fx.output ()
  %p = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  %n = aten.select.int %v, 0, 1 : !fx.tensor<f32[4], cpu, offset 4>
  %q = aten.select_scatter.default %p, %n, 0, 0 : !fx.tensor<f32[2, 4], cpu>
  %r = aten.slice_scatter.default %x, %q, 0, 1, 3 : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// What is put back elsewhere is not put back.
// CHECK-LABEL: fx.graph @another_part
fx.graph @another_part stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %p = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %n = aten.select.int %v, 0, 1 : !fx.tensor<f32[4], cpu, offset 4>
  // CHECK-NEXT: %q = aten.select_scatter.default %p, %n, 0, 0 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %x, 0, 2, 4 : !fx.tensor<f32[2, 4], cpu, offset 8>
  // CHECK-NEXT: %copy_ = aten.copy_.default %slice, %q : !fx.tensor<f32[2, 4], cpu, offset 8>
  // CHECK-NEXT: fx.output ()
  %p = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  %n = aten.select.int %v, 0, 1 : !fx.tensor<f32[4], cpu, offset 4>
  %q = aten.select_scatter.default %p, %n, 0, 0 : !fx.tensor<f32[2, 4], cpu>
  %r = aten.slice_scatter.default %x, %q, 0, 2, 4 : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// Other rows are read later, and nobody writes them.
// CHECK-LABEL: fx.graph @rows_apart
fx.graph @rows_apart stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %p = aten.slice.Tensor %x, 0, 3, 5 : !fx.tensor<f32[2, 4], cpu, offset 12>
  // CHECK-NEXT: %slice = aten.slice.Tensor %x, 0, 0, 2 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %copy_ = aten.copy_.default %slice, %v : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %p : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %p = aten.slice.Tensor %x, 0, 3, 5 : !fx.tensor<f32[2, 4], cpu, offset 12>
  %r = aten.slice_scatter.default %x, %v, 0, 0, 2 : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %p : !fx.tensor<f32[2, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// Some of these rows are written.
// CHECK-LABEL: fx.graph @rows_that_overlap
fx.graph @rows_that_overlap stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %p = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %r = aten.slice_scatter.default %x, %v, 0, 0, 2 : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %p : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %p = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  %r = aten.slice_scatter.default %x, %v, 0, 0, 2 : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %p : !fx.tensor<f32[2, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// Rows that move by one are copied first.
// CHECK-LABEL: fx.graph @reads_what_it_writes
fx.graph @reads_what_it_writes stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %p = aten.slice.Tensor %x, 0, 0, 2 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %clone = aten.clone.default %p : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %copy_ = aten.copy_.default %slice, %clone : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: fx.output ()
  %p = aten.slice.Tensor %x, 0, 0, 2 : !fx.tensor<f32[2, 4], cpu>
  %r = aten.slice_scatter.default %x, %p, 0, 1, 3 : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// Base and result need not stand in memory: it stays functional.
// CHECK-LABEL: fx.graph @scatter_of_what_is_fused
fx.graph @scatter_of_what_is_fused stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %r = aten.slice_scatter.default %a, %v, 0, 1, 3 : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = aten.exp.default %x : !fx.tensor<f32[5, 4], cpu>
  %r = aten.slice_scatter.default %a, %v, 0, 1, 3 : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// What is read through another dtype is copied if it is written later.
// CHECK-LABEL: fx.graph @through_another_dtype
fx.graph @through_another_dtype stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %clone = aten.clone.default %x : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %w = aten.view.dtype %clone, i16 : !fx.tensor<i16[5, 8], cpu>
  // CHECK-NEXT: %s = aten.add.Tensor %w, 1 : !fx.tensor<i16[5, 8], cpu>
  // CHECK-NEXT: %e = aten.exp.default %v : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %z = aten.full.default [5, 4], 1.0 : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %z : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %w = aten.view.dtype %x, i16 : !fx.tensor<i16[5, 8], cpu>
  %s = aten.add.Tensor %w, 1 : !fx.tensor<i16[5, 8], cpu>
  %e = aten.exp.default %v : !fx.tensor<f32[2, 4], cpu>
  %z = aten.full.default [5, 4], 1.0 : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %z : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// Each tensor of a list, copied back.
// CHECK-LABEL: fx.graph @foreach
fx.graph @foreach stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %_foreach_mul_ = aten._foreach_mul_.Scalar [%x, %y], 2.0 : !fx.none
  // CHECK-NEXT: fx.output ()
  %a, %b = aten._foreach_mul.Scalar [%x, %y], 2.0 : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %a : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %b : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// Copied back crosswise.
// CHECK-LABEL: fx.graph @foreach_crossed
fx.graph @foreach_crossed stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %y : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %a, %b = aten._foreach_mul.Scalar [%x, %y], 2.0 : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %b : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %d = aten.copy_.default %y, %a : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %a, %b = aten._foreach_mul.Scalar [%x, %y], 2.0 : !fx.tensor<f32[5, 4], cpu>, !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %b : !fx.tensor<f32[5, 4], cpu>
  %d = aten.copy_.default %y, %a : !fx.tensor<f32[5, 4], cpu>
  fx.output ()
}

// Sizes are symbols.
// CHECK-LABEL: fx.graph @symbolic
fx.graph @symbolic stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>) {
  // CHECK-NEXT: %slice = aten.slice.Tensor %x, 0, 0, 2 : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %copy_ = aten.copy_.default %slice, %v : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %r = aten.slice_scatter.default %x, %v, 0, 0, 2 : !fx.tensor<f32[s0, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[s0, 4], cpu>
  fx.output ()
}

// Several new contents in a row, of which the last is copied back.
// CHECK-LABEL: fx.graph @in_a_row
fx.graph @in_a_row stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>) {
  // CHECK-NEXT: %a = aten.index_put_.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %r = aten.index_put_.default %a, [%i], %v, true : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%s,)
  %a = aten.index_put.default %x, [%i], %v : !fx.tensor<f32[5, 4], cpu>
  %r = aten.index_put.default %a, [%i], %v, true : !fx.tensor<f32[5, 4], cpu>
  %s = aten.sin.default %r : !fx.tensor<f32[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<f32[5, 4], cpu>
  fx.output (%s,)
}

// The sizes of the view and of the source are equal, however they are spelled.
// CHECK-LABEL: fx.graph @sizes_by_facts
fx.graph @sizes_by_facts stage(post_grad) symbols(s0 : int positive [5, int_oo] hint 8) (%n : !fx.symint<s0>, %x : !fx.tensor<f32[s0, 4], cpu>, %t : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %x : !fx.tensor<f32[s0, 4], cpu>
  // CHECK-NEXT: %diagonal = aten.diagonal.default %a, -1 : !fx.tensor<f32[min(4, s0 - 1)][5], cpu, offset 4>
  // CHECK-NEXT: %copy_ = aten.copy_.default %diagonal, %t : !fx.tensor<f32[min(4, s0 - 1)][5], cpu, offset 4>
  // CHECK-NEXT: fx.output (%a,)
  %a = aten.exp.default %x : !fx.tensor<f32[s0, 4], cpu>
  %r = aten.diagonal_scatter.default %a, %t, -1 : !fx.tensor<f32[s0, 4], cpu>
  fx.output (%r,)
}

// Nothing but the scatter says that the source has the sizes of the view, so a copy might expand it.
// CHECK-LABEL: fx.graph @sizes_unknown
fx.graph @sizes_unknown stage(post_grad) symbols(s0 : int positive [5, int_oo] hint 8, s1 : int positive [2, int_oo] hint 4) (%n : !fx.symint<s0>, %m : !fx.symint<s1>, %x : !fx.tensor<f32[s0, s1], cpu>, %t : !fx.tensor<f32[s1], cpu>) {
  // CHECK-NEXT: %a = aten.exp.default %x : !fx.tensor<f32[s0, s1], cpu>
  // CHECK-NEXT: %r = aten.diagonal_scatter.default %a, %t : !fx.tensor<f32[s0, s1], cpu>
  // CHECK-NEXT: fx.output (%r,)
  %a = aten.exp.default %x : !fx.tensor<f32[s0, s1], cpu>
  %r = aten.diagonal_scatter.default %a, %t : !fx.tensor<f32[s0, s1], cpu>
  fx.output (%r,)
}

// The index is computed of what would be written, in the loop that writes.
// CHECK-LABEL: fx.graph @indexed_by_itself
fx.graph @indexed_by_itself stage(post_grad) symbols() (%x : !fx.tensor<i64[5, 4], cpu>, %v : !fx.tensor<i64[5], cpu>) {
  // CHECK-NEXT: %w = aten.select.int %x, 1, 0 : !fx.tensor<i64[5][4], cpu>
  // CHECK-NEXT: %i = aten.abs.default %w : !fx.tensor<i64[5], cpu>
  // CHECK-NEXT: %r = aten.index_put.default %x, [%i, %i], %v : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: %c = aten.copy_.default %x, %r : !fx.tensor<i64[5, 4], cpu>
  // CHECK-NEXT: fx.output ()
  %w = aten.select.int %x, 1, 0 : !fx.tensor<i64[5][4], cpu>
  %i = aten.abs.default %w : !fx.tensor<i64[5], cpu>
  %r = aten.index_put.default %x, [%i, %i], %v : !fx.tensor<i64[5, 4], cpu>
  %c = aten.copy_.default %x, %r : !fx.tensor<i64[5, 4], cpu>
  fx.output ()
}

// Generated code adds into a copy: the rows are read between two writes to it.
// CHECK-LABEL: fx.graph @a_written_copy
fx.graph @a_written_copy stage(post_grad) symbols() (%x : !fx.tensor<f32[5, 4], cpu>, %v : !fx.tensor<f32[2, 4], cpu>, %i : !fx.tensor<i64[2], cpu>, %j : !fx.tensor<i64[2, 4], cpu>) {
  // CHECK-NEXT: %a = aten.scatter_add.default %x, 0, %j, %v : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: %w = aten.slice.Tensor %a, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  // CHECK-NEXT: %s = aten.sin.default %w : !fx.tensor<f32[2, 4], cpu>
  // CHECK-NEXT: %r = aten.index_put.default %a, [%i], %s : !fx.tensor<f32[5, 4], cpu>
  // CHECK-NEXT: fx.output (%r,)
  %a = aten.scatter_add.default %x, 0, %j, %v : !fx.tensor<f32[5, 4], cpu>
  %w = aten.slice.Tensor %a, 0, 1, 3 : !fx.tensor<f32[2, 4], cpu, offset 4>
  %s = aten.sin.default %w : !fx.tensor<f32[2, 4], cpu>
  %r = aten.index_put.default %a, [%i], %s : !fx.tensor<f32[5, 4], cpu>
  fx.output (%r,)
}
