"""Op functions of `prims`. Written by `python -m xductor.ir.functions.stubs` for torch 2.13.0; do not edit."""

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

class _op__low_memory_max_pool_offsets_to_indices__default(OverloadFunction):
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything, input_size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything) -> Result: ...
class _op__low_memory_max_pool_offsets_to_indices(OpFunction):
    default: _op__low_memory_max_pool_offsets_to_indices__default
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything, input_size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
_low_memory_max_pool_offsets_to_indices: _op__low_memory_max_pool_offsets_to_indices
class _op__low_memory_max_pool_with_offsets__default(OverloadFunction):
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything, ceil_mode: BoolArg) -> tuple[Result, Result]: ...
class _op__low_memory_max_pool_with_offsets(OpFunction):
    default: _op__low_memory_max_pool_with_offsets__default
    def __call__(_op, self: TensorArg, kernel_size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, padding: Many[IntArg] | Value | Anything, dilation: Many[IntArg] | Value | Anything, ceil_mode: BoolArg) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
_low_memory_max_pool_with_offsets: _op__low_memory_max_pool_with_offsets
class _op__make_token__default(OverloadFunction):
    def __call__(_op) -> Result: ...
class _op__make_token(OpFunction):
    default: _op__make_token__default
    def __call__(_op) -> Result: ...
    __getattr__: None  # type: ignore
_make_token: _op__make_token
class _op__sink_tokens__default(OverloadFunction):
    def __call__(_op, tokens: Many[TensorArg] | Value | Anything) -> None: ...
class _op__sink_tokens(OpFunction):
    default: _op__sink_tokens__default
    def __call__(_op, tokens: Many[TensorArg] | Value | Anything) -> None: ...
    __getattr__: None  # type: ignore
