// RUN: xductor-opt %s -p grouped_gemm_pass | filecheck %s

// CHECK-LABEL: fx.graph @two
fx.graph @two stage(post_grad) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0, 4], cpu>, %b : !fx.tensor<f32[5], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %grouped_linear#0, %grouped_linear#1 = xductor.grouped_linear.default %x, [%v, %w], [%b, none] : !fx.tensor<f32[s0, 5], cpu>, !fx.tensor<f32[s0, 5], cpu>
  // CHECK-NEXT: %c = aten.relu.default %grouped_linear#0 : !fx.tensor<f32[s0, 5], cpu>
  // CHECK-NEXT: %e = aten.neg.default %grouped_linear#1 : !fx.tensor<f32[s0, 5], cpu>
  // CHECK-NEXT: fx.output (%c, %e)
  %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %a = mkldnn._linear_pointwise.default %x, %v, %b, "none", [], "" : !fx.tensor<f32[s0, 5], cpu>
  %c = aten.relu.default %a : !fx.tensor<f32[s0, 5], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %d = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<f32[s0, 5], cpu>
  %e = aten.neg.default %d : !fx.tensor<f32[s0, 5], cpu>
  fx.output (%c, %e)
}

// Another reader of the tensor stays as it is, and so does a weight of another size.
// CHECK-LABEL: fx.graph @three
fx.graph @three stage(post_grad) symbols() (%x : !fx.tensor<bf16[2, 3, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<bf16[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<bf16[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %u = fx.get_attr "u" : !fx.tensor<bf16[6, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %y = aten.neg.default %x : !fx.tensor<bf16[2, 3, 4], cpu>
  // CHECK-NEXT: %c = mkldnn._linear_pointwise.default %x, %u, none, "none", [], "" : !fx.tensor<bf16[2, 3, 6], cpu>
  // CHECK-NEXT: %grouped_linear#0, %grouped_linear#1 = xductor.grouped_linear.default %x, [%v, %w], [none, none] : !fx.tensor<bf16[2, 3, 5], cpu>, !fx.tensor<bf16[2, 3, 5], cpu>
  // CHECK-NEXT: fx.output (%y, %grouped_linear#0, %c, %grouped_linear#1)
  %v = fx.get_attr "v" : !fx.tensor<bf16[5, 4], cpu, layout _mkldnn>
  %w = fx.get_attr "w" : !fx.tensor<bf16[5, 4], cpu, layout _mkldnn>
  %u = fx.get_attr "u" : !fx.tensor<bf16[6, 4], cpu, layout _mkldnn>
  %y = aten.neg.default %x : !fx.tensor<bf16[2, 3, 4], cpu>
  %a = mkldnn._linear_pointwise.default %x, %v, none, "none", [], "" : !fx.tensor<bf16[2, 3, 5], cpu>
  %c = mkldnn._linear_pointwise.default %x, %u, none, "none", [], "" : !fx.tensor<bf16[2, 3, 6], cpu>
  %d = mkldnn._linear_pointwise.default %x, %w, none, "none", [], "" : !fx.tensor<bf16[2, 3, 5], cpu>
  fx.output (%y, %a, %c, %d)
}

// One weight twice; one that is given when the graph runs; an activation that is computed already.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %b : !fx.tensor<f32[5], cpu>, %u : !fx.tensor<f32[5, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %a = mkldnn._linear_pointwise.default %x, %v, %b, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %c = mkldnn._linear_pointwise.default %x, %v, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %d = mkldnn._linear_pointwise.default %x, %u, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %e = mkldnn._linear_pointwise.default %x, %w, none, "tanh", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%a, %c, %d, %e)
  %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %a = mkldnn._linear_pointwise.default %x, %v, %b, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  %c = mkldnn._linear_pointwise.default %x, %v, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  %d = mkldnn._linear_pointwise.default %x, %u, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  %e = mkldnn._linear_pointwise.default %x, %w, none, "tanh", [], "" : !fx.tensor<f32[3, 5], cpu>
  fx.output (%a, %c, %d, %e)
}

// The second bias is computed of the first product.
// CHECK-LABEL: fx.graph @in_turn
fx.graph @in_turn stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %a = mkldnn._linear_pointwise.default %x, %v, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %b = aten.select.int %a, 0, 1 : !fx.tensor<f32[5], cpu, offset 5>
  // CHECK-NEXT: %c = mkldnn._linear_pointwise.default %x, %w, %b, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%c,)
  %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %a = mkldnn._linear_pointwise.default %x, %v, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  %b = aten.select.int %a, 0, 1 : !fx.tensor<f32[5], cpu, offset 5>
  %c = mkldnn._linear_pointwise.default %x, %w, %b, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  fx.output (%c,)
}

// Another tensor.
// CHECK-LABEL: fx.graph @apart
fx.graph @apart stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>, %y : !fx.tensor<f32[3, 4], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  // CHECK-NEXT: %a = mkldnn._linear_pointwise.default %x, %v, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: %c = mkldnn._linear_pointwise.default %y, %w, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  // CHECK-NEXT: fx.output (%a, %c)
  %v = fx.get_attr "v" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %w = fx.get_attr "w" : !fx.tensor<f32[5, 4], cpu, layout _mkldnn>
  %a = mkldnn._linear_pointwise.default %x, %v, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  %c = mkldnn._linear_pointwise.default %y, %w, none, "none", [], "" : !fx.tensor<f32[3, 5], cpu>
  fx.output (%a, %c)
}
