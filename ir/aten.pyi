"""Op functions of `aten`. Written by `python -m xductor.ir.functions.stubs` for torch 2.13.0; do not edit."""

# pyright: reportOverlappingOverload=false, reportUnusedImport=false

from typing import overload

from xductor.ir.functions.op_functions import OpFunction, OverloadFunction
from xductor.ir.functions.op_function_types import (
    Anything,
    BoolArg,
    DeviceArg,
    DtypeArg,
    FloatArg,
    IntArg,
    LayoutArg,
    Many,
    MemoryFormatArg,
    ObjectArg,
    Result,
    ScalarArg,
    StrArg,
    TensorArg,
    Value,
)

class _op__adaptive_avg_pool2d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op__adaptive_avg_pool2d(OpFunction):
    default: _op__adaptive_avg_pool2d__default
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
_adaptive_avg_pool2d: _op__adaptive_avg_pool2d
class _op__adaptive_avg_pool2d_backward__default(OverloadFunction):
    def __call__(_op, grad_output: TensorArg, self: TensorArg) -> Result: ...
class _op__adaptive_avg_pool2d_backward(OpFunction):
    default: _op__adaptive_avg_pool2d_backward__default
    def __call__(_op, grad_output: TensorArg, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
_adaptive_avg_pool2d_backward: _op__adaptive_avg_pool2d_backward
class _op__adaptive_avg_pool3d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op__adaptive_avg_pool3d(OpFunction):
    default: _op__adaptive_avg_pool3d__default
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
_adaptive_avg_pool3d: _op__adaptive_avg_pool3d
class _op__assert_scalar__default(OverloadFunction):
    def __call__(_op, self: ScalarArg, assert_msg: StrArg) -> None: ...
class _op__assert_scalar(OpFunction):
    default: _op__assert_scalar__default
    def __call__(_op, self: ScalarArg, assert_msg: StrArg) -> None: ...
    __getattr__: None  # type: ignore
_assert_scalar: _op__assert_scalar
class _op__assert_tensor_metadata__default(OverloadFunction):
    def __call__(_op, a: TensorArg, size: Many[IntArg] | Value | Anything | None = ..., stride: Many[IntArg] | Value | Anything | None = ..., dtype: DtypeArg | None = ..., *, device: DeviceArg | None = ..., layout: LayoutArg | None = ...) -> None: ...
class _op__assert_tensor_metadata(OpFunction):
    default: _op__assert_tensor_metadata__default
    def __call__(_op, a: TensorArg, size: Many[IntArg] | Value | Anything | None = ..., stride: Many[IntArg] | Value | Anything | None = ..., dtype: DtypeArg | None = ..., *, device: DeviceArg | None = ..., layout: LayoutArg | None = ...) -> None: ...
    __getattr__: None  # type: ignore
_assert_tensor_metadata: _op__assert_tensor_metadata
class _op__cdist_forward__default(OverloadFunction):
    def __call__(_op, x1: TensorArg, x2: TensorArg, p: FloatArg, compute_mode: IntArg | None) -> Result: ...
class _op__cdist_forward(OpFunction):
    default: _op__cdist_forward__default
    def __call__(_op, x1: TensorArg, x2: TensorArg, p: FloatArg, compute_mode: IntArg | None) -> Result: ...
    __getattr__: None  # type: ignore
_cdist_forward: _op__cdist_forward
class _op__convert_weight_to_int4pack_for_cpu__default(OverloadFunction):
    def __call__(_op, self: TensorArg, innerKTiles: IntArg) -> Result: ...
class _op__convert_weight_to_int4pack_for_cpu(OpFunction):
    default: _op__convert_weight_to_int4pack_for_cpu__default
    def __call__(_op, self: TensorArg, innerKTiles: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
_convert_weight_to_int4pack_for_cpu: _op__convert_weight_to_int4pack_for_cpu
class _op__embedding_bag__default(OverloadFunction):
    def __call__(_op, weight: TensorArg, indices: TensorArg, offsets: TensorArg, scale_grad_by_freq: BoolArg = ..., mode: IntArg = ..., sparse: BoolArg = ..., per_sample_weights: TensorArg | None = ..., include_last_offset: BoolArg = ..., padding_idx: IntArg = ...) -> tuple[Result, Result, Result, Result]: ...
class _op__embedding_bag(OpFunction):
    default: _op__embedding_bag__default
    def __call__(_op, weight: TensorArg, indices: TensorArg, offsets: TensorArg, scale_grad_by_freq: BoolArg = ..., mode: IntArg = ..., sparse: BoolArg = ..., per_sample_weights: TensorArg | None = ..., include_last_offset: BoolArg = ..., padding_idx: IntArg = ...) -> tuple[Result, Result, Result, Result]: ...
    __getattr__: None  # type: ignore
_embedding_bag: _op__embedding_bag
class _op__fft_c2r__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything, normalization: IntArg, last_dim_size: IntArg) -> Result: ...
class _op__fft_c2r(OpFunction):
    default: _op__fft_c2r__default
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything, normalization: IntArg, last_dim_size: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
_fft_c2r: _op__fft_c2r
class _op__fft_r2c__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything, normalization: IntArg, onesided: BoolArg) -> Result: ...
class _op__fft_r2c(OpFunction):
    default: _op__fft_r2c__default
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything, normalization: IntArg, onesided: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
_fft_r2c: _op__fft_r2c
class _op__foreach_div__Scalar(OverloadFunction):
    def __call__(_op, self: Many[TensorArg] | Value | Anything, scalar: ScalarArg) -> list[Result]: ...
class _op__foreach_div__List(OverloadFunction):
    def __call__(_op, self: Many[TensorArg] | Value | Anything, other: Many[TensorArg] | Value | Anything) -> list[Result]: ...
class _op__foreach_div__ScalarList(OverloadFunction):
    def __call__(_op, self: Many[TensorArg] | Value | Anything, scalars: Many[ScalarArg] | Value | Anything) -> list[Result]: ...
class _op__foreach_div__Tensor(OverloadFunction):
    def __call__(_op, self: Many[TensorArg] | Value | Anything, other: TensorArg) -> list[Result]: ...
class _op__foreach_div(OpFunction):
    Scalar: _op__foreach_div__Scalar
    List: _op__foreach_div__List
    ScalarList: _op__foreach_div__ScalarList
    Tensor: _op__foreach_div__Tensor
    @overload
    def __call__(_op, self: Many[TensorArg] | Value | Anything, scalar: ScalarArg) -> list[Result]: ...
    @overload
    def __call__(_op, self: Many[TensorArg] | Value | Anything, other: Many[TensorArg] | Value | Anything) -> list[Result]: ...
    @overload
    def __call__(_op, self: Many[TensorArg] | Value | Anything, scalars: Many[ScalarArg] | Value | Anything) -> list[Result]: ...
    @overload
    def __call__(_op, self: Many[TensorArg] | Value | Anything, other: TensorArg) -> list[Result]: ...
    __getattr__: None  # type: ignore
_foreach_div: _op__foreach_div
class _op__int_mm__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg) -> Result: ...
class _op__int_mm(OpFunction):
    default: _op__int_mm__default
    def __call__(_op, self: TensorArg, mat2: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
_int_mm: _op__int_mm
class _op__local_scalar_dense__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op__local_scalar_dense(OpFunction):
    default: _op__local_scalar_dense__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
_local_scalar_dense: _op__local_scalar_dense
class _op__log_softmax__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, half_to_float: BoolArg) -> Result: ...
class _op__log_softmax(OpFunction):
    default: _op__log_softmax__default
    def __call__(_op, self: TensorArg, dim: IntArg, half_to_float: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
_log_softmax: _op__log_softmax
class _op__native_batch_norm_legit__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, running_mean: TensorArg, running_var: TensorArg, training: BoolArg, momentum: FloatArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
class _op__native_batch_norm_legit__no_stats(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, training: BoolArg, momentum: FloatArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
class _op__native_batch_norm_legit(OpFunction):
    default: _op__native_batch_norm_legit__default
    no_stats: _op__native_batch_norm_legit__no_stats
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, running_mean: TensorArg, running_var: TensorArg, training: BoolArg, momentum: FloatArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, training: BoolArg, momentum: FloatArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
_native_batch_norm_legit: _op__native_batch_norm_legit
class _op__native_batch_norm_legit_no_training__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, running_mean: TensorArg, running_var: TensorArg, momentum: FloatArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
class _op__native_batch_norm_legit_no_training(OpFunction):
    default: _op__native_batch_norm_legit_no_training__default
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, running_mean: TensorArg, running_var: TensorArg, momentum: FloatArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
_native_batch_norm_legit_no_training: _op__native_batch_norm_legit_no_training
class _op__pdist_forward__default(OverloadFunction):
    def __call__(_op, self: TensorArg, p: FloatArg = ...) -> Result: ...
class _op__pdist_forward(OpFunction):
    default: _op__pdist_forward__default
    def __call__(_op, self: TensorArg, p: FloatArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
_pdist_forward: _op__pdist_forward
class _op__safe_softmax__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, dtype: DtypeArg | None = ...) -> Result: ...
class _op__safe_softmax(OpFunction):
    default: _op__safe_softmax__default
    def __call__(_op, self: TensorArg, dim: IntArg, dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
_safe_softmax: _op__safe_softmax
class _op__scaled_dot_product_efficient_attention__default(OverloadFunction):
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, attn_bias: TensorArg | None, compute_log_sumexp: BoolArg, dropout_p: FloatArg = ..., is_causal: BoolArg = ..., *, scale: FloatArg | None = ...) -> tuple[Result, Result, Result, Result]: ...
class _op__scaled_dot_product_efficient_attention(OpFunction):
    default: _op__scaled_dot_product_efficient_attention__default
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, attn_bias: TensorArg | None, compute_log_sumexp: BoolArg, dropout_p: FloatArg = ..., is_causal: BoolArg = ..., *, scale: FloatArg | None = ...) -> tuple[Result, Result, Result, Result]: ...
    __getattr__: None  # type: ignore
_scaled_dot_product_efficient_attention: _op__scaled_dot_product_efficient_attention
class _op__scaled_dot_product_flash_attention__default(OverloadFunction):
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, dropout_p: FloatArg = ..., is_causal: BoolArg = ..., return_debug_mask: BoolArg = ..., *, scale: FloatArg | None = ...) -> tuple[Result, Result, Result, Result, Result, Result, Result, Result, Result]: ...
class _op__scaled_dot_product_flash_attention__quantized(OverloadFunction):
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, q_descale: TensorArg | None, k_descale: TensorArg | None, v_descale: TensorArg | None, dropout_p: FloatArg = ..., is_causal: BoolArg = ..., return_debug_mask: BoolArg = ..., *, scale: FloatArg | None = ...) -> tuple[Result, Result, Result, Result, Result, Result, Result, Result, Result]: ...
class _op__scaled_dot_product_flash_attention(OpFunction):
    default: _op__scaled_dot_product_flash_attention__default
    quantized: _op__scaled_dot_product_flash_attention__quantized
    @overload
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, dropout_p: FloatArg = ..., is_causal: BoolArg = ..., return_debug_mask: BoolArg = ..., *, scale: FloatArg | None = ...) -> tuple[Result, Result, Result, Result, Result, Result, Result, Result, Result]: ...
    @overload
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, q_descale: TensorArg | None, k_descale: TensorArg | None, v_descale: TensorArg | None, dropout_p: FloatArg = ..., is_causal: BoolArg = ..., return_debug_mask: BoolArg = ..., *, scale: FloatArg | None = ...) -> tuple[Result, Result, Result, Result, Result, Result, Result, Result, Result]: ...
    __getattr__: None  # type: ignore
_scaled_dot_product_flash_attention: _op__scaled_dot_product_flash_attention
class _op__scaled_mm__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg, scale_a: TensorArg, scale_b: TensorArg, bias: TensorArg | None = ..., scale_result: TensorArg | None = ..., out_dtype: DtypeArg | None = ..., use_fast_accum: BoolArg = ...) -> Result: ...
class _op__scaled_mm(OpFunction):
    default: _op__scaled_mm__default
    def __call__(_op, self: TensorArg, mat2: TensorArg, scale_a: TensorArg, scale_b: TensorArg, bias: TensorArg | None = ..., scale_result: TensorArg | None = ..., out_dtype: DtypeArg | None = ..., use_fast_accum: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
_scaled_mm: _op__scaled_mm
class _op__softmax__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, half_to_float: BoolArg) -> Result: ...
class _op__softmax(OpFunction):
    default: _op__softmax__default
    def __call__(_op, self: TensorArg, dim: IntArg, half_to_float: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
_softmax: _op__softmax
class _op__to_copy__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., non_blocking: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op__to_copy(OpFunction):
    default: _op__to_copy__default
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., non_blocking: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
_to_copy: _op__to_copy
class _op__unsafe_index__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything) -> Result: ...
class _op__unsafe_index(OpFunction):
    Tensor: _op__unsafe_index__Tensor
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
_unsafe_index: _op__unsafe_index
class _op__unsafe_index_put__default(OverloadFunction):
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
class _op__unsafe_index_put(OpFunction):
    default: _op__unsafe_index_put__default
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
_unsafe_index_put: _op__unsafe_index_put
class _op__weight_int4pack_mm_for_cpu__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg, qGroupSize: IntArg, qScaleAndZeros: TensorArg) -> Result: ...
class _op__weight_int4pack_mm_for_cpu(OpFunction):
    default: _op__weight_int4pack_mm_for_cpu__default
    def __call__(_op, self: TensorArg, mat2: TensorArg, qGroupSize: IntArg, qScaleAndZeros: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
_weight_int4pack_mm_for_cpu: _op__weight_int4pack_mm_for_cpu
class _op__weight_int8pack_mm__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg, scales: TensorArg) -> Result: ...
class _op__weight_int8pack_mm(OpFunction):
    default: _op__weight_int8pack_mm__default
    def __call__(_op, self: TensorArg, mat2: TensorArg, scales: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
_weight_int8pack_mm: _op__weight_int8pack_mm
class _op_abs__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_abs(OpFunction):
    default: _op_abs__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
abs: _op_abs
class _op_acos__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_acos(OpFunction):
    default: _op_acos__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
acos: _op_acos
class _op_acosh__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_acosh(OpFunction):
    default: _op_acosh__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
acosh: _op_acosh
class _op_adaptive_avg_pool1d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op_adaptive_avg_pool1d(OpFunction):
    default: _op_adaptive_avg_pool1d__default
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
adaptive_avg_pool1d: _op_adaptive_avg_pool1d
class _op_add__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, alpha: ScalarArg = ...) -> Result: ...
class _op_add__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: ScalarArg, alpha: ScalarArg = ...) -> Result: ...
class _op_add(OpFunction):
    Tensor: _op_add__Tensor
    Scalar: _op_add__Scalar
    @overload
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, alpha: ScalarArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg | float, other: ScalarArg, alpha: ScalarArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
add: _op_add
class _op_addmm__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mat1: TensorArg, mat2: TensorArg, *, beta: ScalarArg = ..., alpha: ScalarArg = ...) -> Result: ...
class _op_addmm__dtype(OverloadFunction):
    def __call__(_op, self: TensorArg, mat1: TensorArg, mat2: TensorArg, out_dtype: DtypeArg, *, beta: ScalarArg = ..., alpha: ScalarArg = ...) -> Result: ...
