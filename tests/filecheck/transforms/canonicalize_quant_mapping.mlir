// RUN: xductor-opt %s -p canonicalize_quant_mapping | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %higher_order = higher_order.invoke_quant @body_0, %x
  // CHECK-NEXT: fx.output (%higher_order,)
  %y = higher_order.invoke_quant_packed @body, %x : !fx.tensor<f32[4], cpu> as (*,)
  fx.output (%y,)
}

// CHECK-LABEL: fx.graph @body
fx.graph @body stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %y = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %y = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  fx.output (%y,)
}

// A body that is not in the module.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %y = higher_order.invoke_quant_packed @elsewhere, %x : !fx.tensor<f32[4], cpu> as (*,)
  // CHECK-NEXT: fx.output (%y,)
  %y = higher_order.invoke_quant_packed @elsewhere, %x : !fx.tensor<f32[4], cpu> as (*,)
  fx.output (%y,)
}

fx.graph @elsewhere stage(joint) symbols() () declared
