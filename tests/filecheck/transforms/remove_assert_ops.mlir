// RUN: xductor-opt %s -p remove_assert_ops | filecheck %s

// CHECK-LABEL: fx.graph @forward
fx.graph @forward stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  // CHECK-NEXT: %s = aten.any.default
  aten._assert_tensor_metadata.default %x, none, none, f32
  %s = aten.any.default %x : !fx.tensor<i1[], cpu>
  // CHECK-NEXT: aten._assert_async.msg %s, "some value is not zero"
  aten._assert_async.msg %s, "some value is not zero"
  // CHECK-NEXT: fx.output (%x,)
  fx.output (%x,)
}
