// RUN: xductor-opt %s -p sink_cat_after_pointwise | filecheck %s

// CHECK-LABEL: fx.graph @fires
fx.graph @fires stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>, %y : !fx.tensor<f32[2, 3], cpu>) {
  // CHECK-NEXT: %torch = pyfn.torch.tanh %x : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %torch_1 = pyfn.torch.tanh %y : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %torch_2 = pyfn.torch.cat [%torch, %torch_1], -1 : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: %torch_3 = pyfn.torch.relu %x : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %torch_4 = pyfn.torch.relu %y : !fx.tensor<f32[2, 3], cpu>
  // CHECK-NEXT: %torch_5 = pyfn.torch.cat [%torch_3, %torch_4] : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %method = method.view %torch_5, [12] : !fx.tensor<f32[12], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%torch_2, %method)
  %a = pyfn.torch.concat [%x, %y], axis = -1 : !fx.tensor<f32[2, 6], cpu>
  %b = method.tanh %a : !fx.tensor<f32[2, 6], cpu>
  %c = pyfn.torch.cat (%x, %y) : !fx.tensor<f32[4, 3], cpu>
  %d = method.view %c, 12 : !fx.tensor<f32[12], cpu> aliases(0)
  %e = pyfn.torch.nn.functional.relu %d : !fx.tensor<f32[12], cpu>
  fx.output (%b, %e)
}

// A cast by the cat, a view of the bits, a cat with another reader, a call in place.
// CHECK-LABEL: fx.graph @stays
fx.graph @stays stage(pre_grad) symbols() (%x : !fx.tensor<f32[2, 3], cpu>, %w : !fx.tensor<f64[2, 3], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.cat [%x, %w] : !fx.tensor<f64[4, 3], cpu>
  // CHECK-NEXT: %b = method.tanh %a : !fx.tensor<f64[4, 3], cpu>
  // CHECK-NEXT: %c = pyfn.torch.cat [%x, %x] : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %d = method.view %c, i32 : !fx.tensor<i32[4, 3], cpu> aliases(0)
  // CHECK-NEXT: %e = method.tanh %d : !fx.tensor<f32[4, 3], cpu>
  // CHECK-NEXT: %f = pyfn.torch.cat [%x, %x], 1 : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: %g = method.tanh %f : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: %h = method.neg %f : !fx.tensor<f32[2, 6], cpu>
  // CHECK-NEXT: %i = pyfn.torch.cat [%x, %x, %x] : !fx.tensor<f32[6, 3], cpu>
  // CHECK-NEXT: %j = method.relu_ %i : !fx.tensor<f32[6, 3], cpu> aliases(0)
  // CHECK-NEXT: fx.output (%b, %e, %g, %h, %j)
  %a = pyfn.torch.cat [%x, %w] : !fx.tensor<f64[4, 3], cpu>
  %b = method.tanh %a : !fx.tensor<f64[4, 3], cpu>
  %c = pyfn.torch.cat [%x, %x] : !fx.tensor<f32[4, 3], cpu>
  %d = method.view %c, i32 : !fx.tensor<i32[4, 3], cpu> aliases(0)
  %e = method.tanh %d : !fx.tensor<f32[4, 3], cpu>
  %f = pyfn.torch.cat [%x, %x], 1 : !fx.tensor<f32[2, 6], cpu>
  %g = method.tanh %f : !fx.tensor<f32[2, 6], cpu>
  %h = method.neg %f : !fx.tensor<f32[2, 6], cpu>
  %i = pyfn.torch.cat [%x, %x, %x] : !fx.tensor<f32[6, 3], cpu>
  %j = method.relu_ %i : !fx.tensor<f32[6, 3], cpu> aliases(0)
  fx.output (%b, %e, %g, %h, %j)
}

// The graph records of %x what it is in the end, also where it is read before.
// CHECK-LABEL: fx.graph @resized
fx.graph @resized stage(pre_grad) symbols() (%x : !fx.tensor<f32[3, 3][1, 3], cpu>, %y : !fx.tensor<f32[3, 3], cpu>) {
  // CHECK-NEXT: %a = pyfn.torch.cat [%x, %y] : !fx.tensor<f32[6, 3], cpu>
  // CHECK-NEXT: %b = method.tanh %a : !fx.tensor<f32[6, 3], cpu>
  // CHECK-NEXT: %c = method.t_ %x
  // CHECK-NEXT: fx.output (%b, %c)
  %a = pyfn.torch.cat [%x, %y] : !fx.tensor<f32[6, 3], cpu>
  %b = method.tanh %a : !fx.tensor<f32[6, 3], cpu>
  %c = method.t_ %x : !fx.tensor<f32[3, 3][1, 3], cpu> aliases(0)
  fx.output (%b, %c)
}
