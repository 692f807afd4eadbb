// RUN: xductor-opt %s -p 'matmul_fuse_pattern{enable_concat_linear=true}' | filecheck %s

// Two products of one tensor; the weights are read above the first.
// CHECK-LABEL: fx.graph @two
fx.graph @two stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%v, %w], 1 : !fx.tensor<f32[4, 5], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %x, %cat : !fx.tensor<f32[s0, 5], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %mm, 1, 0, 2 : !fx.tensor<f32[s0, 2][5, 1], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %mm, 1, 2, 5 : !fx.tensor<f32[s0, 3][5, 1], cpu, offset 2>
  // CHECK-NEXT: %c = aten.relu.default %slice : !fx.tensor<f32[s0, 2], cpu>
  // CHECK-NEXT: %d = aten.relu.default %slice_1 : !fx.tensor<f32[s0, 3], cpu>
  // CHECK-NEXT: fx.output (%c, %d)
  %v = fx.get_attr "v" : !fx.tensor<f32[4, 2], cpu>
  %a = aten.mm.default %x, %v : !fx.tensor<f32[s0, 2], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 3], cpu>
  %b = aten.mm.default %x, %w : !fx.tensor<f32[s0, 3], cpu>
  %c = aten.relu.default %a : !fx.tensor<f32[s0, 2], cpu>
  %d = aten.relu.default %b : !fx.tensor<f32[s0, 3], cpu>
  fx.output (%c, %d)
}

// Views follow to other strides; an output gets a copy.
// CHECK-LABEL: fx.graph @readers
fx.graph @readers stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[4, 2], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %cat = aten.cat.default [%v, %w], 1 : !fx.tensor<f32[4, 5], cpu>
  // CHECK-NEXT: %mm = aten.mm.default %x, %cat : !fx.tensor<f32[6, 5], cpu>
  // CHECK-NEXT: %slice = aten.slice.Tensor %mm, 1, 0, 2 : !fx.tensor<f32[6, 2][5, 1], cpu>
  // CHECK-NEXT: %slice_1 = aten.slice.Tensor %mm, 1, 2, 5 : !fx.tensor<f32[6, 3][5, 1], cpu, offset 2>
  // CHECK-NEXT: %clone = aten.clone.default %slice_1, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[6, 3], cpu>
  // CHECK-NEXT: %c = aten.reshape.default %slice, [2, 3, 2] : !fx.tensor<f32[2, 3, 2][15, 5, 1], cpu> aliases(0)
  // CHECK-NEXT: %d = aten.sum.dim_IntList %c, [1] : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%d, %clone)
  %v = fx.get_attr "v" : !fx.tensor<f32[4, 2], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 3], cpu>
  %a = aten.mm.default %x, %v : !fx.tensor<f32[6, 2], cpu>
  %b = aten.mm.default %x, %w : !fx.tensor<f32[6, 3], cpu>
  %c = aten.reshape.default %a, [2, 3, 2] : !fx.tensor<f32[2, 3, 2], cpu>
  %d = aten.sum.dim_IntList %c, [1] : !fx.tensor<f32[2, 2], cpu>
  fx.output (%d, %b)
}

// A weight that others read too would be held twice.
// CHECK-LABEL: fx.graph @read_twice
fx.graph @read_twice stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %a = aten.mm.default %x, %v : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %b = aten.mm.default %a, %v : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %c = aten.mm.default %x, %w : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %d = aten.add.Tensor %b, %c : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: fx.output (%d,)
  %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  %a = aten.mm.default %x, %v : !fx.tensor<f32[6, 4], cpu>
  %b = aten.mm.default %a, %v : !fx.tensor<f32[6, 4], cpu>
  %c = aten.mm.default %x, %w : !fx.tensor<f32[6, 4], cpu>
  %d = aten.add.Tensor %b, %c : !fx.tensor<f32[6, 4], cpu>
  fx.output (%d,)
}

// A product with an input, and one of another tensor.
// CHECK-LABEL: fx.graph @others
fx.graph @others stage(post_grad) symbols() (%x : !fx.tensor<f32[6, 4], cpu>, %y : !fx.tensor<f32[4, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %a = aten.mm.default %x, %v : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %b = aten.mm.default %x, %y : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %c = aten.mm.default %y, %w : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: %d = aten.add.Tensor %a, %b : !fx.tensor<f32[6, 4], cpu>
  // CHECK-NEXT: %e = aten.exp.default %c : !fx.tensor<f32[4, 4], cpu>
  // CHECK-NEXT: fx.output (%d, %e)
  %v = fx.get_attr "v" : !fx.tensor<f32[4, 4], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 4], cpu>
  %a = aten.mm.default %x, %v : !fx.tensor<f32[6, 4], cpu>
  %b = aten.mm.default %x, %y : !fx.tensor<f32[6, 4], cpu>
  %c = aten.mm.default %y, %w : !fx.tensor<f32[4, 4], cpu>
  %d = aten.add.Tensor %a, %b : !fx.tensor<f32[6, 4], cpu>
  %e = aten.exp.default %c : !fx.tensor<f32[4, 4], cpu>
  fx.output (%d, %e)
}
