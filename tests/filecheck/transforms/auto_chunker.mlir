// RUN: xductor-opt %s -p 'auto_chunker{output_size_threshold=64 amplify_ratio_threshold=0.2 num_chunk=2}' | filecheck %s

// Five rows in two chunks: two bodies. The loss is a sum over both, the gradient too, times the
// tangent. The transpose, which the chunks read, moves in front of them.
// CHECK-LABEL: fx.graph @g
// CHECK-NEXT: %t = aten.permute.default %x, [1, 0]
// CHECK-NEXT: %[[LOSS:.*]] = aten.full.default [], 0.0
// CHECK-NEXT: %[[GRAD:.*]] = aten.full.default [16, 128], 0.0
// CHECK-NEXT: %[[X:.*]] = aten.slice.Tensor %x, 0, 0, 3
// CHECK-NEXT: %[[T:.*]] = aten.slice.Tensor %t, 1, 0, 3
// CHECK-NEXT: %[[ONE:.*]]#0, %{{.*}}#1 = higher_order.invoke_subgraph @chunk_of_3_rows, "chunk_of_3_rows", %[[X]], %w, %[[T]], %[[LOSS]], %[[GRAD]]
// CHECK-NEXT: %[[X:.*]] = aten.slice.Tensor %x, 0, 3, 5 : !fx.tensor<f32[2, 16], cpu, offset 48>
// CHECK-NEXT: %[[T:.*]] = aten.slice.Tensor %t, 1, 3, 5
// CHECK-NEXT: %[[TWO:.*]]#0, %{{.*}}#1 = higher_order.invoke_subgraph @chunk_of_2_rows, "chunk_of_2_rows", %[[X]], %w, %[[T]], %[[ONE]]#0, %[[ONE]]#1
// CHECK-NEXT: %[[SCALED:.*]] = aten.mul.Tensor %[[TWO]]#1, %tangents_1
// CHECK-NEXT: fx.output (%[[TWO]]#0, none, %[[SCALED]])

// CHECK-LABEL: fx.graph @chunk_of_3_rows
// CHECK-NEXT: %mm = aten.mm.default %chunk_0, %chunk_1 : !fx.tensor<f32[3, 128], cpu>
// CHECK-NEXT: %exp = aten.exp.default %mm
// CHECK-NEXT: %sum = aten.sum.default %exp
// CHECK-NEXT: %[[TANGENT:.*]] = aten.full.default [], 1.0
// CHECK-NEXT: %grad = aten.mul.Tensor %exp, %[[TANGENT]]
// CHECK-NEXT: %dw = aten.mm.default %chunk_2, %grad : !fx.tensor<f32[16, 128], cpu>
// CHECK-NEXT: %[[ADD:.*]] = aten.add.Tensor %sum_0, %sum
// CHECK-NEXT: %[[ADDED:.*]] = aten.add.Tensor %sum_1, %dw
// CHECK-NEXT: fx.output (%[[ADD]], %[[ADDED]])

// CHECK-LABEL: fx.graph @chunk_of_2_rows
fx.graph @g stage(joint) (%x : !fx.tensor<f32[5, 16], cpu>, %w : !fx.tensor<f32[16, 128], cpu>, %tangents_1 : !fx.tensor<f32[], cpu>) {
  %mm = aten.mm.default %x, %w : !fx.tensor<f32[5, 128], cpu>
  %exp = aten.exp.default %mm : !fx.tensor<f32[5, 128], cpu>
  %sum = aten.sum.default %exp : !fx.tensor<f32[], cpu>
  %grad = aten.mul.Tensor %exp, %tangents_1 : !fx.tensor<f32[5, 128], cpu>
  %t = aten.permute.default %x, [1, 0] : !fx.tensor<f32[16, 5][1, 16], cpu>
  %dw = aten.mm.default %t, %grad : !fx.tensor<f32[16, 128], cpu>
  fx.output (%sum, none, %dw)
}
