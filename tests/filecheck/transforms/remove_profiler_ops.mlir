// RUN: xductor-opt %s -p remove_profiler_ops | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %range = profiler._record_function_enter.default "range" : !fx.tensor<f32[], cpu>
  // CHECK-NEXT: %y = aten.neg.default %x
  %y = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  profiler._record_function_exit.default %range
  // CHECK-NEXT: fx.output (%y,)
  fx.output (%y,)
}

// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(post_grad) symbols() () {
  // CHECK-NEXT: %range = profiler._record_function_enter.default "range"
  %range = profiler._record_function_enter.default "range" : !fx.tensor<f32[], cpu>
  fx.output (%range,)
}