class _op_addmm(OpFunction):
    default: _op_addmm__default
    dtype: _op_addmm__dtype
    @overload
    def __call__(_op, self: TensorArg, mat1: TensorArg, mat2: TensorArg, *, beta: ScalarArg = ..., alpha: ScalarArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, mat1: TensorArg, mat2: TensorArg, out_dtype: DtypeArg, *, beta: ScalarArg = ..., alpha: ScalarArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
addmm: _op_addmm
class _op_alias__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_alias(OpFunction):
    default: _op_alias__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
alias: _op_alias
class _op_amax__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg = ..., keepdim: BoolArg = ...) -> Result: ...
class _op_amax(OpFunction):
    default: _op_amax__default
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg = ..., keepdim: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
amax: _op_amax
class _op_amin__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg = ..., keepdim: BoolArg = ...) -> Result: ...
class _op_amin(OpFunction):
    default: _op_amin__default
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg = ..., keepdim: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
amin: _op_amin
class _op_any__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_any__dim(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ...) -> Result: ...
class _op_any__dims(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | None = ..., keepdim: BoolArg = ...) -> Result: ...
class _op_any(OpFunction):
    default: _op_any__default
    dim: _op_any__dim
    dims: _op_any__dims
    @overload
    def __call__(_op, self: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | None = ..., keepdim: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
any: _op_any
class _op_arange__default(OverloadFunction):
    def __call__(_op, end: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_arange__start(OverloadFunction):
    def __call__(_op, start: ScalarArg, end: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_arange__start_step(OverloadFunction):
    def __call__(_op, start: ScalarArg, end: ScalarArg, step: ScalarArg = ..., *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_arange(OpFunction):
    default: _op_arange__default
    start: _op_arange__start
    start_step: _op_arange__start_step
    @overload
    def __call__(_op, end: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, start: ScalarArg, end: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, start: ScalarArg, end: ScalarArg, step: ScalarArg = ..., *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
arange: _op_arange
class _op_argmax__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg | None = ..., keepdim: BoolArg = ...) -> Result: ...
class _op_argmax(OpFunction):
    default: _op_argmax__default
    def __call__(_op, self: TensorArg, dim: IntArg | None = ..., keepdim: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
argmax: _op_argmax
class _op_argmin__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg | None = ..., keepdim: BoolArg = ...) -> Result: ...
class _op_argmin(OpFunction):
    default: _op_argmin__default
    def __call__(_op, self: TensorArg, dim: IntArg | None = ..., keepdim: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
argmin: _op_argmin
class _op_as_strided__default(OverloadFunction):
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg | None = ...) -> Result: ...
class _op_as_strided(OpFunction):
    default: _op_as_strided__default
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
as_strided: _op_as_strided
class _op_as_strided_scatter__default(OverloadFunction):
    def __call__(_op, self: TensorArg, src: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg | None = ...) -> Result: ...
class _op_as_strided_scatter(OpFunction):
    default: _op_as_strided_scatter__default
    def __call__(_op, self: TensorArg, src: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
as_strided_scatter: _op_as_strided_scatter
class _op_asin__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_asin(OpFunction):
    default: _op_asin__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
asin: _op_asin
class _op_asinh__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_asinh(OpFunction):
    default: _op_asinh__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
asinh: _op_asinh
class _op_atan__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_atan(OpFunction):
    default: _op_atan__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
atan: _op_atan
class _op_atan2__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_atan2(OpFunction):
    default: _op_atan2__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
atan2: _op_atan2
class _op_atanh__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_atanh(OpFunction):
    default: _op_atanh__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
atanh: _op_atanh
class _op_avg_pool1d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ..., count_include_pad: BoolArg = ...) -> Result: ...
class _op_avg_pool1d(OpFunction):
    default: _op_avg_pool1d__default
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ..., count_include_pad: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
avg_pool1d: _op_avg_pool1d
class _op_avg_pool2d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ..., count_include_pad: BoolArg = ..., divisor_override: IntArg | None = ...) -> Result: ...
class _op_avg_pool2d(OpFunction):
    default: _op_avg_pool2d__default
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ..., count_include_pad: BoolArg = ..., divisor_override: IntArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
avg_pool2d: _op_avg_pool2d
class _op_avg_pool2d_backward__default(OverloadFunction):
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, count_include_pad: BoolArg, divisor_override: IntArg | None) -> Result: ...
class _op_avg_pool2d_backward__grad_input(OverloadFunction):
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, count_include_pad: BoolArg, divisor_override: IntArg | None, *, grad_input: TensorArg) -> Result: ...
class _op_avg_pool2d_backward(OpFunction):
    default: _op_avg_pool2d_backward__default
    grad_input: _op_avg_pool2d_backward__grad_input
    @overload
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, count_include_pad: BoolArg, divisor_override: IntArg | None) -> Result: ...
    @overload
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, count_include_pad: BoolArg, divisor_override: IntArg | None, *, grad_input: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
avg_pool2d_backward: _op_avg_pool2d_backward
class _op_avg_pool3d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ..., count_include_pad: BoolArg = ..., divisor_override: IntArg | None = ...) -> Result: ...
class _op_avg_pool3d(OpFunction):
    default: _op_avg_pool3d__default
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ..., count_include_pad: BoolArg = ..., divisor_override: IntArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
avg_pool3d: _op_avg_pool3d
class _op_batch_norm__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, running_mean: TensorArg | None, running_var: TensorArg | None, training: BoolArg, momentum: FloatArg, eps: FloatArg, cudnn_enabled: BoolArg) -> Result: ...
class _op_batch_norm(OpFunction):
    default: _op_batch_norm__default
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, running_mean: TensorArg | None, running_var: TensorArg | None, training: BoolArg, momentum: FloatArg, eps: FloatArg, cudnn_enabled: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
batch_norm: _op_batch_norm
class _op_bitwise_and__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_bitwise_and__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_bitwise_and__Scalar_Tensor(OverloadFunction):
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
class _op_bitwise_and(OpFunction):
    Tensor: _op_bitwise_and__Tensor
    Scalar: _op_bitwise_and__Scalar
    Scalar_Tensor: _op_bitwise_and__Scalar_Tensor
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_and: _op_bitwise_and
class _op_bitwise_not__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bitwise_not(OpFunction):
    default: _op_bitwise_not__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_not: _op_bitwise_not
class _op_bitwise_or__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_bitwise_or__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_bitwise_or__Scalar_Tensor(OverloadFunction):
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
class _op_bitwise_or(OpFunction):
    Tensor: _op_bitwise_or__Tensor
    Scalar: _op_bitwise_or__Scalar
    Scalar_Tensor: _op_bitwise_or__Scalar_Tensor
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_or: _op_bitwise_or
class _op_bitwise_xor__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_bitwise_xor__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_bitwise_xor__Scalar_Tensor(OverloadFunction):
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
class _op_bitwise_xor(OpFunction):
    Tensor: _op_bitwise_xor__Tensor
    Scalar: _op_bitwise_xor__Scalar
    Scalar_Tensor: _op_bitwise_xor__Scalar_Tensor
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_xor: _op_bitwise_xor
class _op_bmm__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg) -> Result: ...
class _op_bmm__dtype(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg, out_dtype: DtypeArg) -> Result: ...
class _op_bmm(OpFunction):
    default: _op_bmm__default
    dtype: _op_bmm__dtype
    @overload
    def __call__(_op, self: TensorArg, mat2: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, mat2: TensorArg, out_dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
bmm: _op_bmm
class _op_broadcast_to__default(OverloadFunction):
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything) -> Result: ...
class _op_broadcast_to(OpFunction):
    default: _op_broadcast_to__default
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
broadcast_to: _op_broadcast_to
class _op_cat__default(OverloadFunction):
    def __call__(_op, tensors: Many[TensorArg] | Value | Anything, dim: IntArg = ...) -> Result: ...