_sink_tokens: _op__sink_tokens
class _op__unsafe_index_put___default(OverloadFunction):
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
class _op__unsafe_index_put_(OpFunction):
    default: _op__unsafe_index_put___default
    def __call__(_op, self: TensorArg, indices: Many[TensorArg | None] | Value | Anything, values: TensorArg, accumulate: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
_unsafe_index_put_: _op__unsafe_index_put_
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
class _op_add__default(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
class _op_add(OpFunction):
    default: _op_add__default
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
    __getattr__: None  # type: ignore
add: _op_add
class _op_amax__default(OverloadFunction):
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
class _op_amax(OpFunction):
    default: _op_amax__default
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
amax: _op_amax
class _op_amin__default(OverloadFunction):
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
class _op_amin(OpFunction):
    default: _op_amin__default
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
amin: _op_amin
class _op_as_strided__default(OverloadFunction):
    def __call__(_op, a: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg) -> Result: ...
class _op_as_strided(OpFunction):
    default: _op_as_strided__default
    def __call__(_op, a: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
as_strided: _op_as_strided
class _op_as_strided_scatter__default(OverloadFunction):
    def __call__(_op, self: TensorArg, src: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg) -> Result: ...
class _op_as_strided_scatter(OpFunction):
    default: _op_as_strided_scatter__default
    def __call__(_op, self: TensorArg, src: TensorArg, size: Many[IntArg] | Value | Anything, stride: Many[IntArg] | Value | Anything, storage_offset: IntArg) -> Result: ...
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
class _op_bessel_i0__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bessel_i0(OpFunction):
    default: _op_bessel_i0__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bessel_i0: _op_bessel_i0
class _op_bessel_i0e__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bessel_i0e(OpFunction):
    default: _op_bessel_i0e__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bessel_i0e: _op_bessel_i0e
class _op_bessel_i1__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bessel_i1(OpFunction):
    default: _op_bessel_i1__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bessel_i1: _op_bessel_i1
class _op_bessel_i1e__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bessel_i1e(OpFunction):
    default: _op_bessel_i1e__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bessel_i1e: _op_bessel_i1e
class _op_bessel_j0__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bessel_j0(OpFunction):
    default: _op_bessel_j0__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bessel_j0: _op_bessel_j0
class _op_bessel_j1__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bessel_j1(OpFunction):
    default: _op_bessel_j1__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bessel_j1: _op_bessel_j1
class _op_bitwise_and__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_bitwise_and(OpFunction):
    default: _op_bitwise_and__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_and: _op_bitwise_and
class _op_bitwise_not__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_bitwise_not(OpFunction):
    default: _op_bitwise_not__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_not: _op_bitwise_not
class _op_bitwise_or__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_bitwise_or(OpFunction):
    default: _op_bitwise_or__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_or: _op_bitwise_or
class _op_bitwise_xor__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_bitwise_xor(OpFunction):
    default: _op_bitwise_xor__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
bitwise_xor: _op_bitwise_xor
class _op_broadcast_in_dim__default(OverloadFunction):
    def __call__(_op, a: TensorArg, shape: Many[IntArg] | Value | Anything, broadcast_dimensions: Many[IntArg] | Value | Anything) -> Result: ...
class _op_broadcast_in_dim(OpFunction):
    default: _op_broadcast_in_dim__default
    def __call__(_op, a: TensorArg, shape: Many[IntArg] | Value | Anything, broadcast_dimensions: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
broadcast_in_dim: _op_broadcast_in_dim
class _op_cat__default(OverloadFunction):
    def __call__(_op, tensors: Many[TensorArg] | Value | Anything, dim: IntArg) -> Result: ...
class _op_cat(OpFunction):
    default: _op_cat__default
    def __call__(_op, tensors: Many[TensorArg] | Value | Anything, dim: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
cat: _op_cat
class _op_cbrt__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_cbrt(OpFunction):
    default: _op_cbrt__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
cbrt: _op_cbrt
class _op_ceil__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_ceil(OpFunction):
    default: _op_ceil__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
ceil: _op_ceil
class _op_clone__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, memory_format: MemoryFormatArg | None = ...) -> Result: ...
class _op_clone(OpFunction):
    default: _op_clone__default
    def __call__(_op, self: TensorArg, *, memory_format: MemoryFormatArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
clone: _op_clone
class _op_collapse__default(OverloadFunction):
    def __call__(_op, a: TensorArg, start: IntArg, end: IntArg) -> Result: ...
class _op_collapse(OpFunction):
    default: _op_collapse__default
    def __call__(_op, a: TensorArg, start: IntArg, end: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
collapse: _op_collapse
class _op_collapse_view__default(OverloadFunction):
    def __call__(_op, a: TensorArg, start: IntArg, end: IntArg) -> Result: ...
class _op_collapse_view(OpFunction):
    default: _op_collapse_view__default
    def __call__(_op, a: TensorArg, start: IntArg, end: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
collapse_view: _op_collapse_view
class _op_conj__default(OverloadFunction):
    def __call__(_op, a: TensorArg) -> Result: ...
class _op_conj(OpFunction):
    default: _op_conj__default
    def __call__(_op, a: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
conj: _op_conj
class _op_conj_physical__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_conj_physical(OpFunction):
    default: _op_conj_physical__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
conj_physical: _op_conj_physical
class _op_convert_element_type__default(OverloadFunction):
    def __call__(_op, a: TensorArg, dtype: DtypeArg) -> Result: ...
class _op_convert_element_type(OpFunction):
    default: _op_convert_element_type__default
    def __call__(_op, a: TensorArg, dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
convert_element_type: _op_convert_element_type
class _op_copy_strided__default(OverloadFunction):
    def __call__(_op, a: TensorArg, stride: Many[IntArg] | Value | Anything) -> Result: ...
class _op_copy_strided(OpFunction):
    default: _op_copy_strided__default
    def __call__(_op, a: TensorArg, stride: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
copy_strided: _op_copy_strided
class _op_copy_to__default(OverloadFunction):
    def __call__(_op, a: TensorArg, b: TensorArg) -> Result: ...
class _op_copy_to(OpFunction):
    default: _op_copy_to__default
    def __call__(_op, a: TensorArg, b: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
copy_to: _op_copy_to
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
class _op_device_put__default(OverloadFunction):
    def __call__(_op, a: TensorArg, device: DeviceArg, non_blocking: BoolArg = ...) -> Result: ...
class _op_device_put(OpFunction):
    default: _op_device_put__default
    def __call__(_op, a: TensorArg, device: DeviceArg, non_blocking: BoolArg = ...) -> Result: ...
    __getattr__: None  # type: ignore
device_put: _op_device_put
class _op_digamma__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_digamma(OpFunction):
    default: _op_digamma__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
digamma: _op_digamma
class _op_div__default(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
class _op_div(OpFunction):
    default: _op_div__default
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
    __getattr__: None  # type: ignore
div: _op_div
class _op_empty__default(OverloadFunction):
    def __call__(_op, shape: Many[IntArg] | Value | Anything, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
class _op_empty(OpFunction):
    default: _op_empty__default
    def __call__(_op, shape: Many[IntArg] | Value | Anything, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
empty: _op_empty
class _op_empty_permuted__default(OverloadFunction):
    def __call__(_op, shape: Many[IntArg] | Value | Anything, physical_layout: Many[IntArg] | Value | Anything, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
class _op_empty_permuted(OpFunction):
    default: _op_empty_permuted__default
    def __call__(_op, shape: Many[IntArg] | Value | Anything, physical_layout: Many[IntArg] | Value | Anything, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
empty_permuted: _op_empty_permuted
class _op_empty_strided__default(OverloadFunction):
    def __call__(_op, shape: Many[IntArg] | Value | Anything, strides: Many[IntArg] | Value | Anything, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
class _op_empty_strided(OpFunction):
    default: _op_empty_strided__default
    def __call__(_op, shape: Many[IntArg] | Value | Anything, strides: Many[IntArg] | Value | Anything, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
empty_strided: _op_empty_strided
class _op_eq__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_eq(OpFunction):
    default: _op_eq__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
eq: _op_eq
class _op_erf__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_erf(OpFunction):
    default: _op_erf__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
erf: _op_erf
class _op_erf_inv__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_erf_inv(OpFunction):
    default: _op_erf_inv__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
erf_inv: _op_erf_inv
class _op_erfc__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_erfc(OpFunction):
    default: _op_erfc__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
erfc: _op_erfc
class _op_erfcx__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_erfcx(OpFunction):
    default: _op_erfcx__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
erfcx: _op_erfcx
class _op_exp__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_exp(OpFunction):
    default: _op_exp__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
exp: _op_exp
class _op_exp2__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_exp2(OpFunction):
    default: _op_exp2__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
exp2: _op_exp2
class _op_expm1__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_expm1(OpFunction):
    default: _op_expm1__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
expm1: _op_expm1
class _op_fft_c2c__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dim: Many[IntArg] | Value | Anything, forward: BoolArg) -> Result: ...
class _op_fft_c2c(OpFunction):
    default: _op_fft_c2c__default
    def __call__(_op, self: TensorArg, *, dim: Many[IntArg] | Value | Anything, forward: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
fft_c2c: _op_fft_c2c
class _op_fft_c2r__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dim: Many[IntArg] | Value | Anything, last_dim_size: IntArg) -> Result: ...
class _op_fft_c2r(OpFunction):
    default: _op_fft_c2r__default
    def __call__(_op, self: TensorArg, *, dim: Many[IntArg] | Value | Anything, last_dim_size: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
fft_c2r: _op_fft_c2r
class _op_fft_r2c__default(OverloadFunction):
    def __call__(_op, self: TensorArg, *, dim: Many[IntArg] | Value | Anything, onesided: BoolArg) -> Result: ...
class _op_fft_r2c(OpFunction):
    default: _op_fft_r2c__default
    def __call__(_op, self: TensorArg, *, dim: Many[IntArg] | Value | Anything, onesided: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
fft_r2c: _op_fft_r2c
class _op_fill__default(OverloadFunction):
    def __call__(_op, self: TensorArg, value: ScalarArg) -> Result: ...
class _op_fill(OpFunction):
    default: _op_fill__default
    def __call__(_op, self: TensorArg, value: ScalarArg) -> Result: ...
    __getattr__: None  # type: ignore
fill: _op_fill
class _op_floor__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_floor(OpFunction):
    default: _op_floor__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
floor: _op_floor
class _op_fma__default(OverloadFunction):
    def __call__(_op, a: TensorArg, b: TensorArg, c: TensorArg) -> Result: ...
class _op_fma(OpFunction):
    default: _op_fma__default
    def __call__(_op, a: TensorArg, b: TensorArg, c: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
fma: _op_fma
class _op_fmax__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_fmax(OpFunction):
    default: _op_fmax__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
fmax: _op_fmax
class _op_fmin__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_fmin(OpFunction):
    default: _op_fmin__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
fmin: _op_fmin
class _op_fmod__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_fmod(OpFunction):
    default: _op_fmod__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
fmod: _op_fmod
class _op_frexp__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> tuple[Result, Result]: ...
class _op_frexp(OpFunction):
    default: _op_frexp__default
    def __call__(_op, self: TensorArg) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
frexp: _op_frexp
class _op_full__default(OverloadFunction):
    def __call__(_op, shape: Many[IntArg] | Value | Anything, fill_value: ScalarArg, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
class _op_full(OpFunction):
    default: _op_full__default
    def __call__(_op, shape: Many[IntArg] | Value | Anything, fill_value: ScalarArg, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
full: _op_full
class _op_full_like__default(OverloadFunction):
    def __call__(_op, a: TensorArg, fill_value: ScalarArg, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
class _op_full_like(OpFunction):
    default: _op_full_like__default
    def __call__(_op, a: TensorArg, fill_value: ScalarArg, *, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
full_like: _op_full_like
class _op_gcd__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_gcd(OpFunction):
    default: _op_gcd__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
gcd: _op_gcd
class _op_ge__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_ge(OpFunction):
    default: _op_ge__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
ge: _op_ge
class _op_gt__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_gt(OpFunction):
    default: _op_gt__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
gt: _op_gt
class _op_hypot__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_hypot(OpFunction):
    default: _op_hypot__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
hypot: _op_hypot
class _op_igamma__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_igamma(OpFunction):
    default: _op_igamma__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
igamma: _op_igamma
class _op_igammac__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_igammac(OpFunction):
    default: _op_igammac__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
igammac: _op_igammac
class _op_imag__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_imag(OpFunction):
    default: _op_imag__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
imag: _op_imag
class _op_inductor_cvt_e8m0_rceil__default(OverloadFunction):
    def __call__(_op, input: TensorArg) -> Result: ...
class _op_inductor_cvt_e8m0_rceil(OpFunction):
    default: _op_inductor_cvt_e8m0_rceil__default
    def __call__(_op, input: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
inductor_cvt_e8m0_rceil: _op_inductor_cvt_e8m0_rceil
class _op_inductor_force_stride_order__default(OverloadFunction):
    def __call__(_op, input: TensorArg, stride: Many[IntArg] | Value | Anything) -> Result: ...
class _op_inductor_force_stride_order(OpFunction):
    default: _op_inductor_force_stride_order__default
    def __call__(_op, input: TensorArg, stride: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
inductor_force_stride_order: _op_inductor_force_stride_order
class _op_inductor_lookup_seed__default(OverloadFunction):
    def __call__(_op, seeds: TensorArg, index: IntArg) -> Result: ...
class _op_inductor_lookup_seed(OpFunction):
    default: _op_inductor_lookup_seed__default
    def __call__(_op, seeds: TensorArg, index: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
inductor_lookup_seed: _op_inductor_lookup_seed
class _op_inductor_rand_eager_offset__default(OverloadFunction):
    def __call__(_op, offset: IntArg, device: DeviceArg) -> Result: ...
class _op_inductor_rand_eager_offset(OpFunction):
    default: _op_inductor_rand_eager_offset__default
    def __call__(_op, offset: IntArg, device: DeviceArg) -> Result: ...
    __getattr__: None  # type: ignore
inductor_rand_eager_offset: _op_inductor_rand_eager_offset
class _op_inductor_rand_eager_offsets__default(OverloadFunction):
    def __call__(_op, offsets: Many[IntArg] | Value | Anything, device: DeviceArg) -> Result: ...
class _op_inductor_rand_eager_offsets(OpFunction):
    default: _op_inductor_rand_eager_offsets__default
    def __call__(_op, offsets: Many[IntArg] | Value | Anything, device: DeviceArg) -> Result: ...
    __getattr__: None  # type: ignore
inductor_rand_eager_offsets: _op_inductor_rand_eager_offsets
class _op_inductor_randint__default(OverloadFunction):
    def __call__(_op, low: IntArg, high: IntArg, size: Many[IntArg] | Value | Anything, seed: TensorArg) -> Result: ...
class _op_inductor_randint(OpFunction):
    default: _op_inductor_randint__default
    def __call__(_op, low: IntArg, high: IntArg, size: Many[IntArg] | Value | Anything, seed: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
inductor_randint: _op_inductor_randint
class _op_inductor_random__default(OverloadFunction):
    def __call__(_op, size: Many[IntArg] | Value | Anything, seed: TensorArg, mode: StrArg, *, align_dtype: DtypeArg | None = ...) -> Result: ...
class _op_inductor_random(OpFunction):
    default: _op_inductor_random__default
    def __call__(_op, size: Many[IntArg] | Value | Anything, seed: TensorArg, mode: StrArg, *, align_dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
inductor_random: _op_inductor_random
class _op_inductor_seed__default(OverloadFunction):
    def __call__(_op, device: DeviceArg) -> Result: ...
class _op_inductor_seed(OpFunction):
    default: _op_inductor_seed__default
    def __call__(_op, device: DeviceArg) -> Result: ...
    __getattr__: None  # type: ignore
inductor_seed: _op_inductor_seed
class _op_inductor_seeds__default(OverloadFunction):
    def __call__(_op, count: IntArg, device: DeviceArg) -> Result: ...
class _op_inductor_seeds(OpFunction):
    default: _op_inductor_seeds__default
    def __call__(_op, count: IntArg, device: DeviceArg) -> Result: ...
    __getattr__: None  # type: ignore
inductor_seeds: _op_inductor_seeds
class _op_iota__default(OverloadFunction):
    def __call__(_op, length: IntArg, *, start: IntArg, step: IntArg, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
class _op_iota(OpFunction):
    default: _op_iota__default
    def __call__(_op, length: IntArg, *, start: IntArg, step: IntArg, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg) -> Result: ...
    __getattr__: None  # type: ignore
iota: _op_iota
class _op_isfinite__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_isfinite(OpFunction):
    default: _op_isfinite__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
isfinite: _op_isfinite
class _op_item__default(OverloadFunction):
    def __call__(_op, a: TensorArg) -> Result: ...
class _op_item(OpFunction):
    default: _op_item__default
    def __call__(_op, a: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
item: _op_item
class _op_le__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_le(OpFunction):
    default: _op_le__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
le: _op_le
class _op_lgamma__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_lgamma(OpFunction):
    default: _op_lgamma__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
lgamma: _op_lgamma
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
class _op_lt__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_lt(OpFunction):
    default: _op_lt__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
lt: _op_lt
class _op_maximum__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_maximum(OpFunction):
    default: _op_maximum__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
maximum: _op_maximum
class _op_maximum_value__default(OverloadFunction):
    def __call__(_op, dtype: DtypeArg) -> Result: ...
class _op_maximum_value(OpFunction):
    default: _op_maximum_value__default
    def __call__(_op, dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
maximum_value: _op_maximum_value
class _op_minimum__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_minimum(OpFunction):
    default: _op_minimum__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
minimum: _op_minimum
class _op_minimum_value__default(OverloadFunction):
    def __call__(_op, dtype: DtypeArg) -> Result: ...
class _op_minimum_value(OpFunction):
    default: _op_minimum_value__default
    def __call__(_op, dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
minimum_value: _op_minimum_value
class _op_mul__default(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
class _op_mul(OpFunction):
    default: _op_mul__default
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
    __getattr__: None  # type: ignore
mul: _op_mul
class _op_ndtri__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_ndtri(OpFunction):
    default: _op_ndtri__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
ndtri: _op_ndtri
class _op_ne__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_ne(OpFunction):
    default: _op_ne__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
ne: _op_ne
class _op_neg__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_neg(OpFunction):
    default: _op_neg__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
neg: _op_neg
class _op_nextafter__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_nextafter(OpFunction):
    default: _op_nextafter__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
nextafter: _op_nextafter
class _op_normal__default(OverloadFunction):
    def __call__(_op, shape: Many[IntArg] | Value | Anything, *, mean: ScalarArg, std: ScalarArg, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg, generator: ObjectArg | None = ...) -> Result: ...
class _op_normal(OpFunction):
    default: _op_normal__default
    def __call__(_op, shape: Many[IntArg] | Value | Anything, *, mean: ScalarArg, std: ScalarArg, dtype: DtypeArg, device: DeviceArg, requires_grad: BoolArg, generator: ObjectArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
normal: _op_normal
class _op_pow__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_pow(OpFunction):
    default: _op_pow__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
pow: _op_pow
class _op_prepare_softmax_online__default(OverloadFunction):
    def __call__(_op, a: TensorArg, dim: IntArg) -> tuple[Result, Result]: ...
class _op_prepare_softmax_online(OpFunction):
    default: _op_prepare_softmax_online__default
    def __call__(_op, a: TensorArg, dim: IntArg) -> tuple[Result, Result]: ...
    __getattr__: None  # type: ignore
prepare_softmax_online: _op_prepare_softmax_online
class _op_prod__default(OverloadFunction):
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
class _op_prod(OpFunction):
    default: _op_prod__default
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
prod: _op_prod
class _op_real__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_real(OpFunction):
    default: _op_real__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
real: _op_real
class _op_reciprocal__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_reciprocal(OpFunction):
    default: _op_reciprocal__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
reciprocal: _op_reciprocal
class _op_remainder__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_remainder(OpFunction):
    default: _op_remainder__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
remainder: _op_remainder
class _op_reshape__default(OverloadFunction):
    def __call__(_op, a: TensorArg, shape: Many[IntArg] | Value | Anything) -> Result: ...
class _op_reshape(OpFunction):
    default: _op_reshape__default
    def __call__(_op, a: TensorArg, shape: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
reshape: _op_reshape
class _op_resize__default(OverloadFunction):
    def __call__(_op, a: TensorArg, shape: Many[IntArg] | Value | Anything) -> Result: ...
class _op_resize(OpFunction):
    default: _op_resize__default
    def __call__(_op, a: TensorArg, shape: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
resize: _op_resize
class _op_rev__default(OverloadFunction):
    def __call__(_op, a: TensorArg, dims: Many[IntArg] | Value | Anything) -> Result: ...
class _op_rev(OpFunction):
    default: _op_rev__default
    def __call__(_op, a: TensorArg, dims: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
rev: _op_rev
class _op_round__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_round(OpFunction):
    default: _op_round__default
    def __call__(_op, self: TensorArg) -> Result: ...
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
    def __call__(_op, s: ScalarArg, *, dtype: DtypeArg | None = ..., device: DeviceArg | None = ...) -> Result: ...
class _op_scalar_tensor(OpFunction):
    default: _op_scalar_tensor__default
    def __call__(_op, s: ScalarArg, *, dtype: DtypeArg | None = ..., device: DeviceArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
scalar_tensor: _op_scalar_tensor
class _op_shift_left__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_shift_left(OpFunction):
    default: _op_shift_left__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
shift_left: _op_shift_left
class _op_shift_right_arithmetic__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_shift_right_arithmetic(OpFunction):
    default: _op_shift_right_arithmetic__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
shift_right_arithmetic: _op_shift_right_arithmetic
class _op_sign__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sign(OpFunction):
    default: _op_sign__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sign: _op_sign
class _op_signbit__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_signbit(OpFunction):
    default: _op_signbit__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
signbit: _op_signbit
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
class _op_spherical_bessel_j0__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_spherical_bessel_j0(OpFunction):
    default: _op_spherical_bessel_j0__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
spherical_bessel_j0: _op_spherical_bessel_j0
class _op_split_dim__default(OverloadFunction):
    def __call__(_op, a: TensorArg, dim: IntArg, outer_length: IntArg) -> Result: ...
class _op_split_dim(OpFunction):
    default: _op_split_dim__default
    def __call__(_op, a: TensorArg, dim: IntArg, outer_length: IntArg) -> Result: ...
    __getattr__: None  # type: ignore
split_dim: _op_split_dim
class _op_sqrt__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_sqrt(OpFunction):
    default: _op_sqrt__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
sqrt: _op_sqrt
class _op_squeeze__default(OverloadFunction):
    def __call__(_op, a: TensorArg, dimensions: Many[IntArg] | Value | Anything) -> Result: ...
class _op_squeeze(OpFunction):
    default: _op_squeeze__default
    def __call__(_op, a: TensorArg, dimensions: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
squeeze: _op_squeeze
class _op_sub__default(OverloadFunction):
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
class _op_sub(OpFunction):
    default: _op_sub__default
    def __call__(_op, self: TensorArg | float, other: TensorArg | float) -> Result: ...
    __getattr__: None  # type: ignore
sub: _op_sub
class _op_sum__default(OverloadFunction):
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
class _op_sum(OpFunction):
    default: _op_sum__default
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
sum: _op_sum
class _op_svd__default(OverloadFunction):
    def __call__(_op, A: TensorArg, *, full_matrices: BoolArg) -> tuple[Result, Result, Result]: ...
class _op_svd(OpFunction):
    default: _op_svd__default
    def __call__(_op, A: TensorArg, *, full_matrices: BoolArg) -> tuple[Result, Result, Result]: ...
    __getattr__: None  # type: ignore
svd: _op_svd
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
class _op_transpose__default(OverloadFunction):
    def __call__(_op, a: TensorArg, permutation: Many[IntArg] | Value | Anything) -> Result: ...
class _op_transpose(OpFunction):
    default: _op_transpose__default
    def __call__(_op, a: TensorArg, permutation: Many[IntArg] | Value | Anything) -> Result: ...
    __getattr__: None  # type: ignore
transpose: _op_transpose
class _op_trunc__default(OverloadFunction):
    def __call__(_op, self: TensorArg) -> Result: ...
class _op_trunc(OpFunction):
    default: _op_trunc__default
    def __call__(_op, self: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
trunc: _op_trunc
class _op_uniform__default(OverloadFunction):
    def __call__(_op, shape: Many[IntArg] | Value | Anything, *, low: ScalarArg, high: ScalarArg, dtype: DtypeArg, device: DeviceArg, stride: Many[IntArg] | Value | Anything, generator: ObjectArg | None = ...) -> Result: ...
class _op_uniform(OpFunction):
    default: _op_uniform__default
    def __call__(_op, shape: Many[IntArg] | Value | Anything, *, low: ScalarArg, high: ScalarArg, dtype: DtypeArg, device: DeviceArg, stride: Many[IntArg] | Value | Anything, generator: ObjectArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
uniform: _op_uniform
class _op_var__default(OverloadFunction):
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, correction: FloatArg | None = ..., *, output_dtype: DtypeArg | None = ...) -> Result: ...
class _op_var(OpFunction):
    default: _op_var__default
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, correction: FloatArg | None = ..., *, output_dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
var: _op_var
class _op_view_of__default(OverloadFunction):
    def __call__(_op, a: TensorArg) -> Result: ...
class _op_view_of(OpFunction):
    default: _op_view_of__default
    def __call__(_op, a: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
view_of: _op_view_of
class _op_view_of_dtype__default(OverloadFunction):
    def __call__(_op, a: TensorArg, dtype: DtypeArg) -> Result: ...
class _op_view_of_dtype(OpFunction):
    default: _op_view_of_dtype__default
    def __call__(_op, a: TensorArg, dtype: DtypeArg) -> Result: ...
    __getattr__: None  # type: ignore
view_of_dtype: _op_view_of_dtype
class _op_where__default(OverloadFunction):
    def __call__(_op, pred: TensorArg, a: TensorArg, b: TensorArg) -> Result: ...
class _op_where(OpFunction):
    default: _op_where__default
    def __call__(_op, pred: TensorArg, a: TensorArg, b: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
where: _op_where
class _op_xor_sum__default(OverloadFunction):
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
class _op_xor_sum(OpFunction):
    default: _op_xor_sum__default
    def __call__(_op, inp: TensorArg, dims: Many[IntArg] | Value | Anything | None, *, output_dtype: DtypeArg | None = ...) -> Result: ...
    __getattr__: None  # type: ignore
xor_sum: _op_xor_sum
class _op_zeta__default(OverloadFunction):
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
class _op_zeta(OpFunction):
    default: _op_zeta__default
    def __call__(_op, self: TensorArg, other: TensorArg) -> Result: ...
    __getattr__: None  # type: ignore
zeta: _op_zeta

