// RUN: xductor-opt %s -p constant_fold | filecheck %s

// What a product reads is computed and held; what was only used for it goes.
// CHECK-LABEL: fx.graph @held
fx.graph @held stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %twice = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %twice : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %t = aten.permute.default %w, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  %twice = aten.mul.Tensor %t, 2 : !fx.tensor<f32[2, 2][1, 2], cpu>
  %y = aten.mm.default %x, %twice : !fx.tensor<f32[2, 2], cpu>
  fx.output (%y,)
}

// Elements that are not there cannot be computed with.
// CHECK-LABEL: fx.graph @unknown_elements
fx.graph @unknown_elements stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %v = fx.get_attr "v" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %twice = aten.mul.Tensor %v, 2 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %twice : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %v = fx.get_attr "v" : !fx.tensor<f32[2, 2], cpu>
  %twice = aten.mul.Tensor %v, 2 : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %twice : !fx.tensor<f32[2, 2], cpu>
  fx.output (%y,)
}

// An output has storage of its own in each run.
// CHECK-LABEL: fx.graph @returned
fx.graph @returned stage(post_grad) symbols() () {
  // CHECK-NEXT: %once = fx.get_attr "_frozen_param1" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %twice = aten.mul.Tensor %once, 2 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %view = aten.permute.default %twice, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  // CHECK-NEXT: fx.output (%view,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %once = aten.neg.default %w : !fx.tensor<f32[2, 2], cpu>
  %twice = aten.mul.Tensor %once, 2 : !fx.tensor<f32[2, 2], cpu>
  %view = aten.permute.default %twice, [1, 0] : !fx.tensor<f32[2, 2][1, 2], cpu>
  fx.output (%view,)
}

// A number of the run is no constant; nor are draws.
// CHECK-LABEL: fx.graph @draws
fx.graph @draws stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %drawn = aten.rand_like.default %w : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %drawn : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %drawn = aten.rand_like.default %w : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %drawn : !fx.tensor<f32[2, 2], cpu>
  fx.output (%y,)
}

// What is written to is no constant.
// CHECK-LABEL: fx.graph @written
fx.graph @written stage(post_grad) symbols() (%x : !fx.tensor<f32[2, 2], cpu>) {
  // CHECK-NEXT: %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %twice = aten.mul.Tensor %w, 2 : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %y = aten.mm.default %x, %twice : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: %copied = aten.copy_.default %w, %x : !fx.tensor<f32[2, 2], cpu>
  // CHECK-NEXT: fx.output (%y,)
  %w = fx.get_attr "w" : !fx.tensor<f32[2, 2], cpu>
  %twice = aten.mul.Tensor %w, 2 : !fx.tensor<f32[2, 2], cpu>
  %y = aten.mm.default %x, %twice : !fx.tensor<f32[2, 2], cpu>
  %copied = aten.copy_.default %w, %x : !fx.tensor<f32[2, 2], cpu>
  fx.output (%y,)
}

// CHECK: draws.w
// CHECK-SAME: held._frozen_param1: "0x04000000000000400000C0400000804000000041"
// CHECK-SAME: written.w
{-#
  dialect_resources: {
    fx: {
      draws.w: "0x040000000000803F000000400000404000008040",
      held.w: "0x040000000000803F000000400000404000008040",
      returned.w: "0x040000000000803F000000400000404000008040",
      written.w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
