// RUN: xductor-opt %s -p mkldnn_rnn_layer | filecheck %s

// CHECK-LABEL: fx.graph @layer
fx.graph @layer stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2, 1], cpu>, %h : !fx.tensor<f32[1, 2, 1], cpu>, %b : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %fx = fx.get_attr "_frozen_param2" : !fx.tensor<f32[{{[0-9, ]+}}], cpu, layout _mkldnn>
  // CHECK-NEXT: %fx_1 = fx.get_attr "_frozen_param3" : !fx.tensor<f32[{{[0-9, ]+}}], cpu, layout _mkldnn>
  // CHECK-NEXT: %a, %c, %d, %e = aten.mkldnn_rnn_layer.default %x, %fx, %fx_1, %b, %b, %h, %h, false, [], 2, 1, 1, true, false, false, false : !fx.tensor<f32[3, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<ui8[0], cpu>
  // CHECK-NEXT: fx.output (%a,)
  %v = fx.get_attr "v" : !fx.tensor<f32[4, 1], cpu>
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 1], cpu>
  %a, %c, %d, %e = aten.mkldnn_rnn_layer.default %x, %v, %w, %b, %b, %h, %h, false, [], 2, 1, 1, true, false, false, false : !fx.tensor<f32[3, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<ui8[0], cpu>
  fx.output (%a,)
}

// Weights that are given when the graph runs; a layer that trains.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 2, 1], cpu>, %h : !fx.tensor<f32[1, 2, 1], cpu>, %b : !fx.tensor<f32[4], cpu>, %v : !fx.tensor<f32[4, 1], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[4, 1], cpu>
  // CHECK-NEXT: %a, %c, %d, %e = aten.mkldnn_rnn_layer.default %x, %v, %w, %b, %b, %h, %h, false, [], 2, 1, 1, true, false, false, false : !fx.tensor<f32[3, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<ui8[0], cpu>
  // CHECK-NEXT: %u = fx.get_attr "u" : !fx.tensor<f32[4, 1], cpu>
  // CHECK-NEXT: %f, %g, %i, %j = aten.mkldnn_rnn_layer.default %x, %u, %w, %b, %b, %h, %h, false, [], 2, 1, 1, true, false, false, true : !fx.tensor<f32[3, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<ui8[0], cpu>
  // CHECK-NEXT: fx.output (%a, %f)
  %w = fx.get_attr "w" : !fx.tensor<f32[4, 1], cpu>
  %a, %c, %d, %e = aten.mkldnn_rnn_layer.default %x, %v, %w, %b, %b, %h, %h, false, [], 2, 1, 1, true, false, false, false : !fx.tensor<f32[3, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<ui8[0], cpu>
  %u = fx.get_attr "u" : !fx.tensor<f32[4, 1], cpu>
  %f, %g, %i, %j = aten.mkldnn_rnn_layer.default %x, %u, %w, %b, %b, %h, %h, false, [], 2, 1, 1, true, false, false, true : !fx.tensor<f32[3, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<f32[1, 2, 1], cpu>, !fx.tensor<ui8[0], cpu>
  fx.output (%a, %f)
}

{-#
  dialect_resources: {
    fx: {
      layer.v: "0x040000000000803F000000400000404000008040",
      layer.w: "0x040000000000803F000000400000404000008040",
      stays.w: "0x040000000000803F000000400000404000008040",
      stays.u: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