class _op_cat(OpFunction):
    default: _op_cat__default
    def __call__(_op, tensors: Many[TensorArg] | Value | Anything, dim: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
cat: _op_cat
class _op_ceil__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_ceil(OpFunction):
    default: _op_ceil__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
ceil: _op_ceil
class _op_chunk__default(OverloadFunction):
    def __call__(_op, self: TensorArg, chunks: IntArg, dim: IntArg = ...) -> list[Result]: ...
class _op_chunk(OpFunction):
    default: _op_chunk__default
    def __call__(_op, self: TensorArg, chunks: IntArg, dim: IntArg = ...) -> list[Result]: ...
    __getattr__: None  # type: ignore
chunk: _op_chunk
class _op_clamp__default(OverloadFunction):
    def __call__(_op, self: TensorArg, min: ScalarArg | None = ..., max: ScalarArg | None = ...) -> Result: ...
class _op_clamp__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, min: TensorArg | None = ..., max: TensorArg | None = ...) -> Result: ...
class _op_clamp(OpFunction):
    default: _op_clamp__default
    Tensor: _op_clamp__Tensor
    @overload
    def __call__(_op, self: TensorArg, min: ScalarArg | None = ..., max: ScalarArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, min: TensorArg | None = ..., max: TensorArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
clamp: _op_clamp
class _op_clamp_max__default(OverloadFunction):
    def __call__(_op, self: TensorArg, max: ScalarArg) -> Result: ...
class _op_clamp_max__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, max: TensorArg) -> Result: ...
class _op_clamp_max(OpFunction):
    default: _op_clamp_max__default
    Tensor: _op_clamp_max__Tensor
    @overload
    def __call__(_op, self: TensorArg, max: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, max: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
clamp_max: _op_clamp_max
class _op_clamp_min__default(OverloadFunction):
    def __call__(_op, self: TensorArg, min: ScalarArg) -> Result: ...
class _op_clamp_min__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, min: TensorArg) -> Result: ...
class _op_clamp_min(OpFunction):
    default: _op_clamp_min__default
    Tensor: _op_clamp_min__Tensor
    @overload
    def __call__(_op, self: TensorArg, min: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, min: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
clamp_min: _op_clamp_min
class _op_clone__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_clone(OpFunction):
    default: _op_clone__default
    def __call__(_op, self: TensorArg, *, memory_format: MemoryFormatArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
clone: _op_clone
class _op_col2im__default(OverloadFunction):
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, dilation: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op_col2im(OpFunction):
    default: _op_col2im__default
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, dilation: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
col2im: _op_col2im
class _op_constant_pad_nd__default(OverloadFunction):
    def __call__(_op, self: TensorArg, pad: Many[IntArg] | Value | Anything, value: ScalarArg = ...) -> Result: ...
class _op_constant_pad_nd(OpFunction):
    default: _op_constant_pad_nd__default
    def __call__(_op, self: TensorArg, pad: Many[IntArg] | Value | Anything, value: ScalarArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
constant_pad_nd: _op_constant_pad_nd
class _op_contiguous__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, memory_format: MemoryFormatArg = ...) -> Result: ...
class _op_contiguous(OpFunction):
    default: _op_contiguous__default
    def __call__(_op, self: TensorArg, *, memory_format: MemoryFormatArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
contiguous: _op_contiguous
class _op_conv1d__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
class _op_conv1d__padding(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: StrArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
class _op_conv1d(OpFunction):
    default: _op_conv1d__default
    padding: _op_conv1d__padding
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: StrArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
conv1d: _op_conv1d
class _op_conv2d__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
class _op_conv2d__padding(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: StrArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
class _op_conv2d(OpFunction):
    default: _op_conv2d__default
    padding: _op_conv2d__padding
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: StrArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
conv2d: _op_conv2d
class _op_conv3d__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
class _op_conv3d__padding(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: StrArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
class _op_conv3d(OpFunction):
    default: _op_conv3d__default
    padding: _op_conv3d__padding
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
    @overload
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: StrArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
conv3d: _op_conv3d
class _op_conv_transpose1d__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., output_padding: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ...) -> Result: ...
class _op_conv_transpose1d(OpFunction):
    default: _op_conv_transpose1d__default
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., output_padding: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
conv_transpose1d: _op_conv_transpose1d
class _op_conv_transpose2d__input(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., output_padding: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ...) -> Result: ...
class _op_conv_transpose2d(OpFunction):
    input: _op_conv_transpose2d__input
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., output_padding: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
conv_transpose2d: _op_conv_transpose2d
class _op_conv_transpose3d__input(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., output_padding: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ...) -> Result: ...
class _op_conv_transpose3d(OpFunction):
    input: _op_conv_transpose3d__input
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ..., stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., output_padding: Many[IntArg] | Value | Anything | IntArg = ..., groups: IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
conv_transpose3d: _op_conv_transpose3d
class _op_convolution__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything, transposed: BoolArg, output_padding: Many[IntArg] | Value | Anything, groups: IntArg) -> Result: ...
class _op_convolution(OpFunction):
    default: _op_convolution__default
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything, transposed: BoolArg, output_padding: Many[IntArg] | Value | Anything, groups: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
convolution: _op_convolution
class _op_convolution_backward__default(OverloadFunction):
    def __call__(_op, grad_output: TensorArg, input: TensorArg, weight: TensorArg, bias_sizes: Many[IntArg] | Value | Anything | None, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything, transposed: BoolArg, output_padding: Many[IntArg] | Value | Anything, groups: IntArg, output_mask: Many[BoolArg] | Value | Anything | BoolArg) -> tuple[Result, Result, Result]: ...
class _op_convolution_backward(OpFunction):
    default: _op_convolution_backward__default
    def __call__(_op, grad_output: TensorArg, input: TensorArg, weight: TensorArg, bias_sizes: Many[IntArg] | Value | Anything | None, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything, transposed: BoolArg, output_padding: Many[IntArg] | Value | Anything, groups: IntArg, output_mask: Many[BoolArg] | Value | Anything | BoolArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
convolution_backward: _op_convolution_backward
class _op_copy__default(OverloadFunction):
    def __call__(_op, self: TensorArg, src: TensorArg, non_blocking: BoolArg = ...) -> Result: ...
class _op_copy(OpFunction):
    default: _op_copy__default
    def __call__(_op, self: TensorArg, src: TensorArg, non_blocking: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
copy: _op_copy
class _op_copy___default(OverloadFunction):
    def __call__(_op, self: TensorArg, src: TensorArg, non_blocking: BoolArg = ...) -> Result: ...
class _op_copy_(OpFunction):
    default: _op_copy___default
    def __call__(_op, self: TensorArg, src: TensorArg, non_blocking: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
copy_: _op_copy_
class _op_cos__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_cos(OpFunction):
    default: _op_cos__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
cos: _op_cos
class _op_cosh__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_cosh(OpFunction):
    default: _op_cosh__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
cosh: _op_cosh
class _op_cumsum__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_cumsum(OpFunction):
    default: _op_cumsum__default
    def __call__(_op, self: TensorArg, dim: IntArg, *, dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
cumsum: _op_cumsum
class _op_detach__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_detach(OpFunction):
    default: _op_detach__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
detach: _op_detach
class _op_diagonal__default(OverloadFunction):
    def __call__(_op, self: TensorArg, offset: IntArg = ..., dim1: IntArg = ..., dim2: IntArg = ...) -> Result: ...
class _op_diagonal(OpFunction):
    default: _op_diagonal__default
    def __call__(_op, self: TensorArg, offset: IntArg = ..., dim1: IntArg = ..., dim2: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
diagonal: _op_diagonal
class _op_diagonal_scatter__default(OverloadFunction):
    def __call__(_op, self: TensorArg, src: TensorArg, offset: IntArg = ..., dim1: IntArg = ..., dim2: IntArg = ...) -> Result: ...
class _op_diagonal_scatter(OpFunction):
    default: _op_diagonal_scatter__default
    def __call__(_op, self: TensorArg, src: TensorArg, offset: IntArg = ..., dim1: IntArg = ..., dim2: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
diagonal_scatter: _op_diagonal_scatter
class _op_div__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
class _op_div__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: ScalarArg) -> Result: ...
class _op_div__Tensor_mode(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, rounding_mode: StrArg | None) -> Result: ...
class _op_div__Scalar_mode(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: ScalarArg, *, rounding_mode: StrArg | None) -> Result: ...
class _op_div__out_mode(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, rounding_mode: StrArg | None, out: TensorArg | float) -> Result: ...
class _op_div(OpFunction):
    Tensor: _op_div__Tensor
    Scalar: _op_div__Scalar
    Tensor_mode: _op_div__Tensor_mode
    Scalar_mode: _op_div__Scalar_mode
    out_mode: _op_div__out_mode
    @overload
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg | float, other: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, rounding_mode: StrArg | None) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg | float, other: ScalarArg, *, rounding_mode: StrArg | None) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, rounding_mode: StrArg | None, out: TensorArg | float) -> Result: ...
    __getattr__: None  # type: ignore
div: _op_div
class _op_elu__default(OverloadFunction):
    def __call__(_op, self: TensorArg, alpha: ScalarArg = ..., scale: ScalarArg = ..., input_scale: ScalarArg = ...) -> Result: ...
class _op_elu(OpFunction):
    default: _op_elu__default
    def __call__(_op, self: TensorArg, alpha: ScalarArg = ..., scale: ScalarArg = ..., input_scale: ScalarArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
elu: _op_elu
class _op_embedding__default(OverloadFunction):
    def __call__(_op, weight: TensorArg, indices: TensorArg, padding_idx: IntArg = ..., scale_grad_by_freq: BoolArg = ..., sparse: BoolArg = ...) -> Result: ...
class _op_embedding(OpFunction):
    default: _op_embedding__default
    def __call__(_op, weight: TensorArg, indices: TensorArg, padding_idx: IntArg = ..., scale_grad_by_freq: BoolArg = ..., sparse: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
embedding: _op_embedding
class _op_embedding_dense_backward__default(OverloadFunction):
    def __call__(_op, grad_output: TensorArg, indices: TensorArg, num_weights: IntArg, padding_idx: IntArg, scale_grad_by_freq: BoolArg) -> Result: ...
class _op_embedding_dense_backward(OpFunction):
    default: _op_embedding_dense_backward__default
    def __call__(_op, grad_output: TensorArg, indices: TensorArg, num_weights: IntArg, padding_idx: IntArg, scale_grad_by_freq: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
embedding_dense_backward: _op_embedding_dense_backward
class _op_empty__memory_format(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_empty(OpFunction):
    memory_format: _op_empty__memory_format
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
empty: _op_empty
class _op_empty_strided__default(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_empty_strided(OpFunction):
    default: _op_empty_strided__default
    def __call__(_op, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
empty_strided: _op_empty_strided
class _op_eq__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_eq__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_eq(OpFunction):
    Tensor: _op_eq__Tensor
    Scalar: _op_eq__Scalar
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
eq: _op_eq
class _op_erf__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_erf(OpFunction):
    default: _op_erf__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
erf: _op_erf
class _op_exp__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_exp(OpFunction):
    default: _op_exp__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
exp: _op_exp
class _op_expand__default(OverloadFunction):
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything, *, implicit: BoolArg = ...) -> Result: ...
class _op_expand(OpFunction):
    default: _op_expand__default
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything, *, implicit: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
expand: _op_expand
class _op_expm1__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_expm1(OpFunction):
    default: _op_expm1__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
expm1: _op_expm1
class _op_fill__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, value: ScalarArg) -> Result: ...
class _op_fill__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, value: TensorArg) -> Result: ...
class _op_fill(OpFunction):
    Scalar: _op_fill__Scalar
    Tensor: _op_fill__Tensor
    @overload
    def __call__(_op, self: TensorArg, value: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, value: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
fill: _op_fill
class _op_flatten__using_ints(OverloadFunction):
    def __call__(_op, self: TensorArg, start_dim: IntArg = ..., end_dim: IntArg = ...) -> Result: ...
class _op_flatten(OpFunction):
    using_ints: _op_flatten__using_ints
    def __call__(_op, self: TensorArg, start_dim: IntArg = ..., end_dim: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
flatten: _op_flatten
class _op_flip__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dims: Many[IntArg] | Value | Anything) -> Result: ...
class _op_flip(OpFunction):
    default: _op_flip__default
    def __call__(_op, self: TensorArg, dims: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
flip: _op_flip
class _op_floor__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_floor(OpFunction):
    default: _op_floor__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
floor: _op_floor
class _op_fmod__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_fmod__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_fmod(OpFunction):
    Tensor: _op_fmod__Tensor
    Scalar: _op_fmod__Scalar
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
fmod: _op_fmod
class _op_frobenius_norm__dim(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg, keepdim: BoolArg = ...) -> Result: ...
class _op_frobenius_norm(OpFunction):
    dim: _op_frobenius_norm__dim
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg, keepdim: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
frobenius_norm: _op_frobenius_norm
class _op_full__default(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, fill_value: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_full(OpFunction):
    default: _op_full__default
    def __call__(_op, size: Many[IntArg] | Value | Anything, fill_value: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
full: _op_full
class _op_full_like__default(OverloadFunction):
    def __call__(_op, self: TensorArg, fill_value: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_full_like(OpFunction):
    default: _op_full_like__default
    def __call__(_op, self: TensorArg, fill_value: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
full_like: _op_full_like
class _op_gather__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, *, sparse_grad: BoolArg = ...) -> Result: ...
class _op_gather(OpFunction):
    default: _op_gather__default
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, *, sparse_grad: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
gather: _op_gather
class _op_ge__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_ge__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_ge(OpFunction):
    Tensor: _op_ge__Tensor
    Scalar: _op_ge__Scalar
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
ge: _op_ge
class _op_gelu__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, approximate: StrArg = ...) -> Result: ...
class _op_gelu(OpFunction):
    default: _op_gelu__default
    def __call__(_op, self: TensorArg, *, approximate: StrArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
gelu: _op_gelu
class _op_grid_sampler_2d__default(OverloadFunction):
    def __call__(_op, input: TensorArg, grid: TensorArg, interpolation_mode: IntArg, padding_mode: IntArg, align_corners: BoolArg) -> Result: ...
class _op_grid_sampler_2d(OpFunction):
    default: _op_grid_sampler_2d__default
    def __call__(_op, input: TensorArg, grid: TensorArg, interpolation_mode: IntArg, padding_mode: IntArg, align_corners: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
grid_sampler_2d: _op_grid_sampler_2d
class _op_gt__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_gt__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_gt(OpFunction):
    Tensor: _op_gt__Tensor
    Scalar: _op_gt__Scalar
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
gt: _op_gt
class _op_hardtanh__default(OverloadFunction):
    def __call__(_op, self: TensorArg, min_val: ScalarArg = ..., max_val: ScalarArg = ...) -> Result: ...
class _op_hardtanh(OpFunction):
    default: _op_hardtanh__default
    def __call__(_op, self: TensorArg, min_val: ScalarArg = ..., max_val: ScalarArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
hardtanh: _op_hardtanh
class _op_index__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything) -> Result: ...
class _op_index(OpFunction):
    Tensor: _op_index__Tensor
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
index: _op_index
class _op_index_put__default(OverloadFunction):
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
class _op_index_put(OpFunction):
    default: _op_index_put__default
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
index_put: _op_index_put
class _op_index_put___default(OverloadFunction):
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
class _op_index_put_(OpFunction):
    default: _op_index_put___default
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
index_put_: _op_index_put_
class _op_index_select__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg) -> Result: ...
class _op_index_select(OpFunction):
    default: _op_index_select__default
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
index_select: _op_index_select
class _op_isinf__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_isinf(OpFunction):
    default: _op_isinf__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
isinf: _op_isinf
class _op_isnan__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_isnan(OpFunction):
    default: _op_isnan__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
isnan: _op_isnan
class _op_le__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_le__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_le(OpFunction):
    Tensor: _op_le__Tensor
    Scalar: _op_le__Scalar
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
le: _op_le
class _op_leaky_relu__default(OverloadFunction):
    def __call__(_op, self: TensorArg, negative_slope: ScalarArg = ...) -> Result: ...
class _op_leaky_relu(OpFunction):
    default: _op_leaky_relu__default
    def __call__(_op, self: TensorArg, negative_slope: ScalarArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
leaky_relu: _op_leaky_relu
class _op_lift_fresh_copy__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_lift_fresh_copy(OpFunction):
    default: _op_lift_fresh_copy__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
lift_fresh_copy: _op_lift_fresh_copy
class _op_linalg_vector_norm__default(OverloadFunction):
    def __call__(_op, self: TensorArg, ord: ScalarArg = ..., dim: Many[IntArg] | Value | Anything | IntArg | None = ..., keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_linalg_vector_norm(OpFunction):
    default: _op_linalg_vector_norm__default
    def __call__(_op, self: TensorArg, ord: ScalarArg = ..., dim: Many[IntArg] | Value | Anything | IntArg | None = ..., keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
linalg_vector_norm: _op_linalg_vector_norm
class _op_linear__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ...) -> Result: ...
class _op_linear(OpFunction):
    default: _op_linear__default
    def __call__(_op, input: TensorArg, weight: TensorArg, bias: TensorArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
linear: _op_linear
class _op_log__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_log(OpFunction):
    default: _op_log__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
log: _op_log
class _op_log10__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_log10(OpFunction):
    default: _op_log10__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
log10: _op_log10
class _op_log1p__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_log1p(OpFunction):
    default: _op_log1p__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
log1p: _op_log1p
class _op_log2__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_log2(OpFunction):
    default: _op_log2__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
log2: _op_log2
class _op_logical_and__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_logical_and(OpFunction):
    default: _op_logical_and__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
logical_and: _op_logical_and
class _op_logical_not__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_logical_not(OpFunction):
    default: _op_logical_not__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
logical_not: _op_logical_not
class _op_logical_or__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_logical_or(OpFunction):
    default: _op_logical_or__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
logical_or: _op_logical_or
class _op_logical_xor__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_logical_xor(OpFunction):
    default: _op_logical_xor__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
logical_xor: _op_logical_xor
class _op_lt__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_lt__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_lt(OpFunction):
    Tensor: _op_lt__Tensor
    Scalar: _op_lt__Scalar
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
lt: _op_lt
class _op_masked_scatter__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mask: TensorArg, source: TensorArg) -> Result: ...
class _op_masked_scatter(OpFunction):
    default: _op_masked_scatter__default
    def __call__(_op, self: TensorArg, mask: TensorArg, source: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
masked_scatter: _op_masked_scatter
class _op_max__other(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_max__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_max__dim(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ...) -> tuple[Result, Result]: ...
class _op_max__dim_max(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ..., *, max: TensorArg, max_values: TensorArg) -> tuple[Result, Result]: ...
class _op_max(OpFunction):
    other: _op_max__other
    default: _op_max__default
    dim: _op_max__dim
    dim_max: _op_max__dim_max
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ...) -> tuple[Result, Result]: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ..., *, max: TensorArg, max_values: TensorArg) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
max: _op_max
class _op_max_pool2d_with_indices__default(OverloadFunction):
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ...) -> tuple[Result, Result]: ...
class _op_max_pool2d_with_indices(OpFunction):
    default: _op_max_pool2d_with_indices__default
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ...) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
max_pool2d_with_indices: _op_max_pool2d_with_indices
class _op_max_pool2d_with_indices_backward__default(OverloadFunction):
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, dilation: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, indices: TensorArg) -> Result: ...
class _op_max_pool2d_with_indices_backward__grad_input(OverloadFunction):
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, dilation: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, indices: TensorArg, *, grad_input: TensorArg) -> Result: ...
class _op_max_pool2d_with_indices_backward(OpFunction):
    default: _op_max_pool2d_with_indices_backward__default
    grad_input: _op_max_pool2d_with_indices_backward__grad_input
    @overload
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, dilation: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, indices: TensorArg) -> Result: ...
    @overload
    def __call__(_op, grad_output: TensorArg, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg, padding: Many[IntArg] | Value | Anything | IntArg, dilation: Many[IntArg] | Value | Anything | IntArg, ceil_mode: BoolArg, indices: TensorArg, *, grad_input: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
max_pool2d_with_indices_backward: _op_max_pool2d_with_indices_backward
class _op_max_pool3d_with_indices__default(OverloadFunction):
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ...) -> tuple[Result, Result]: ...
class _op_max_pool3d_with_indices(OpFunction):
    default: _op_max_pool3d_with_indices__default
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything | IntArg, stride: Many[IntArg] | Value | Anything | IntArg = ..., padding: Many[IntArg] | Value | Anything | IntArg = ..., dilation: Many[IntArg] | Value | Anything | IntArg = ..., ceil_mode: BoolArg = ...) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
max_pool3d_with_indices: _op_max_pool3d_with_indices
class _op_maximum__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_maximum(OpFunction):
    default: _op_maximum__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
maximum: _op_maximum
class _op_mean__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_mean__dim(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None, keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_mean(OpFunction):
    default: _op_mean__default
    dim: _op_mean__dim
    @overload
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None, keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
mean: _op_mean
class _op_min__other(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_min__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_min__dim(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ...) -> tuple[Result, Result]: ...
class _op_min__dim_min(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ..., *, min: TensorArg, min_indices: TensorArg) -> tuple[Result, Result]: ...
class _op_min(OpFunction):
    other: _op_min__other
    default: _op_min__default
    dim: _op_min__dim
    dim_min: _op_min__dim_min
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ...) -> tuple[Result, Result]: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ..., *, min: TensorArg, min_indices: TensorArg) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
min: _op_min
class _op_minimum__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_minimum(OpFunction):
    default: _op_minimum__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
minimum: _op_minimum
class _op_mkldnn_rnn_layer__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight0: TensorArg, weight1: TensorArg, weight2: TensorArg, weight3: TensorArg, hx_: TensorArg, cx_: TensorArg, reverse: BoolArg, batch_sizes: Many[IntArg] | Value | Anything, mode: IntArg, hidden_size: IntArg, num_layers: IntArg, has_biases: BoolArg, bidirectional: BoolArg, batch_first: BoolArg, train: BoolArg) -> tuple[Result, Result, Result, Result]: ...
class _op_mkldnn_rnn_layer(OpFunction):
    default: _op_mkldnn_rnn_layer__default
    def __call__(_op, input: TensorArg, weight0: TensorArg, weight1: TensorArg, weight2: TensorArg, weight3: TensorArg, hx_: TensorArg, cx_: TensorArg, reverse: BoolArg, batch_sizes: Many[IntArg] | Value | Anything, mode: IntArg, hidden_size: IntArg, num_layers: IntArg, has_biases: BoolArg, bidirectional: BoolArg, batch_first: BoolArg, train: BoolArg) -> tuple[Result, Result, Result, Result]: ...
    __getattr__: None  # type: ignore
mkldnn_rnn_layer: _op_mkldnn_rnn_layer
class _op_mm__default(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg) -> Result: ...
class _op_mm__dtype(OverloadFunction):
    def __call__(_op, self: TensorArg, mat2: TensorArg, out_dtype: DtypeArg) -> Result: ...
class _op_mm(OpFunction):
    default: _op_mm__default
    dtype: _op_mm__dtype
    @overload
    def __call__(_op, self: TensorArg, mat2: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, mat2: TensorArg, out_dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
mm: _op_mm
class _op_mul__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
class _op_mul__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: ScalarArg) -> Result: ...
class _op_mul(OpFunction):
    Tensor: _op_mul__Tensor
    Scalar: _op_mul__Scalar
    @overload
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg | float, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
mul: _op_mul
class _op_native_dropout__default(OverloadFunction):
    def __call__(_op, input: TensorArg, p: FloatArg, train: BoolArg | None) -> tuple[Result, Result]: ...
class _op_native_dropout(OpFunction):
    default: _op_native_dropout__default
    def __call__(_op, input: TensorArg, p: FloatArg, train: BoolArg | None) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
native_dropout: _op_native_dropout
class _op_native_group_norm__default(OverloadFunction):
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, N: IntArg, C: IntArg, HxW: IntArg, group: IntArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
class _op_native_group_norm(OpFunction):
    default: _op_native_group_norm__default
    def __call__(_op, input: TensorArg, weight: TensorArg | None, bias: TensorArg | None, N: IntArg, C: IntArg, HxW: IntArg, group: IntArg, eps: FloatArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
native_group_norm: _op_native_group_norm
class _op_native_group_norm_backward__default(OverloadFunction):
    def __call__(_op, grad_out: TensorArg, input: TensorArg, mean: TensorArg, rstd: TensorArg, weight: TensorArg | None, N: IntArg, C: IntArg, HxW: IntArg, group: IntArg, output_mask: Many[BoolArg] | Value | Anything | BoolArg) -> tuple[Result, Result, Result]: ...
class _op_native_group_norm_backward(OpFunction):
    default: _op_native_group_norm_backward__default
    def __call__(_op, grad_out: TensorArg, input: TensorArg, mean: TensorArg, rstd: TensorArg, weight: TensorArg | None, N: IntArg, C: IntArg, HxW: IntArg, group: IntArg, output_mask: Many[BoolArg] | Value | Anything | BoolArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
native_group_norm_backward: _op_native_group_norm_backward
class _op_native_layer_norm__default(OverloadFunction):
    def __call__(_op, input: TensorArg, normalized_shape: Many[IntArg] | Value | Anything, weight: TensorArg | None, bias: TensorArg | None, eps: FloatArg) -> tuple[Result, Result, Result]: ...
class _op_native_layer_norm(OpFunction):
    default: _op_native_layer_norm__default
    def __call__(_op, input: TensorArg, normalized_shape: Many[IntArg] | Value | Anything, weight: TensorArg | None, bias: TensorArg | None, eps: FloatArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
native_layer_norm: _op_native_layer_norm
class _op_native_layer_norm_backward__default(OverloadFunction):
    def __call__(_op, grad_out: TensorArg, input: TensorArg, normalized_shape: Many[IntArg] | Value | Anything, mean: TensorArg, rstd: TensorArg, weight: TensorArg | None, bias: TensorArg | None, output_mask: Many[BoolArg] | Value | Anything | BoolArg) -> tuple[Result, Result, Result]: ...
class _op_native_layer_norm_backward(OpFunction):
    default: _op_native_layer_norm_backward__default
    def __call__(_op, grad_out: TensorArg, input: TensorArg, normalized_shape: Many[IntArg] | Value | Anything, mean: TensorArg, rstd: TensorArg, weight: TensorArg | None, bias: TensorArg | None, output_mask: Many[BoolArg] | Value | Anything | BoolArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
native_layer_norm_backward: _op_native_layer_norm_backward
class _op_ne__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_ne__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_ne(OpFunction):
    Tensor: _op_ne__Tensor
    Scalar: _op_ne__Scalar
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
ne: _op_ne
class _op_neg__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_neg(OpFunction):
    default: _op_neg__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
neg: _op_neg
class _op_nonzero__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_nonzero(OpFunction):
    default: _op_nonzero__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
nonzero: _op_nonzero
class _op_norm__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, p: ScalarArg = ...) -> Result: ...
class _op_norm__ScalarOpt_dim(OverloadFunction):
    def __call__(_op, self: TensorArg, p: ScalarArg | None, dim: Many[IntArg] | Value | Anything | IntArg, keepdim: BoolArg = ...) -> Result: ...
class _op_norm__ScalarOpt_dim_dtype(OverloadFunction):
    def __call__(_op, self: TensorArg, p: ScalarArg | None, dim: Many[IntArg] | Value | Anything | IntArg, keepdim: BoolArg, *, dtype: DtypeArg) -> Result: ...
class _op_norm__ScalarOpt_dtype(OverloadFunction):
    def __call__(_op, self: TensorArg, p: ScalarArg | None, *, dtype: DtypeArg) -> Result: ...
class _op_norm(OpFunction):
    Scalar: _op_norm__Scalar
    ScalarOpt_dim: _op_norm__ScalarOpt_dim
    ScalarOpt_dim_dtype: _op_norm__ScalarOpt_dim_dtype
    ScalarOpt_dtype: _op_norm__ScalarOpt_dtype
    @overload
    def __call__(_op, self: TensorArg, p: ScalarArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, p: ScalarArg | None, dim: Many[IntArg] | Value | Anything | IntArg, keepdim: BoolArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, p: ScalarArg | None, dim: Many[IntArg] | Value | Anything | IntArg, keepdim: BoolArg, *, dtype: DtypeArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, p: ScalarArg | None, *, dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
norm: _op_norm
class _op_permute__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dims: Many[IntArg] | Value | Anything) -> Result: ...
class _op_permute(OpFunction):
    default: _op_permute__default
    def __call__(_op, self: TensorArg, dims: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
permute: _op_permute
class _op_pow__Tensor_Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, exponent: TensorArg) -> Result: ...
class _op_pow__Tensor_Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, exponent: ScalarArg) -> Result: ...
class _op_pow__Scalar(OverloadFunction):
    def __call__(_op, self: ScalarArg, exponent: TensorArg) -> Result: ...
class _op_pow(OpFunction):
    Tensor_Tensor: _op_pow__Tensor_Tensor
    Tensor_Scalar: _op_pow__Tensor_Scalar
    Scalar: _op_pow__Scalar
    @overload
    def __call__(_op, self: TensorArg, exponent: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, exponent: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: ScalarArg, exponent: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
pow: _op_pow
class _op_prod__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_prod__dim_int(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_prod(OpFunction):
    default: _op_prod__default
    dim_int: _op_prod__dim_int
    @overload
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
prod: _op_prod
class _op_rand__default(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_rand__generator(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_rand(OpFunction):
    default: _op_rand__default
    generator: _op_rand__generator
    @overload
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
rand: _op_rand
class _op_randint__default(OverloadFunction):
    def __call__(_op, high: IntArg, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randint__generator(OverloadFunction):
    def __call__(_op, high: IntArg, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randint__low(OverloadFunction):
    def __call__(_op, low: IntArg, high: IntArg, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randint__low_generator(OverloadFunction):
    def __call__(_op, low: IntArg, high: IntArg, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randint(OpFunction):
    default: _op_randint__default
    generator: _op_randint__generator
    low: _op_randint__low
    low_generator: _op_randint__low_generator
    @overload
    def __call__(_op, high: IntArg, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, high: IntArg, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, low: IntArg, high: IntArg, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, low: IntArg, high: IntArg, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
randint: _op_randint
class _op_randn__default(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randn__generator(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randn(OpFunction):
    default: _op_randn__default
    generator: _op_randn__generator
    @overload
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, size: Many[IntArg] | Value | Anything, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
randn: _op_randn
class _op_randperm__default(OverloadFunction):
    def __call__(_op, n: IntArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randperm__generator(OverloadFunction):
    def __call__(_op, n: IntArg, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_randperm(OpFunction):
    default: _op_randperm__default
    generator: _op_randperm__generator
    @overload
    def __call__(_op, n: IntArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, n: IntArg, *, generator: ObjectArg | None, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
randperm: _op_randperm
class _op_reciprocal__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_reciprocal(OpFunction):
    default: _op_reciprocal__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
reciprocal: _op_reciprocal
class _op_reflection_pad1d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op_reflection_pad1d(OpFunction):
    default: _op_reflection_pad1d__default
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
reflection_pad1d: _op_reflection_pad1d
class _op_reflection_pad2d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op_reflection_pad2d(OpFunction):
    default: _op_reflection_pad2d__default
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
reflection_pad2d: _op_reflection_pad2d
class _op_reflection_pad3d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op_reflection_pad3d(OpFunction):
    default: _op_reflection_pad3d__default
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
reflection_pad3d: _op_reflection_pad3d
class _op_relu__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_relu(OpFunction):
    default: _op_relu__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
relu: _op_relu
class _op_remainder__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_remainder__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_remainder__Scalar_Tensor(OverloadFunction):
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
class _op_remainder(OpFunction):
    Tensor: _op_remainder__Tensor
    Scalar: _op_remainder__Scalar
    Scalar_Tensor: _op_remainder__Scalar_Tensor
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: ScalarArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
remainder: _op_remainder
class _op_repeat__default(OverloadFunction):
    def __call__(_op, self: TensorArg, repeats: Many[IntArg] | Value | Anything) -> Result: ...
class _op_repeat(OpFunction):
    default: _op_repeat__default
    def __call__(_op, self: TensorArg, repeats: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
repeat: _op_repeat
class _op_replication_pad2d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op_replication_pad2d(OpFunction):
    default: _op_replication_pad2d__default
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
replication_pad2d: _op_replication_pad2d
class _op_replication_pad3d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
class _op_replication_pad3d(OpFunction):
    default: _op_replication_pad3d__default
    def __call__(_op, self: TensorArg, padding: Many[IntArg] | Value | Anything | IntArg) -> Result: ...
    __getattr__: None  # type: ignore
replication_pad3d: _op_replication_pad3d
class _op_reshape__default(OverloadFunction):
    def __call__(_op, self: TensorArg, shape: Many[IntArg] | Value | Anything) -> Result: ...
class _op_reshape(OpFunction):
    default: _op_reshape__default
    def __call__(_op, self: TensorArg, shape: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
reshape: _op_reshape
class _op_resize___default(OverloadFunction):
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything, *, memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_resize_(OpFunction):
    default: _op_resize___default
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything, *, memory_format: MemoryFormatArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
resize_: _op_resize_
class _op_round__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_round__decimals(OverloadFunction):
    def __call__(_op, self: TensorArg, *, decimals: IntArg) -> Result: ...
class _op_round(OpFunction):
    default: _op_round__default
    decimals: _op_round__decimals
    @overload
    def __call__(_op, self: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, *, decimals: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
round: _op_round
class _op_rsqrt__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_rsqrt(OpFunction):
    default: _op_rsqrt__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
rsqrt: _op_rsqrt
class _op_scalar_tensor__default(OverloadFunction):
    def __call__(_op, s: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
class _op_scalar_tensor(OpFunction):
    default: _op_scalar_tensor__default
    def __call__(_op, s: ScalarArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
scalar_tensor: _op_scalar_tensor
class _op_scaled_dot_product_attention__default(OverloadFunction):
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, attn_mask: TensorArg | None = ..., dropout_p: FloatArg = ..., is_causal: BoolArg = ..., *, scale: FloatArg | None = ..., enable_gqa: BoolArg = ...) -> Result: ...
class _op_scaled_dot_product_attention(OpFunction):
    default: _op_scaled_dot_product_attention__default
    def __call__(_op, query: TensorArg, key: TensorArg, value: TensorArg, attn_mask: TensorArg | None = ..., dropout_p: FloatArg = ..., is_causal: BoolArg = ..., *, scale: FloatArg | None = ..., enable_gqa: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
scaled_dot_product_attention: _op_scaled_dot_product_attention
class _op_scatter__value(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, value: ScalarArg) -> Result: ...
class _op_scatter__src(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg) -> Result: ...
class _op_scatter__reduce(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg, *, reduce: StrArg) -> Result: ...
class _op_scatter__value_reduce(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, value: ScalarArg, *, reduce: StrArg) -> Result: ...
class _op_scatter(OpFunction):
    value: _op_scatter__value
    src: _op_scatter__src
    reduce: _op_scatter__reduce
    value_reduce: _op_scatter__value_reduce
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, value: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg, *, reduce: StrArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, value: ScalarArg, *, reduce: StrArg) -> Result: ...
    __getattr__: None  # type: ignore
scatter: _op_scatter
class _op_scatter_add__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg) -> Result: ...
class _op_scatter_add(OpFunction):
    default: _op_scatter_add__default
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
scatter_add: _op_scatter_add
class _op_scatter_reduce__two(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg, reduce: StrArg, *, include_self: BoolArg = ...) -> Result: ...
class _op_scatter_reduce(OpFunction):
    two: _op_scatter_reduce__two
    def __call__(_op, self: TensorArg, dim: IntArg, index: TensorArg, src: TensorArg, reduce: StrArg, *, include_self: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
scatter_reduce: _op_scatter_reduce
class _op_select__int(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg, index: IntArg) -> Result: ...
class _op_select(OpFunction):
    int: _op_select__int
    def __call__(_op, self: TensorArg, dim: IntArg, index: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
select: _op_select
class _op_select_scatter__default(OverloadFunction):
    def __call__(_op, self: TensorArg, src: TensorArg, dim: IntArg, index: IntArg) -> Result: ...
class _op_select_scatter(OpFunction):
    default: _op_select_scatter__default
    def __call__(_op, self: TensorArg, src: TensorArg, dim: IntArg, index: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
select_scatter: _op_select_scatter
class _op_sigmoid__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sigmoid(OpFunction):
    default: _op_sigmoid__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sigmoid: _op_sigmoid
class _op_sign__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sign(OpFunction):
    default: _op_sign__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sign: _op_sign
class _op_sin__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sin(OpFunction):
    default: _op_sin__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sin: _op_sin
class _op_sinh__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sinh(OpFunction):
    default: _op_sinh__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sinh: _op_sinh
class _op_slice__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg = ..., start: IntArg | None = ..., end: IntArg | None = ..., step: IntArg = ...) -> Result: ...
class _op_slice(OpFunction):
    Tensor: _op_slice__Tensor
    def __call__(_op, self: TensorArg, dim: IntArg = ..., start: IntArg | None = ..., end: IntArg | None = ..., step: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
slice: _op_slice
class _op_slice_scatter__default(OverloadFunction):
    def __call__(_op, self: TensorArg, src: TensorArg, dim: IntArg = ..., start: IntArg | None = ..., end: IntArg | None = ..., step: IntArg = ...) -> Result: ...
class _op_slice_scatter(OpFunction):
    default: _op_slice_scatter__default
    def __call__(_op, self: TensorArg, src: TensorArg, dim: IntArg = ..., start: IntArg | None = ..., end: IntArg | None = ..., step: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
slice_scatter: _op_slice_scatter
class _op_sort__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg = ..., descending: BoolArg = ...) -> tuple[Result, Result]: ...
class _op_sort__stable(OverloadFunction):
    def __call__(_op, self: TensorArg, *, stable: BoolArg | None, dim: IntArg = ..., descending: BoolArg = ...) -> tuple[Result, Result]: ...
class _op_sort__values_stable(OverloadFunction):
    def __call__(_op, self: TensorArg, *, stable: BoolArg | None, dim: IntArg = ..., descending: BoolArg = ..., values: TensorArg, indices: TensorArg) -> tuple[Result, Result]: ...
class _op_sort__values(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg = ..., descending: BoolArg = ..., *, values: TensorArg, indices: TensorArg) -> tuple[Result, Result]: ...
class _op_sort(OpFunction):
    default: _op_sort__default
    stable: _op_sort__stable
    values_stable: _op_sort__values_stable
    values: _op_sort__values
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg = ..., descending: BoolArg = ...) -> tuple[Result, Result]: ...
    @overload
    def __call__(_op, self: TensorArg, *, stable: BoolArg | None, dim: IntArg = ..., descending: BoolArg = ...) -> tuple[Result, Result]: ...
    @overload
    def __call__(_op, self: TensorArg, *, stable: BoolArg | None, dim: IntArg = ..., descending: BoolArg = ..., values: TensorArg, indices: TensorArg) -> tuple[Result, Result]: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg = ..., descending: BoolArg = ..., *, values: TensorArg, indices: TensorArg) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
sort: _op_sort
class _op_split__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg, split_size: IntArg, dim: IntArg = ...) -> list[Result]: ...
class _op_split__sizes(OverloadFunction):
    def __call__(_op, self: TensorArg, split_size: Many[IntArg] | Value | Anything, dim: IntArg = ...) -> list[Result]: ...
class _op_split(OpFunction):
    Tensor: _op_split__Tensor
    sizes: _op_split__sizes
    @overload
    def __call__(_op, self: TensorArg, split_size: IntArg, dim: IntArg = ...) -> list[Result]: ...
    @overload
    def __call__(_op, self: TensorArg, split_size: Many[IntArg] | Value | Anything, dim: IntArg = ...) -> list[Result]: ...
    __getattr__: None  # type: ignore
split: _op_split
class _op_split_with_sizes__default(OverloadFunction):
    def __call__(_op, self: TensorArg, split_sizes: Many[IntArg] | Value | Anything, dim: IntArg = ...) -> list[Result]: ...
class _op_split_with_sizes(OpFunction):
    default: _op_split_with_sizes__default
    def __call__(_op, self: TensorArg, split_sizes: Many[IntArg] | Value | Anything, dim: IntArg = ...) -> list[Result]: ...
    __getattr__: None  # type: ignore
split_with_sizes: _op_split_with_sizes
class _op_sqrt__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sqrt(OpFunction):
    default: _op_sqrt__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sqrt: _op_sqrt
class _op_squeeze__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_squeeze__dim(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
class _op_squeeze__dims(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything) -> Result: ...
class _op_squeeze(OpFunction):
    default: _op_squeeze__default
    dim: _op_squeeze__dim
    dims: _op_squeeze__dims
    @overload
    def __call__(_op, self: TensorArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
squeeze: _op_squeeze
class _op_stack__default(OverloadFunction):
    def __call__(_op, tensors: Many[TensorArg] | Value | Anything, dim: IntArg = ...) -> Result: ...
class _op_stack(OpFunction):
    default: _op_stack__default
    def __call__(_op, tensors: Many[TensorArg] | Value | Anything, dim: IntArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
stack: _op_stack
class _op_sub__Tensor(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, alpha: ScalarArg = ...) -> Result: ...
class _op_sub__Scalar(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: ScalarArg, alpha: ScalarArg = ...) -> Result: ...
class _op_sub(OpFunction):
    Tensor: _op_sub__Tensor
    Scalar: _op_sub__Scalar
    @overload
    def __call__(_op, self: TensorArg | float, other: TensorArg | float, *, alpha: ScalarArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg | float, other: ScalarArg, alpha: ScalarArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
sub: _op_sub
class _op_sum__dim_IntList(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None, keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_sum__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ...) -> Result: ...
class _op_sum(OpFunction):
    dim_IntList: _op_sum__dim_IntList
    default: _op_sum__default
    @overload
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None, keepdim: BoolArg = ..., *, dtype: DtypeArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
sum: _op_sum
class _op_sym_is_contiguous__default(OverloadFunction):
    def __call__(_op, self: TensorArg, memory_format: MemoryFormatArg = ...) -> Result: ...
class _op_sym_is_contiguous(OpFunction):
    default: _op_sym_is_contiguous__default
    def __call__(_op, self: TensorArg, memory_format: MemoryFormatArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
sym_is_contiguous: _op_sym_is_contiguous
class _op_sym_numel__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sym_numel(OpFunction):
    default: _op_sym_numel__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sym_numel: _op_sym_numel
class _op_sym_size__int(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
class _op_sym_size(OpFunction):
    int: _op_sym_size__int
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
sym_size: _op_sym_size
class _op_sym_storage_offset__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sym_storage_offset(OpFunction):
    default: _op_sym_storage_offset__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sym_storage_offset: _op_sym_storage_offset
class _op_sym_stride__int(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
class _op_sym_stride(OpFunction):
    int: _op_sym_stride__int
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
sym_stride: _op_sym_stride
class _op_t__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_t(OpFunction):
    default: _op_t__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
t: _op_t
class _op_tan__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_tan(OpFunction):
    default: _op_tan__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
tan: _op_tan
class _op_tanh__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_tanh(OpFunction):
    default: _op_tanh__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
tanh: _op_tanh
class _op_to__device(OverloadFunction):
    def __call__(_op, self: TensorArg, device: DeviceArg, dtype: DtypeArg, non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_to__dtype(OverloadFunction):
    def __call__(_op, self: TensorArg, dtype: DtypeArg, non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_to__other(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg, non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_to__dtype_layout(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_to(OpFunction):
    device: _op_to__device
    dtype: _op_to__dtype
    other: _op_to__other
    dtype_layout: _op_to__dtype_layout
    @overload
    def __call__(_op, self: TensorArg, device: DeviceArg, dtype: DtypeArg, non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dtype: DtypeArg, non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, other: TensorArg, non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, *, dtype: DtypeArg | None = ..., layout: LayoutArg | None = ..., device: DeviceArg | None = ..., pin_memory: BoolArg | None = ..., non_blocking: BoolArg = ..., copy: BoolArg = ..., memory_format: MemoryFormatArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
to: _op_to
class _op_topk__default(OverloadFunction):
    def __call__(_op, self: TensorArg, k: IntArg, dim: IntArg = ..., largest: BoolArg = ..., sorted: BoolArg = ...) -> tuple[Result, Result]: ...
class _op_topk__values(OverloadFunction):
    def __call__(_op, self: TensorArg, k: IntArg, dim: IntArg = ..., largest: BoolArg = ..., sorted: BoolArg = ..., *, values: TensorArg, indices: TensorArg) -> tuple[Result, Result]: ...
class _op_topk(OpFunction):
    default: _op_topk__default
    values: _op_topk__values
    @overload
    def __call__(_op, self: TensorArg, k: IntArg, dim: IntArg = ..., largest: BoolArg = ..., sorted: BoolArg = ...) -> tuple[Result, Result]: ...
    @overload
    def __call__(_op, self: TensorArg, k: IntArg, dim: IntArg = ..., largest: BoolArg = ..., sorted: BoolArg = ..., *, values: TensorArg, indices: TensorArg) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
topk: _op_topk
class _op_transpose__int(OverloadFunction):
    def __call__(_op, self: TensorArg, dim0: IntArg, dim1: IntArg) -> Result: ...
class _op_transpose(OpFunction):
    int: _op_transpose__int
    def __call__(_op, self: TensorArg, dim0: IntArg, dim1: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
transpose: _op_transpose
class _op_trunc__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_trunc(OpFunction):
    default: _op_trunc__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
trunc: _op_trunc
class _op_unbind__int(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg = ...) -> list[Result]: ...
class _op_unbind(OpFunction):
    int: _op_unbind__int
    def __call__(_op, self: TensorArg, dim: IntArg = ...) -> list[Result]: ...
    __getattr__: None  # type: ignore
unbind: _op_unbind
class _op_unsqueeze__default(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
class _op_unsqueeze(OpFunction):
    default: _op_unsqueeze__default
    def __call__(_op, self: TensorArg, dim: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
unsqueeze: _op_unsqueeze
class _op_upsample_bilinear2d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg, align_corners: BoolArg, scales_h: FloatArg | None = ..., scales_w: FloatArg | None = ...) -> Result: ...
class _op_upsample_bilinear2d__vec(OverloadFunction):
    def __call__(_op, input: TensorArg, output_size: Many[IntArg] | Value | Anything | None, align_corners: BoolArg, scale_factors: Many[FloatArg] | Value | Anything | None) -> Result: ...
class _op_upsample_bilinear2d(OpFunction):
    default: _op_upsample_bilinear2d__default
    vec: _op_upsample_bilinear2d__vec
    @overload
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg, align_corners: BoolArg, scales_h: FloatArg | None = ..., scales_w: FloatArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, input: TensorArg, output_size: Many[IntArg] | Value | Anything | None, align_corners: BoolArg, scale_factors: Many[FloatArg] | Value | Anything | None) -> Result: ...
    __getattr__: None  # type: ignore
upsample_bilinear2d: _op_upsample_bilinear2d
class _op_upsample_nearest2d__default(OverloadFunction):
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg, scales_h: FloatArg | None = ..., scales_w: FloatArg | None = ...) -> Result: ...
class _op_upsample_nearest2d__vec(OverloadFunction):
    def __call__(_op, input: TensorArg, output_size: Many[IntArg] | Value | Anything | None, scale_factors: Many[FloatArg] | Value | Anything | None) -> Result: ...
class _op_upsample_nearest2d(OpFunction):
    default: _op_upsample_nearest2d__default
    vec: _op_upsample_nearest2d__vec
    @overload
    def __call__(_op, self: TensorArg, output_size: Many[IntArg] | Value | Anything | IntArg, scales_h: FloatArg | None = ..., scales_w: FloatArg | None = ...) -> Result: ...
    @overload
    def __call__(_op, input: TensorArg, output_size: Many[IntArg] | Value | Anything | None, scale_factors: Many[FloatArg] | Value | Anything | None) -> Result: ...
    __getattr__: None  # type: ignore
upsample_nearest2d: _op_upsample_nearest2d
class _op_var__default(OverloadFunction):
    def __call__(_op, self: TensorArg, unbiased: BoolArg = ...) -> Result: ...
class _op_var__dim(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None, unbiased: BoolArg = ..., keepdim: BoolArg = ...) -> Result: ...
class _op_var__correction(OverloadFunction):
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None = ..., *, correction: ScalarArg | None = ..., keepdim: BoolArg = ...) -> Result: ...
class _op_var(OpFunction):
    default: _op_var__default
    dim: _op_var__dim
    correction: _op_var__correction
    @overload
    def __call__(_op, self: TensorArg, unbiased: BoolArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None, unbiased: BoolArg = ..., keepdim: BoolArg = ...) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dim: Many[IntArg] | Value | Anything | IntArg | None = ..., *, correction: ScalarArg | None = ..., keepdim: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
var: _op_var
class _op_view__default(OverloadFunction):
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything) -> Result: ...
class _op_view__dtype(OverloadFunction):
    def __call__(_op, self: TensorArg, dtype: DtypeArg) -> Result: ...
class _op_view(OpFunction):
    default: _op_view__default
    dtype: _op_view__dtype
    @overload
    def __call__(_op, self: TensorArg, size: Many[IntArg] | Value | Anything) -> Result: ...
    @overload
    def __call__(_op, self: TensorArg, dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
view: _op_view
class _op_where__self(OverloadFunction):
    def __call__(_op, condition: TensorArg, self: TensorArg, other: TensorArg) -> Result: ...
class _op_where__ScalarOther(OverloadFunction):
    def __call__(_op, condition: TensorArg, self: TensorArg, other: ScalarArg) -> Result: ...
class _op_where__ScalarSelf(OverloadFunction):
    def __call__(_op, condition: TensorArg, self: ScalarArg, other: TensorArg) -> Result: ...
class _op_where__Scalar(OverloadFunction):
    def __call__(_op, condition: TensorArg, self: ScalarArg, other: ScalarArg) -> Result: ...
class _op_where__default(OverloadFunction):
    def __call__(_op, condition: TensorArg) -> list[Result]: ...
class _op_where(OpFunction):
    self: _op_where__self
    ScalarOther: _op_where__ScalarOther
    ScalarSelf: _op_where__ScalarSelf
    Scalar: _op_where__Scalar
    default: _op_where__default
    @overload
    def __call__(_op, condition: TensorArg, self: TensorArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, condition: TensorArg, self: TensorArg, other: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, condition: TensorArg, self: ScalarArg, other: TensorArg) -> Result: ...
    @overload
    def __call__(_op, condition: TensorArg, self: ScalarArg, other: ScalarArg) -> Result: ...
    @overload
    def __call__(_op, condition: TensorArg) -> list[Result]: ...
    __getattr__: None  # type: ignore
where: _op_where
__and__: OpFunction
__iand__: OpFunction
__ilshift__: OpFunction
__ior__: OpFunction
__irshift__: OpFunction
__ixor__: OpFunction
__lshift__: OpFunction
__or__: OpFunction
__rshift__: OpFunction
__xor__: OpFunction
_adaptive_avg_pool3d_backward: OpFunction
_add_batch_dim: OpFunction
_add_relu: OpFunction
_add_relu_: OpFunction
_addmm_activation: OpFunction
_aminmax: OpFunction
_amp_foreach_non_finite_check_and_unscale: OpFunction
_amp_foreach_non_finite_check_and_unscale_: OpFunction
_amp_update_scale: OpFunction
_amp_update_scale_: OpFunction
_assert_async: OpFunction
_autocast_to_full_precision: OpFunction
_autocast_to_reduced_precision: OpFunction
_backward: OpFunction
_batch_norm_impl_index: OpFunction
_batch_norm_impl_index_backward: OpFunction
_batch_norm_no_update: OpFunction
_batch_norm_with_update: OpFunction
_batch_norm_with_update_functional: OpFunction
_cast_Byte: OpFunction
_cast_Char: OpFunction
_cast_Double: OpFunction
_cast_Float: OpFunction
_cast_Half: OpFunction
_cast_Int: OpFunction
_cast_Long: OpFunction
_cast_Short: OpFunction
_cdist_backward: OpFunction
_cholesky_solve_helper: OpFunction
_choose_qparams_per_tensor: OpFunction
_chunk_cat: OpFunction
_coalesce: OpFunction
_coalesced: OpFunction
_coalesced_: OpFunction
_compute_linear_combination: OpFunction
_conj: OpFunction
_conj_copy: OpFunction
_conj_physical: OpFunction
_conv_depthwise2d: OpFunction
_convert_indices_from_coo_to_csr: OpFunction
_convert_indices_from_csr_to_coo: OpFunction
_convert_weight_to_int4pack: OpFunction
_convolution: OpFunction
_convolution_double_backward: OpFunction
_convolution_mode: OpFunction
_copy_from: OpFunction
_copy_from_and_resize: OpFunction
_cslt_compress: OpFunction
_cslt_sparse_mm: OpFunction
_cslt_sparse_mm_search: OpFunction
_ctc_loss: OpFunction
_ctc_loss_backward: OpFunction
_cudnn_attention_backward: OpFunction
_cudnn_attention_forward: OpFunction
_cudnn_ctc_loss: OpFunction
_cudnn_init_dropout_state: OpFunction
_cudnn_rnn: OpFunction
_cudnn_rnn_backward: OpFunction
_cudnn_rnn_flatten_weight: OpFunction
_cufft_clear_plan_cache: OpFunction
_cufft_get_plan_cache_max_size: OpFunction
_cufft_get_plan_cache_size: OpFunction
_cufft_set_plan_cache_max_size: OpFunction
_cummax_helper: OpFunction
_cummin_helper: OpFunction
_debug_has_internal_overlap: OpFunction
_dimI: OpFunction
_dimV: OpFunction
_dim_arange: OpFunction
_dirichlet_grad: OpFunction
_dyn_quant_matmul_4bit: OpFunction
_dyn_quant_pack_4bit_weight: OpFunction
_efficient_attention_backward: OpFunction
_efficient_attention_forward: OpFunction
_efficientzerotensor: OpFunction
_embedding_bag_backward: OpFunction
_embedding_bag_dense_backward: OpFunction
_embedding_bag_forward_only: OpFunction
_embedding_bag_per_sample_weights_backward: OpFunction
_embedding_bag_sparse_backward: OpFunction
_empty_affine_quantized: OpFunction
_empty_per_channel_affine_quantized: OpFunction
_euclidean_dist: OpFunction
_fake_quantize_learnable_per_channel_affine: OpFunction
_fake_quantize_learnable_per_channel_affine_backward: OpFunction
_fake_quantize_learnable_per_tensor_affine: OpFunction
_fake_quantize_learnable_per_tensor_affine_backward: OpFunction
_fake_quantize_per_tensor_affine_cachemask_tensor_qparams: OpFunction
_fft_c2c: OpFunction
_fill_mem_eff_dropout_mask_: OpFunction
_flash_attention_backward: OpFunction
_flash_attention_forward: OpFunction
_flash_attention_forward_no_dropout_inplace: OpFunction
_foobar: OpFunction
_foreach_abs: OpFunction
_foreach_abs_: OpFunction
_foreach_acos: OpFunction
_foreach_acos_: OpFunction
_foreach_add: OpFunction
_foreach_add_: OpFunction
_foreach_addcdiv: OpFunction
_foreach_addcdiv_: OpFunction
_foreach_addcmul: OpFunction
_foreach_addcmul_: OpFunction
_foreach_asin: OpFunction
_foreach_asin_: OpFunction
_foreach_atan: OpFunction
_foreach_atan_: OpFunction
_foreach_ceil: OpFunction
_foreach_ceil_: OpFunction
_foreach_clamp_max: OpFunction
_foreach_clamp_max_: OpFunction
_foreach_clamp_min: OpFunction
_foreach_clamp_min_: OpFunction
_foreach_clone: OpFunction
_foreach_copy: OpFunction
_foreach_copy_: OpFunction
_foreach_cos: OpFunction
_foreach_cos_: OpFunction
_foreach_cosh: OpFunction
_foreach_cosh_: OpFunction
_foreach_div_: OpFunction
_foreach_erf: OpFunction
_foreach_erf_: OpFunction
_foreach_erfc: OpFunction
_foreach_erfc_: OpFunction
_foreach_exp: OpFunction
_foreach_exp_: OpFunction
_foreach_expm1: OpFunction
_foreach_expm1_: OpFunction
_foreach_floor: OpFunction
_foreach_floor_: OpFunction
_foreach_frac: OpFunction
_foreach_frac_: OpFunction
_foreach_lerp: OpFunction
_foreach_lerp_: OpFunction
_foreach_lgamma: OpFunction
_foreach_lgamma_: OpFunction
_foreach_log: OpFunction
_foreach_log10: OpFunction
_foreach_log10_: OpFunction
_foreach_log1p: OpFunction
_foreach_log1p_: OpFunction
_foreach_log2: OpFunction
_foreach_log2_: OpFunction
_foreach_log_: OpFunction
_foreach_max: OpFunction
_foreach_maximum: OpFunction
_foreach_maximum_: OpFunction
_foreach_minimum: OpFunction
_foreach_minimum_: OpFunction
_foreach_mm: OpFunction
_foreach_mul: OpFunction
_foreach_mul_: OpFunction
_foreach_neg: OpFunction
_foreach_neg_: OpFunction
_foreach_norm: OpFunction
_foreach_pow: OpFunction
_foreach_pow_: OpFunction
_foreach_powsum: OpFunction
_foreach_reciprocal: OpFunction
_foreach_reciprocal_: OpFunction
_foreach_round: OpFunction
_foreach_round_: OpFunction
_foreach_rsqrt: OpFunction
_foreach_rsqrt_: OpFunction
_foreach_sigmoid: OpFunction
_foreach_sigmoid_: OpFunction
_foreach_sign: OpFunction
_foreach_sign_: OpFunction
_foreach_sin: OpFunction
_foreach_sin_: OpFunction
_foreach_sinh: OpFunction
_foreach_sinh_: OpFunction
_foreach_sqrt: OpFunction
_foreach_sqrt_: OpFunction
_foreach_sub: OpFunction
_foreach_sub_: OpFunction
_foreach_tan: OpFunction
_foreach_tan_: OpFunction
_foreach_tanh: OpFunction
_foreach_tanh_: OpFunction
_foreach_trunc: OpFunction
_foreach_trunc_: OpFunction
_foreach_zero: OpFunction
_foreach_zero_: OpFunction
_functional_assert_async: OpFunction
_functional_assert_scalar: OpFunction
_functional_sym_constrain_range: OpFunction
_functional_sym_constrain_range_for_size: OpFunction
_fused_adagrad: OpFunction
_fused_adagrad_: OpFunction
_fused_adam: OpFunction
_fused_adam_: OpFunction
_fused_adamw: OpFunction
_fused_adamw_: OpFunction
_fused_dropout: OpFunction
_fused_moving_avg_obs_fq_helper: OpFunction
_fused_moving_avg_obs_fq_helper_functional: OpFunction
_fused_rms_norm: OpFunction
_fused_rms_norm_backward: OpFunction
_fused_sdp_choice: OpFunction
_fused_sgd: OpFunction
_fused_sgd_: OpFunction
_fw_primal: OpFunction
_fw_primal_copy: OpFunction
_gather_sparse_backward: OpFunction
_grid_sampler_2d_cpu_fallback: OpFunction
_grid_sampler_2d_cpu_fallback_backward: OpFunction
_grouped_mm: OpFunction
_has_compatible_shallow_copy_type: OpFunction
_has_same_storage_numel: OpFunction
_histogramdd_bin_edges: OpFunction
_histogramdd_from_bin_cts: OpFunction
_histogramdd_from_bin_tensors: OpFunction
_index_put_impl: OpFunction
_index_put_impl_: OpFunction
_indices: OpFunction
_indices_copy: OpFunction
_is_all_true: OpFunction
_is_any_true: OpFunction
_is_zerotensor: OpFunction
_jagged_to_padded_dense_forward: OpFunction
_lazy_clone: OpFunction
_linalg_check_errors: OpFunction
_linalg_det: OpFunction
_linalg_eigh: OpFunction
_linalg_eigvals: OpFunction
_linalg_slogdet: OpFunction
_linalg_solve_ex: OpFunction
_linalg_svd: OpFunction
_log_softmax_backward_data: OpFunction
_logcumsumexp: OpFunction
_lstm_mps: OpFunction
_lu_with_info: OpFunction
_make_dep_token: OpFunction
_make_dual: OpFunction
_make_dual_copy: OpFunction
_make_per_channel_quantized_tensor: OpFunction
_make_per_tensor_quantized_tensor: OpFunction
_masked_scale: OpFunction
_masked_softmax: OpFunction
_masked_softmax_backward: OpFunction
_mixed_dtypes_linear: OpFunction
_mkldnn_reshape: OpFunction
_mkldnn_transpose: OpFunction
_mkldnn_transpose_: OpFunction
_mps_convolution: OpFunction
_mps_convolution_transpose: OpFunction
_native_batch_norm_legit_functional: OpFunction
_native_multi_head_attention: OpFunction
_neg_view: OpFunction
_neg_view_copy: OpFunction
_nested_compute_contiguous_strides_offsets: OpFunction
_nested_from_padded: OpFunction
_nested_from_padded_and_nested_example: OpFunction
_nested_from_padded_tensor: OpFunction
_nested_get_jagged_dummy: OpFunction
_nested_get_lengths: OpFunction
_nested_get_max_seqlen: OpFunction
_nested_get_min_seqlen: OpFunction
_nested_get_offsets: OpFunction
_nested_get_ragged_idx: OpFunction
_nested_get_values: OpFunction
_nested_get_values_copy: OpFunction
_nested_select_backward: OpFunction
_nested_sum_backward: OpFunction
_nested_tensor_from_mask: OpFunction
_nested_tensor_from_mask_left_aligned: OpFunction
_nested_tensor_from_tensor_list: OpFunction
_nested_tensor_size: OpFunction
_nested_tensor_softmax_with_shape: OpFunction
_nested_tensor_storage_offsets: OpFunction
_nested_tensor_strides: OpFunction
_nested_view_from_buffer: OpFunction
_nested_view_from_buffer_copy: OpFunction
_nested_view_from_jagged: OpFunction
_nested_view_from_jagged_copy: OpFunction
_new_zeros_with_same_feature_meta: OpFunction
_nnpack_available: OpFunction
_nnpack_spatial_convolution: OpFunction
_nnz: OpFunction
_pack_padded_sequence: OpFunction
_pack_padded_sequence_backward: OpFunction
_pad_circular: OpFunction
_pad_enum: OpFunction
_pad_packed_sequence: OpFunction
_padded_dense_to_jagged_forward: OpFunction
_pdist_backward: OpFunction
_philox_key_fold_in: OpFunction
_philox_key_split: OpFunction
_philox_normal: OpFunction
_philox_normal_: OpFunction
_philox_uniform: OpFunction
_philox_uniform_: OpFunction
_pin_memory: OpFunction
_prelu_kernel: OpFunction
_prelu_kernel_backward: OpFunction
_print: OpFunction
_propagate_xla_data: OpFunction
_remove_batch_dim: OpFunction
_reshape_alias: OpFunction
_reshape_alias_copy: OpFunction
_reshape_copy: OpFunction
_reshape_from_tensor: OpFunction
_resize_output: OpFunction
_resize_output_: OpFunction
_rowwise_prune: OpFunction
_sample_dirichlet: OpFunction
_saturate_weight_to_fp16: OpFunction
_scaled_dot_product_attention_math: OpFunction
_scaled_dot_product_attention_math_for_mps: OpFunction
_scaled_dot_product_cudnn_attention: OpFunction
_scaled_dot_product_cudnn_attention_backward: OpFunction
_scaled_dot_product_efficient_attention_backward: OpFunction
_scaled_dot_product_flash_attention_backward: OpFunction
_scaled_dot_product_flash_attention_for_cpu: OpFunction
_scaled_dot_product_flash_attention_for_cpu_backward: OpFunction
_scaled_dot_product_fused_attention_overrideable: OpFunction
_scaled_dot_product_fused_attention_overrideable_backward: OpFunction
_scaled_grouped_mm: OpFunction
_scaled_grouped_mm_v2: OpFunction
_scaled_mm_v2: OpFunction
_segment_reduce_backward: OpFunction
_shape_as_tensor: OpFunction
_slow_conv2d_backward: OpFunction
_slow_conv2d_forward: OpFunction
_sobol_engine_draw: OpFunction
_sobol_engine_ff_: OpFunction
_sobol_engine_initialize_state_: OpFunction
_sobol_engine_scramble_: OpFunction
_softmax_backward_data: OpFunction
_sparse_addmm: OpFunction
_sparse_broadcast_to: OpFunction
_sparse_broadcast_to_copy: OpFunction
_sparse_bsc_tensor_unsafe: OpFunction
_sparse_bsr_tensor_unsafe: OpFunction
_sparse_compressed_tensor_unsafe: OpFunction
_sparse_compressed_tensor_with_dims: OpFunction
_sparse_coo_tensor_unsafe: OpFunction
_sparse_coo_tensor_with_dims: OpFunction
_sparse_coo_tensor_with_dims_and_tensors: OpFunction
_sparse_csc_tensor_unsafe: OpFunction
_sparse_csr_prod: OpFunction
_sparse_csr_sum: OpFunction
_sparse_csr_tensor_unsafe: OpFunction
_sparse_log_softmax: OpFunction
_sparse_log_softmax_backward_data: OpFunction
_sparse_mask_projection: OpFunction
_sparse_mm: OpFunction
_sparse_mm_reduce_impl: OpFunction
_sparse_mm_reduce_impl_backward: OpFunction
_sparse_semi_structured_addmm: OpFunction
_sparse_semi_structured_apply: OpFunction
_sparse_semi_structured_apply_dense: OpFunction
_sparse_semi_structured_linear: OpFunction
_sparse_semi_structured_mm: OpFunction
_sparse_semi_structured_tile: OpFunction
_sparse_softmax: OpFunction
_sparse_softmax_backward_data: OpFunction
_sparse_sparse_matmul: OpFunction
_sparse_sum: OpFunction
_sparse_sum_backward: OpFunction
_spdiags: OpFunction
_spsolve: OpFunction
_stack: OpFunction
_standard_gamma: OpFunction
_standard_gamma_grad: OpFunction
_test_ambiguous_defaults: OpFunction
_test_autograd_multiple_dispatch: OpFunction
_test_autograd_multiple_dispatch_view: OpFunction
_test_autograd_multiple_dispatch_view_copy: OpFunction
_test_check_tensor: OpFunction
_test_functorch_fallback: OpFunction
_test_optional_filled_intlist: OpFunction
_test_optional_floatlist: OpFunction
_test_optional_intlist: OpFunction
_test_parallel_materialize: OpFunction
_test_serialization_subcmul: OpFunction
_test_string_default: OpFunction
_test_warn_in_autograd: OpFunction
_thnn_differentiable_gru_cell_backward: OpFunction
_thnn_differentiable_lstm_cell_backward: OpFunction
_thnn_fused_gru_cell: OpFunction
_thnn_fused_gru_cell_backward: OpFunction
_thnn_fused_lstm_cell: OpFunction
_thnn_fused_lstm_cell_backward: OpFunction
_thnn_fused_lstm_cell_backward_impl: OpFunction
_to_cpu: OpFunction
_to_dense: OpFunction
_to_sparse: OpFunction
_to_sparse_bsc: OpFunction
_to_sparse_bsr: OpFunction
_to_sparse_csc: OpFunction
_to_sparse_csr: OpFunction
_to_sparse_semi_structured: OpFunction
_transform_bias_rescale_qkv: OpFunction
_transformer_encoder_layer_fwd: OpFunction
_trilinear: OpFunction
_triton_multi_head_attention: OpFunction
_triton_scaled_dot_attention: OpFunction
_unique: OpFunction
_unique2: OpFunction
_unpack_dual: OpFunction
_unsafe_masked_index: OpFunction
_unsafe_masked_index_put_accumulate: OpFunction
_unsafe_view: OpFunction
_upsample_bicubic2d_aa: OpFunction
_upsample_bicubic2d_aa_backward: OpFunction
_upsample_bilinear2d_aa: OpFunction
_upsample_bilinear2d_aa_backward: OpFunction
_upsample_lanczos2d_aa: OpFunction
_upsample_lanczos2d_aa_backward: OpFunction
_upsample_nearest_exact1d: OpFunction
_upsample_nearest_exact1d_backward: OpFunction
_upsample_nearest_exact2d: OpFunction
_upsample_nearest_exact2d_backward: OpFunction
_upsample_nearest_exact3d: OpFunction
_upsample_nearest_exact3d_backward: OpFunction
_use_cudnn_ctc_loss: OpFunction
_use_cudnn_rnn_flatten_weight: OpFunction
_use_miopen_ctc_loss: OpFunction
_validate_compressed_sparse_indices: OpFunction
_validate_sparse_bsc_tensor_args: OpFunction
_validate_sparse_bsr_tensor_args: OpFunction
_validate_sparse_compressed_tensor_args: OpFunction
_validate_sparse_coo_tensor_args: OpFunction
_validate_sparse_csc_tensor_args: OpFunction
_validate_sparse_csr_tensor_args: OpFunction
_values: OpFunction
_values_copy: OpFunction
_version: OpFunction
_weight_int4pack_mm: OpFunction
_weight_int4pack_mm_with_scales_and_zeros: OpFunction
_weight_norm: OpFunction
_weight_norm_differentiable_backward: OpFunction
_weight_norm_interface: OpFunction
_weight_norm_interface_backward: OpFunction
_wrapped_linear_prepack: OpFunction
_wrapped_quantized_linear_prepacked: OpFunction
abs_: OpFunction
absolute: OpFunction
absolute_: OpFunction
acos_: OpFunction
acosh_: OpFunction
adaptive_avg_pool2d: OpFunction
adaptive_avg_pool3d: OpFunction
adaptive_avg_pool3d_backward: OpFunction
adaptive_max_pool1d: OpFunction
adaptive_max_pool2d: OpFunction
adaptive_max_pool2d_backward: OpFunction
adaptive_max_pool3d: OpFunction
adaptive_max_pool3d_backward: OpFunction
add_: OpFunction
addbmm: OpFunction
addbmm_: OpFunction
addcdiv: OpFunction
addcdiv_: OpFunction
addcmul: OpFunction
addcmul_: OpFunction
addmm_: OpFunction
addmv: OpFunction
addmv_: OpFunction
addr: OpFunction
addr_: OpFunction
adjoint: OpFunction
affine_grid_generator: OpFunction
affine_grid_generator_backward: OpFunction
alias_copy: OpFunction
all: OpFunction
allclose: OpFunction
alpha_dropout: OpFunction
alpha_dropout_: OpFunction
aminmax: OpFunction
angle: OpFunction
arccos: OpFunction
arccos_: OpFunction
arccosh: OpFunction
arccosh_: OpFunction
arcsin: OpFunction
arcsin_: OpFunction
arcsinh: OpFunction
arcsinh_: OpFunction
arctan: OpFunction
arctan2: OpFunction
arctan2_: OpFunction
arctan_: OpFunction
arctanh: OpFunction
arctanh_: OpFunction
argsort: OpFunction
argwhere: OpFunction
as_strided_: OpFunction
as_strided_copy: OpFunction
asin_: OpFunction
asinh_: OpFunction
atan2_: OpFunction
atan_: OpFunction
atanh_: OpFunction
atleast_1d: OpFunction
atleast_2d: OpFunction
atleast_3d: OpFunction
avg_pool3d_backward: OpFunction
baddbmm: OpFunction
baddbmm_: OpFunction
bartlett_window: OpFunction
batch_norm_backward: OpFunction
batch_norm_backward_elemt: OpFunction
batch_norm_backward_reduce: OpFunction
batch_norm_elemt: OpFunction
batch_norm_gather_stats: OpFunction
batch_norm_gather_stats_with_counts: OpFunction
batch_norm_stats: OpFunction
batch_norm_update_stats: OpFunction
bernoulli: OpFunction
bernoulli_: OpFunction
bilinear: OpFunction
binary_cross_entropy: OpFunction
binary_cross_entropy_backward: OpFunction
binary_cross_entropy_with_logits: OpFunction
bincount: OpFunction
binomial: OpFunction
bitwise_and_: OpFunction
bitwise_left_shift: OpFunction
bitwise_left_shift_: OpFunction
bitwise_not_: OpFunction
bitwise_or_: OpFunction
bitwise_right_shift: OpFunction
bitwise_right_shift_: OpFunction
bitwise_xor_: OpFunction
blackman_window: OpFunction
block_diag: OpFunction
broadcast_tensors: OpFunction
bucketize: OpFunction
can_cast: OpFunction
cartesian_prod: OpFunction
cauchy: OpFunction
cauchy_: OpFunction
ccol_indices: OpFunction
ccol_indices_copy: OpFunction
cdist: OpFunction
ceil_: OpFunction
celu: OpFunction
celu_: OpFunction
chain_matmul: OpFunction
chalf: OpFunction
channel_shuffle: OpFunction
cholesky: OpFunction
cholesky_inverse: OpFunction
cholesky_solve: OpFunction
choose_qparams_optimized: OpFunction
clamp_: OpFunction
clamp_max_: OpFunction
clamp_min_: OpFunction
clip: OpFunction
clip_: OpFunction
coalesce: OpFunction
col_indices: OpFunction
col_indices_copy: OpFunction
column_stack: OpFunction
combinations: OpFunction
complex: OpFunction
concat: OpFunction
concatenate: OpFunction
conj: OpFunction
conj_physical: OpFunction
conj_physical_: OpFunction
conv_depthwise3d: OpFunction
conv_tbc: OpFunction
conv_tbc_backward: OpFunction
convolution_backward_overrideable: OpFunction
convolution_overrideable: OpFunction
copy_sparse_to_sparse: OpFunction
copy_sparse_to_sparse_: OpFunction
copysign: OpFunction
copysign_: OpFunction
corrcoef: OpFunction
cos_: OpFunction
cosh_: OpFunction
cosine_embedding_loss: OpFunction
cosine_similarity: OpFunction
count_nonzero: OpFunction
cov: OpFunction
cross: OpFunction
cross_entropy_loss: OpFunction
crow_indices: OpFunction
crow_indices_copy: OpFunction
ctc_loss: OpFunction
cudnn_affine_grid_generator: OpFunction
cudnn_affine_grid_generator_backward: OpFunction
cudnn_batch_norm: OpFunction
cudnn_batch_norm_backward: OpFunction
cudnn_convolution: OpFunction
cudnn_convolution_add_relu: OpFunction
cudnn_convolution_relu: OpFunction
cudnn_convolution_transpose: OpFunction
cudnn_grid_sampler: OpFunction
cudnn_grid_sampler_backward: OpFunction
cudnn_is_acceptable: OpFunction
cummax: OpFunction
cummaxmin_backward: OpFunction
cummin: OpFunction
cumprod: OpFunction
cumprod_: OpFunction
cumprod_backward: OpFunction
cumsum_: OpFunction
cumulative_trapezoid: OpFunction
data: OpFunction
deg2rad: OpFunction
deg2rad_: OpFunction
dense_dim: OpFunction
dequantize: OpFunction
det: OpFunction
detach_: OpFunction
detach_copy: OpFunction
diag: OpFunction
diag_embed: OpFunction
diagflat: OpFunction
diagonal_backward: OpFunction
diagonal_copy: OpFunction
diff: OpFunction
digamma: OpFunction
digamma_: OpFunction
dim: OpFunction
dist: OpFunction
div_: OpFunction
divide: OpFunction
divide_: OpFunction
dot: OpFunction
dropout: OpFunction
dropout_: OpFunction
dsplit: OpFunction
dstack: OpFunction
einsum: OpFunction
elu_: OpFunction
elu_backward: OpFunction
embedding_backward: OpFunction
embedding_bag: OpFunction
embedding_renorm: OpFunction
embedding_renorm_: OpFunction
embedding_sparse_backward: OpFunction
empty_like: OpFunction
empty_permuted: OpFunction
empty_quantized: OpFunction
eq_: OpFunction
equal: OpFunction
erf_: OpFunction
erfc: OpFunction
erfc_: OpFunction
erfinv: OpFunction
erfinv_: OpFunction
exp2: OpFunction
exp2_: OpFunction
exp_: OpFunction
expand_as: OpFunction
expand_copy: OpFunction
expm1_: OpFunction
exponential: OpFunction
exponential_: OpFunction
eye: OpFunction
fake_quantize_per_channel_affine: OpFunction
fake_quantize_per_channel_affine_cachemask: OpFunction
fake_quantize_per_channel_affine_cachemask_backward: OpFunction
fake_quantize_per_tensor_affine: OpFunction
fake_quantize_per_tensor_affine_cachemask: OpFunction
fake_quantize_per_tensor_affine_cachemask_backward: OpFunction
fbgemm_linear_fp16_weight: OpFunction
fbgemm_linear_fp16_weight_fp32_activation: OpFunction
fbgemm_linear_int8_weight: OpFunction
fbgemm_linear_int8_weight_fp32_activation: OpFunction
fbgemm_linear_quantize_weight: OpFunction
fbgemm_pack_gemm_matrix_fp16: OpFunction
fbgemm_pack_quantized_matrix: OpFunction
feature_alpha_dropout: OpFunction
feature_alpha_dropout_: OpFunction
feature_dropout: OpFunction
feature_dropout_: OpFunction
fft_fft: OpFunction
fft_fft2: OpFunction
fft_fftfreq: OpFunction
fft_fftn: OpFunction
fft_fftshift: OpFunction
fft_hfft: OpFunction
fft_hfft2: OpFunction
fft_hfftn: OpFunction
fft_ifft: OpFunction
fft_ifft2: OpFunction
fft_ifftn: OpFunction
fft_ifftshift: OpFunction
fft_ihfft: OpFunction
fft_ihfft2: OpFunction
fft_ihfftn: OpFunction
fft_irfft: OpFunction
fft_irfft2: OpFunction
fft_irfftn: OpFunction
fft_rfft: OpFunction
fft_rfft2: OpFunction
fft_rfftfreq: OpFunction
fft_rfftn: OpFunction
fill_: OpFunction
fill_diagonal_: OpFunction
fix: OpFunction
fix_: OpFunction
flatten_dense_tensors: OpFunction
fliplr: OpFunction
flipud: OpFunction
float_power: OpFunction
float_power_: OpFunction
floor_: OpFunction
floor_divide: OpFunction
floor_divide_: OpFunction
fmax: OpFunction
fmin: OpFunction
fmod_: OpFunction
frac: OpFunction
frac_: OpFunction
fractional_max_pool2d: OpFunction
fractional_max_pool2d_backward: OpFunction
fractional_max_pool3d: OpFunction
fractional_max_pool3d_backward: OpFunction
frexp: OpFunction
from_file: OpFunction
fused_moving_avg_obs_fake_quant: OpFunction
gather_backward: OpFunction
gcd: OpFunction
gcd_: OpFunction
ge_: OpFunction
gelu_: OpFunction
gelu_backward: OpFunction
geometric: OpFunction
geometric_: OpFunction
geqrf: OpFunction
ger: OpFunction
get_device: OpFunction
get_gradients: OpFunction
glu: OpFunction
glu_backward: OpFunction
glu_backward_jvp: OpFunction
glu_jvp: OpFunction
gradient: OpFunction
greater: OpFunction
greater_: OpFunction
greater_equal: OpFunction
greater_equal_: OpFunction
grid_sampler: OpFunction
grid_sampler_2d_backward: OpFunction
grid_sampler_3d: OpFunction
grid_sampler_3d_backward: OpFunction
group_norm: OpFunction
gru: OpFunction
gru_cell: OpFunction
gt_: OpFunction
hamming_window: OpFunction
hann_window: OpFunction
hardshrink: OpFunction
hardshrink_backward: OpFunction
hardsigmoid: OpFunction
hardsigmoid_: OpFunction
hardsigmoid_backward: OpFunction
hardswish: OpFunction
hardswish_: OpFunction
hardswish_backward: OpFunction
hardtanh_: OpFunction
hardtanh_backward: OpFunction
hash_tensor: OpFunction
heaviside: OpFunction
heaviside_: OpFunction
hinge_embedding_loss: OpFunction
histc: OpFunction
histogram: OpFunction
histogramdd: OpFunction
hsplit: OpFunction
hspmm: OpFunction
hstack: OpFunction
huber_loss: OpFunction
huber_loss_backward: OpFunction
hypot: OpFunction
hypot_: OpFunction
i0: OpFunction
i0_: OpFunction
igamma: OpFunction
igamma_: OpFunction
igammac: OpFunction
igammac_: OpFunction
im2col: OpFunction
imag: OpFunction
index_add: OpFunction
index_add_: OpFunction
index_copy: OpFunction
index_copy_: OpFunction
index_fill: OpFunction
index_fill_: OpFunction
index_reduce: OpFunction
index_reduce_: OpFunction
index_select_backward: OpFunction
indices: OpFunction
indices_copy: OpFunction
infinitely_differentiable_gelu_backward: OpFunction
inner: OpFunction
instance_norm: OpFunction
int_repr: OpFunction
inverse: OpFunction
is_coalesced: OpFunction
is_complex: OpFunction
is_conj: OpFunction
is_contiguous: OpFunction
is_distributed: OpFunction
is_floating_point: OpFunction
is_inference: OpFunction
is_leaf: OpFunction
is_neg: OpFunction
is_nonzero: OpFunction
is_pinned: OpFunction
is_same_size: OpFunction
is_set_to: OpFunction
is_signed: OpFunction
is_vulkan_available: OpFunction
isclose: OpFunction
isfinite: OpFunction
isin: OpFunction
isneginf: OpFunction
isposinf: OpFunction
isreal: OpFunction
istft: OpFunction
item: OpFunction
kaiser_window: OpFunction
kl_div: OpFunction
kron: OpFunction
kthvalue: OpFunction
l1_loss: OpFunction
layer_norm: OpFunction
lcm: OpFunction
lcm_: OpFunction
ldexp: OpFunction
ldexp_: OpFunction
le_: OpFunction
leaky_relu_: OpFunction
leaky_relu_backward: OpFunction
lerp: OpFunction
lerp_: OpFunction
less: OpFunction
less_: OpFunction
less_equal: OpFunction
less_equal_: OpFunction
lgamma: OpFunction
lgamma_: OpFunction
lift: OpFunction
lift_fresh: OpFunction
linalg__powsum: OpFunction
linalg_cholesky: OpFunction
linalg_cholesky_ex: OpFunction
linalg_cond: OpFunction
linalg_cross: OpFunction
linalg_det: OpFunction
linalg_diagonal: OpFunction
linalg_eig: OpFunction
linalg_eigh: OpFunction
linalg_eigvals: OpFunction
linalg_eigvalsh: OpFunction
linalg_householder_product: OpFunction
linalg_inv: OpFunction
linalg_inv_ex: OpFunction
linalg_ldl_factor: OpFunction
linalg_ldl_factor_ex: OpFunction
linalg_ldl_solve: OpFunction
linalg_lstsq: OpFunction
linalg_lu: OpFunction
linalg_lu_factor: OpFunction
linalg_lu_factor_ex: OpFunction
linalg_lu_solve: OpFunction
linalg_matmul: OpFunction
linalg_matrix_exp: OpFunction
linalg_matrix_norm: OpFunction
linalg_matrix_power: OpFunction
linalg_matrix_rank: OpFunction
linalg_multi_dot: OpFunction
linalg_norm: OpFunction
linalg_pinv: OpFunction
linalg_qr: OpFunction
linalg_slogdet: OpFunction
linalg_solve: OpFunction
linalg_solve_ex: OpFunction
linalg_solve_triangular: OpFunction
linalg_svd: OpFunction
linalg_svdvals: OpFunction
linalg_tensorinv: OpFunction
linalg_tensorsolve: OpFunction
linalg_vander: OpFunction
linalg_vecdot: OpFunction
linear_backward: OpFunction
linspace: OpFunction
log10_: OpFunction
log1p_: OpFunction
log2_: OpFunction
log_: OpFunction
log_normal: OpFunction
log_normal_: OpFunction
log_sigmoid: OpFunction
log_sigmoid_backward: OpFunction
log_sigmoid_forward: OpFunction
log_softmax: OpFunction
logaddexp: OpFunction
logaddexp2: OpFunction
logcumsumexp: OpFunction
logdet: OpFunction
logical_and_: OpFunction
logical_not_: OpFunction
logical_or_: OpFunction
logical_xor_: OpFunction
logit: OpFunction
logit_: OpFunction
logit_backward: OpFunction
logspace: OpFunction
logsumexp: OpFunction
lstm: OpFunction
lstm_cell: OpFunction
lstm_mps_backward: OpFunction
lt_: OpFunction
lu_solve: OpFunction
lu_unpack: OpFunction
mH: OpFunction
mT: OpFunction
margin_ranking_loss: OpFunction
masked_fill: OpFunction
masked_fill_: OpFunction
masked_scatter_: OpFunction
masked_scatter_backward: OpFunction
masked_select: OpFunction
masked_select_backward: OpFunction
matmul: OpFunction
matmul_backward: OpFunction
matrix_H: OpFunction
matrix_exp: OpFunction
matrix_exp_backward: OpFunction
matrix_power: OpFunction
max_pool1d: OpFunction
max_pool1d_with_indices: OpFunction
max_pool2d: OpFunction
max_pool2d_backward: OpFunction
max_pool3d: OpFunction
max_pool3d_with_indices_backward: OpFunction
max_unpool2d: OpFunction
max_unpool3d: OpFunction
median: OpFunction
meshgrid: OpFunction
miopen_batch_norm: OpFunction
miopen_batch_norm_backward: OpFunction
miopen_convolution: OpFunction
miopen_convolution_add_relu: OpFunction
miopen_convolution_relu: OpFunction
miopen_convolution_transpose: OpFunction
miopen_ctc_loss: OpFunction
miopen_depthwise_convolution: OpFunction
miopen_rnn: OpFunction
miopen_rnn_backward: OpFunction
mish: OpFunction
mish_: OpFunction
mish_backward: OpFunction
mkldnn_adaptive_avg_pool2d: OpFunction
mkldnn_adaptive_avg_pool2d_backward: OpFunction
mkldnn_convolution: OpFunction
mkldnn_linear: OpFunction
mkldnn_linear_backward: OpFunction
mkldnn_linear_backward_input: OpFunction
mkldnn_linear_backward_weights: OpFunction
mkldnn_max_pool2d: OpFunction
mkldnn_max_pool2d_backward: OpFunction
mkldnn_max_pool3d: OpFunction
mkldnn_max_pool3d_backward: OpFunction
mkldnn_reorder_conv2d_weight: OpFunction
mkldnn_reorder_conv3d_weight: OpFunction
mkldnn_rnn_layer_backward: OpFunction
mode: OpFunction
moveaxis: OpFunction
movedim: OpFunction
mps_convolution_backward: OpFunction
mps_convolution_transpose_backward: OpFunction
mse_loss: OpFunction
mse_loss_backward: OpFunction
msort: OpFunction
mul_: OpFunction
multi_margin_loss: OpFunction
multi_margin_loss_backward: OpFunction
multilabel_margin_loss: OpFunction
multilabel_margin_loss_backward: OpFunction
multilabel_margin_loss_forward: OpFunction
multinomial: OpFunction
multiply: OpFunction
multiply_: OpFunction
mv: OpFunction
mvlgamma: OpFunction
mvlgamma_: OpFunction
nan_to_num: OpFunction
nan_to_num_: OpFunction
nanmean: OpFunction
nanmedian: OpFunction
nanquantile: OpFunction
nansum: OpFunction
narrow: OpFunction
narrow_copy: OpFunction
native_batch_norm: OpFunction
native_batch_norm_backward: OpFunction
native_channel_shuffle: OpFunction
native_dropout_backward: OpFunction
native_norm: OpFunction
ne_: OpFunction
neg_: OpFunction
negative: OpFunction
negative_: OpFunction
nested_to_padded_tensor: OpFunction
new_empty: OpFunction
new_empty_strided: OpFunction
new_full: OpFunction
new_ones: OpFunction
new_zeros: OpFunction
nextafter: OpFunction
nextafter_: OpFunction
nll_loss: OpFunction
nll_loss2d: OpFunction
nll_loss2d_backward: OpFunction
nll_loss2d_forward: OpFunction
nll_loss_backward: OpFunction
nll_loss_forward: OpFunction
nll_loss_nd: OpFunction
nonzero_numpy: OpFunction
nonzero_static: OpFunction
norm_except_dim: OpFunction
normal: OpFunction
normal_: OpFunction
normal_functional: OpFunction
not_equal: OpFunction
not_equal_: OpFunction
nuclear_norm: OpFunction
numel: OpFunction
numpy_T: OpFunction
one_hot: OpFunction
ones: OpFunction
ones_like: OpFunction
orgqr: OpFunction
ormqr: OpFunction
outer: OpFunction
output_nr: OpFunction
pad: OpFunction
pad_sequence: OpFunction
pairwise_distance: OpFunction
pdist: OpFunction
permute_copy: OpFunction
pin_memory: OpFunction
pinverse: OpFunction
pixel_shuffle: OpFunction
pixel_unshuffle: OpFunction
poisson: OpFunction
poisson_nll_loss: OpFunction
polar: OpFunction
polygamma: OpFunction
polygamma_: OpFunction
positive: OpFunction
pow_: OpFunction
prelu: OpFunction
promote_types: OpFunction
put: OpFunction
put_: OpFunction
q_per_channel_axis: OpFunction
q_per_channel_scales: OpFunction
q_per_channel_zero_points: OpFunction
q_scale: OpFunction
q_zero_point: OpFunction
qr: OpFunction
qscheme: OpFunction
quantile: OpFunction
quantize_per_channel: OpFunction
quantize_per_tensor: OpFunction
quantize_per_tensor_dynamic: OpFunction
quantized_batch_norm: OpFunction
quantized_gru: OpFunction
quantized_gru_cell: OpFunction
quantized_lstm: OpFunction
quantized_lstm_cell: OpFunction
quantized_max_pool1d: OpFunction
quantized_max_pool2d: OpFunction
quantized_max_pool3d: OpFunction
quantized_rnn_relu_cell: OpFunction
quantized_rnn_tanh_cell: OpFunction
rad2deg: OpFunction
rad2deg_: OpFunction
rand_like: OpFunction
randint_like: OpFunction
randn_like: OpFunction
random: OpFunction
random_: OpFunction
range: OpFunction
ravel: OpFunction
real: OpFunction
reciprocal_: OpFunction
record_stream: OpFunction
reflection_pad1d_backward: OpFunction
reflection_pad2d_backward: OpFunction
reflection_pad3d_backward: OpFunction
relu6: OpFunction
relu6_: OpFunction
relu_: OpFunction
remainder_: OpFunction
renorm: OpFunction
renorm_: OpFunction
repeat_interleave: OpFunction
replication_pad1d: OpFunction
replication_pad1d_backward: OpFunction
replication_pad2d_backward: OpFunction
replication_pad3d_backward: OpFunction
requires_grad_: OpFunction
reshape_as: OpFunction
resize: OpFunction
resize_as: OpFunction
resize_as_: OpFunction
resize_as_sparse: OpFunction
resize_as_sparse_: OpFunction
resolve_conj: OpFunction
resolve_neg: OpFunction
result_type: OpFunction
retain_grad: OpFunction
retains_grad: OpFunction
rms_norm: OpFunction
rnn_relu: OpFunction
rnn_relu_cell: OpFunction
rnn_tanh: OpFunction
rnn_tanh_cell: OpFunction
roll: OpFunction
rot90: OpFunction
round_: OpFunction
row_indices: OpFunction
row_indices_copy: OpFunction
row_stack: OpFunction
rrelu: OpFunction
rrelu_: OpFunction
rrelu_with_noise: OpFunction
rrelu_with_noise_: OpFunction
rrelu_with_noise_backward: OpFunction
rrelu_with_noise_functional: OpFunction
rsqrt_: OpFunction
rsub: OpFunction
scatter_: OpFunction
scatter_add_: OpFunction
scatter_reduce_: OpFunction
searchsorted: OpFunction
segment_reduce: OpFunction
select_backward: OpFunction
select_copy: OpFunction
selu: OpFunction
selu_: OpFunction
set: OpFunction
set_: OpFunction
set_data: OpFunction
sgn: OpFunction
sgn_: OpFunction
sigmoid_: OpFunction
sigmoid_backward: OpFunction
sign_: OpFunction
signbit: OpFunction
silu: OpFunction
silu_: OpFunction
silu_backward: OpFunction
sin_: OpFunction
sinc: OpFunction
sinc_: OpFunction
sinh_: OpFunction
size: OpFunction
slice_backward: OpFunction
slice_copy: OpFunction
slice_inverse: OpFunction
slogdet: OpFunction
slow_conv3d: OpFunction
slow_conv3d_forward: OpFunction
slow_conv_dilated2d: OpFunction
slow_conv_dilated3d: OpFunction
slow_conv_transpose2d: OpFunction
slow_conv_transpose3d: OpFunction
smm: OpFunction
smooth_l1_loss: OpFunction
smooth_l1_loss_backward: OpFunction
soft_margin_loss: OpFunction
soft_margin_loss_backward: OpFunction
softmax: OpFunction
softplus: OpFunction
softplus_backward: OpFunction
softshrink: OpFunction
softshrink_backward: OpFunction
sparse_bsc_tensor: OpFunction
sparse_bsr_tensor: OpFunction
sparse_compressed_tensor: OpFunction
sparse_coo_tensor: OpFunction
sparse_csc_tensor: OpFunction
sparse_csr_tensor: OpFunction
sparse_dim: OpFunction
sparse_mask: OpFunction
sparse_resize: OpFunction
sparse_resize_: OpFunction
sparse_resize_and_clear: OpFunction
sparse_resize_and_clear_: OpFunction
sparse_sampled_addmm: OpFunction
special_airy_ai: OpFunction
special_bessel_j0: OpFunction
special_bessel_j1: OpFunction
special_bessel_y0: OpFunction
special_bessel_y1: OpFunction
special_chebyshev_polynomial_t: OpFunction
special_chebyshev_polynomial_u: OpFunction
special_chebyshev_polynomial_v: OpFunction
special_chebyshev_polynomial_w: OpFunction
special_digamma: OpFunction
special_entr: OpFunction
special_erf: OpFunction
special_erfc: OpFunction
special_erfcx: OpFunction
special_erfinv: OpFunction
special_exp2: OpFunction
special_expit: OpFunction
special_expm1: OpFunction
special_gammainc: OpFunction
special_gammaincc: OpFunction
special_gammaln: OpFunction
special_hermite_polynomial_h: OpFunction
special_hermite_polynomial_he: OpFunction
special_i0: OpFunction
special_i0e: OpFunction
special_i1: OpFunction
special_i1e: OpFunction
special_laguerre_polynomial_l: OpFunction
special_legendre_polynomial_p: OpFunction
special_log1p: OpFunction
special_log_ndtr: OpFunction
special_log_softmax: OpFunction
special_logit: OpFunction
special_logsumexp: OpFunction
special_modified_bessel_i0: OpFunction
special_modified_bessel_i1: OpFunction
special_modified_bessel_k0: OpFunction
special_modified_bessel_k1: OpFunction
special_multigammaln: OpFunction
special_ndtr: OpFunction
special_ndtri: OpFunction
special_polygamma: OpFunction
special_psi: OpFunction
special_round: OpFunction
special_scaled_modified_bessel_k0: OpFunction
special_scaled_modified_bessel_k1: OpFunction
special_shifted_chebyshev_polynomial_t: OpFunction
special_shifted_chebyshev_polynomial_u: OpFunction
special_shifted_chebyshev_polynomial_v: OpFunction
special_shifted_chebyshev_polynomial_w: OpFunction
special_sinc: OpFunction
special_softmax: OpFunction
special_spherical_bessel_j0: OpFunction
special_xlog1py: OpFunction
special_xlogy: OpFunction
special_zeta: OpFunction
split_copy: OpFunction
split_with_sizes_copy: OpFunction
sqrt_: OpFunction
square: OpFunction
square_: OpFunction
squeeze_: OpFunction
squeeze_copy: OpFunction
sspaddmm: OpFunction
std: OpFunction
std_mean: OpFunction
stft: OpFunction
storage_offset: OpFunction
stride: OpFunction
sub_: OpFunction
subtract: OpFunction
subtract_: OpFunction
sum_to_size: OpFunction
svd: OpFunction
swapaxes: OpFunction
swapaxes_: OpFunction
swapdims: OpFunction
swapdims_: OpFunction
sym_constrain_range: OpFunction
sym_constrain_range_for_size: OpFunction
t_: OpFunction
t_copy: OpFunction
take: OpFunction
take_along_dim: OpFunction
tan_: OpFunction
tanh_: OpFunction
tanh_backward: OpFunction
tensor_split: OpFunction
tensordot: OpFunction
thnn_conv2d: OpFunction
threshold: OpFunction
threshold_: OpFunction
threshold_backward: OpFunction
tile: OpFunction
to_dense: OpFunction
to_dense_backward: OpFunction
to_mkldnn: OpFunction
to_mkldnn_backward: OpFunction
to_padded_tensor: OpFunction
to_sparse: OpFunction
to_sparse_bsc: OpFunction
to_sparse_bsr: OpFunction
to_sparse_csc: OpFunction
to_sparse_csr: OpFunction
trace: OpFunction
trace_backward: OpFunction
transpose_: OpFunction
transpose_copy: OpFunction
trapezoid: OpFunction
trapz: OpFunction
triangular_solve: OpFunction
tril: OpFunction
tril_: OpFunction
tril_indices: OpFunction
triplet_margin_loss: OpFunction
triu: OpFunction
triu_: OpFunction
triu_indices: OpFunction
true_divide: OpFunction
true_divide_: OpFunction
trunc_: OpFunction
type_as: OpFunction
unbind_copy: OpFunction
unflatten: OpFunction
unflatten_dense_tensors: OpFunction
unfold: OpFunction
unfold_backward: OpFunction
unfold_copy: OpFunction
uniform: OpFunction
uniform_: OpFunction
unique_consecutive: OpFunction
unique_dim: OpFunction
unique_dim_consecutive: OpFunction
unsafe_chunk: OpFunction
unsafe_split: OpFunction
unsafe_split_with_sizes: OpFunction
unsqueeze_: OpFunction
unsqueeze_copy: OpFunction
upsample_bicubic2d: OpFunction
upsample_bicubic2d_backward: OpFunction
upsample_bilinear2d_backward: OpFunction
upsample_linear1d: OpFunction
upsample_linear1d_backward: OpFunction
upsample_nearest1d: OpFunction
upsample_nearest1d_backward: OpFunction
upsample_nearest2d_backward: OpFunction
upsample_nearest3d: OpFunction
upsample_nearest3d_backward: OpFunction
upsample_trilinear3d: OpFunction
upsample_trilinear3d_backward: OpFunction
value_selecting_reduction_backward: OpFunction
values: OpFunction
values_copy: OpFunction
vander: OpFunction
var_mean: OpFunction
vdot: OpFunction
view_as: OpFunction
view_as_complex: OpFunction
view_as_complex_copy: OpFunction
view_as_real: OpFunction
view_as_real_copy: OpFunction
view_copy: OpFunction
vsplit: OpFunction
vstack: OpFunction
xlogy: OpFunction
xlogy_: OpFunction
zero: OpFunction
zero_: OpFunction
zeros: OpFunction
zeros_like: OpFunction
