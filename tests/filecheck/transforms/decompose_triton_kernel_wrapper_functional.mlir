// RUN: xductor-opt %s -p reinplace_inplaceable_ops,decompose_triton_kernel_wrapper_functional | filecheck %s

// What nobody reads later is written itself.
// CHECK-LABEL: fx.graph @in_place
fx.graph @in_place stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cpu>) {
  // CHECK-NEXT: %s = aten.sin.default %x : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: %higher_order = higher_order.triton_kernel_wrapper_mutation kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %x, "b": %s} : !fx.none {writes = "[\"b\"]"}
  // CHECK-NEXT: fx.output (%s,)
  %s = aten.sin.default %x : !fx.tensor<f32[8], cpu>
  %t = higher_order.triton_kernel_wrapper_functional kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %x, "b": %s}, tensors_to_clone = ["b"] : !fx.object<"builtins.dict">
  %o = pyfn._operator.getitem %t, "b" : !fx.tensor<f32[8], cpu>
  fx.output (%o,)
}

// An input is, if the graph copies the result to it.
// CHECK-LABEL: fx.graph @input
fx.graph @input stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cpu>, %y : !fx.tensor<f32[8], cpu>) {
  // CHECK-NEXT: %higher_order = higher_order.triton_kernel_wrapper_mutation kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %x, "b": %y} : !fx.none {writes = "[\"b\"]"}
  // CHECK-NEXT: fx.output (%x,)
  %t = higher_order.triton_kernel_wrapper_functional kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %x, "b": %y}, tensors_to_clone = ["b"] : !fx.object<"builtins.dict">
  %o = pyfn._operator.getitem %t, "b" : !fx.tensor<f32[8], cpu>
  %c = aten.copy_.default %y, %o : !fx.tensor<f32[8], cpu>
  fx.output (%x,)
}

// Where the old content is read later, or the caller's tensor would be written, there is a copy.
// CHECK-LABEL: fx.graph @read_later
fx.graph @read_later stage(post_grad) symbols() (%x : !fx.tensor<f32[8], cpu>) {
  // CHECK-NEXT: %s = aten.sin.default %x : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %s : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: %higher_order = higher_order.triton_kernel_wrapper_mutation kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %x, "b": %clone} : !fx.none {writes = "[\"b\"]"}
  // CHECK-NEXT: %c = aten.cos.default %s : !fx.tensor<f32[8], cpu>
  // CHECK-NEXT: fx.output (%clone, %c)
  %s = aten.sin.default %x : !fx.tensor<f32[8], cpu>
  %t = higher_order.triton_kernel_wrapper_functional kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %x, "b": %s}, tensors_to_clone = ["b"] : !fx.object<"builtins.dict">
  %o = pyfn._operator.getitem %t, "b" : !fx.tensor<f32[8], cpu>
  %c = aten.cos.default %s : !fx.tensor<f32[8], cpu>
  fx.output (%o, %c)
}

// CHECK-LABEL: fx.graph @of_the_caller
fx.graph @of_the_caller stage(post_grad) symbols() (%x : !fx.tensor<f32[4, 8][16, 1], cpu>) {
  // CHECK-NEXT: %as_strided = aten.as_strided.default %x, [56], [1], 0 : !fx.tensor<f32[56], cpu>
  // CHECK-NEXT: %clone = aten.clone.default %as_strided : !fx.tensor<f32[56], cpu>
  // CHECK-NEXT: %as_strided_1 = aten.as_strided.default %clone, [4, 8], [16, 1], 0 : !fx.tensor<f32[4, 8][16, 1], cpu>
  // CHECK-NEXT: %higher_order = higher_order.triton_kernel_wrapper_mutation kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %as_strided_1} : !fx.none {writes = "[\"a\"]"}
  // CHECK-NEXT: fx.output (%as_strided_1,)
  %t = higher_order.triton_kernel_wrapper_functional kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {"a": %x}, tensors_to_clone = ["a"] : !fx.object<"builtins.dict">
  %o = pyfn._operator.getitem %t, "a" : !fx.tensor<f32[4, 8][16, 1], cpu>
  fx.output (%o,)
}
