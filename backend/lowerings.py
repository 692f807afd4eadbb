"""How Inductor lowers the operators of our own library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch


@cache
def register() -> None:
    """Enter our operators into Inductor's table of lowerings, once in a process.

    An operator without an entry is called as it is, which gives the same numbers.
    """
    from torch._inductor.kernel.mm_plus_mm import tuned_mm_plus_mm
    from torch._inductor.lowering import register_lowering

    from xductor.transforms.matmul import operators
    from xductor.transforms.matmul.b2b_gemm_operator import b2b_gemm

    lower = register_lowering(operators.mm_plus_mm._opoverload, type_promotion_kind=None)
    lower(tuned_mm_plus_mm)
    register_lowering(b2b_gemm, type_promotion_kind=None)(_tuned_b2b_gemm)
    from xductor.transforms.quantized.operators import max_pool2d, weight_int8pack_mm

    lower = register_lowering(weight_int8pack_mm._opoverload, type_promotion_kind=None)
    lower(_weight_int8pack_mm)
    lower = register_lowering(max_pool2d._opoverload, type_promotion_kind=None)
    lower(_max_pool2d)
    if torch._C._has_mkldnn:
        _register_packed_calls()


def _register_packed_calls() -> None:
    """Enter the calls of oneDNN's that are operators of ours."""
    from torch._inductor.lowering import register_lowering

    from xductor.transforms.onednn import operators as operators  # registers the operators
    from xductor.transforms.quantized import int8_operators as int8_operators  # these too

    ours: dict[str, Callable[..., Any]] = {
        "convolution_binary": _convolution_binary,
        "convolution_binary_": _convolution_binary_in_place,
        "onednn_mm": _onednn_mm,
        "linear_binary": _linear_binary,
        "grouped_linear": _grouped_linear,
        "qconv_binary": _qconv_binary,
        "qconv_binary_": _qconv_binary_in_place,
        "qlinear_binary": _qlinear_binary,
        "qlinear_binary_": _qlinear_binary_in_place,
        "qconv": _qconv,
    }
    for name, lowering in ours.items():
        register_lowering(getattr(torch.ops.xductor, name), type_promotion_kind=None)(lowering)


def _lowered(op: Any, *arguments: Any) -> Any:
    from torch._inductor.lowering import lowerings

    return lowerings[op](*arguments)


def _convolution_binary(x: Any, other: Any, *given: Any) -> Any:
    op = torch.ops.mkldnn._convolution_pointwise.binary
    return _lowered(op, x, other, *_with_attributes(given))


def _with_attributes(given: Sequence[Any]) -> list[Any]:
    """The last arguments as Inductor's lowerings take them: a factor, and what a relu needs."""
    *before, unary = given
    return [*before, 1.0, unary, [], None if unary is None else ""]


def _convolution_binary_in_place(x: Any, other: Any, *given: Any) -> Any:
    """Write to `other` if it is a buffer of its own. Nothing reads it later, so it need not be."""
    from torch._inductor.fx_passes.mkldnn_fusion import _can_be_inplace

    other.realize()
    if not _can_be_inplace(other):
        return _convolution_binary(x, other, *given)
    op = torch.ops.mkldnn._convolution_pointwise_.binary
    return _lowered(op, x, other, *_with_attributes(given))


def _qconv_binary(*given: Any) -> Any:
    """Write to a copy of what is added: oneDNN's call of 8 bits knows no other sum."""
    from torch._inductor.lowering import clone

    from xductor.transforms.quantized.int8_operators import OTHER

    copied: Any = clone(given[OTHER], memory_format=torch.preserve_format)
    copied.realize()
    return _qconv_binary_in_place(*given[:OTHER], copied, *given[OTHER + 1 :])


def _qconv_binary_in_place(*given: Any) -> Any:
    """Write to what is added if it is a buffer of its own, as `_convolution_binary_in_place`."""
    from torch._inductor.fx_passes.mkldnn_fusion import _can_be_inplace

    from xductor.transforms.quantized.int8_operators import OTHER, for_convolution

    other = given[OTHER]
    other.realize()
    if not _can_be_inplace(other):
        return _qconv_binary(*given)
    return _lowered(torch.ops.onednn.qconv2d_pointwise.binary, *for_convolution(given))


def _qconv(*given: Any) -> Any:
    return _lowered(torch.ops.onednn.qconv_pointwise.default, *given)


def _qlinear_binary(*given: Any, how: str = "add") -> Any:
    """Inductor's lowering wants what is added to lie in memory."""
    from xductor.transforms.quantized.int8_operators import OTHER, for_linear

    given[OTHER].realize()
    return _lowered(torch.ops.onednn.qlinear_pointwise.binary, *for_linear(given, how))


def _qlinear_binary_in_place(*given: Any) -> Any:
    """Write to what is added if it is a buffer of its own, as `_convolution_binary_in_place`."""
    from torch._inductor.fx_passes.mkldnn_fusion import _qlinear_binary_can_be_inplace

    from xductor.transforms.quantized.int8_operators import OTHER

    given[OTHER].realize()
    can_be = _qlinear_binary_can_be_inplace(given[OTHER])
    return _qlinear_binary(*given, how="sum" if can_be else "add")


def _onednn_mm(x: Any, mat2: Any, bias: Any) -> Any:
    """oneDNN's call on a weight as it lies. Inductor's lowering wants a constant of the graph."""
    from torch._inductor.ir import ExternKernel, TensorBox
    from torch._inductor.lowering import permute

    rows, vector = (
        one if one is None else ExternKernel.require_contiguous(ExternKernel.realize_input(one))
        for one in (x, bias)
    )
    make = _linear_of_any_weight().create
    return TensorBox.create(make(rows, permute(mat2, [1, 0]), vector, "none", [], ""))


@cache
def _linear_of_any_weight() -> Any:
    from torch._inductor.mkldnn_ir import LinearUnary

    class LinearOfAnyWeight(LinearUnary):
        """A call that reads its weight as it lies. Its other operands are contiguous already."""

        @classmethod
        def require_contiguous(cls, x: Any) -> Any:
            return x

    return LinearOfAnyWeight


def _linear_binary(x: Any, other: Any, weight: Any, bias: Any, binary: str) -> Any:
    op = torch.ops.mkldnn._linear_pointwise.binary
    return _lowered(op, x, other, weight, bias, binary)


def _grouped_linear(x: Any, weights: Sequence[Any], biases: Sequence[Any]) -> list[Any]:
    """One kernel for all products, where Inductor's template has one; else a call for each.

    The template reads rows whose elements stand side by side.
    """
    from torch._inductor.ir import ExternKernel
    from torch._inductor.mkldnn_lowerings import grouped_gemm_lowering

    rows = ExternKernel.require_contiguous(x)
    if all(_has_template(rows, weight) for weight in weights):
        return grouped_gemm_lowering(rows, list(weights), list(biases))
    op = torch.ops.mkldnn._linear_pointwise.default
    pairs = zip(weights, biases, strict=True)
    return [_lowered(op, x, weight, bias, "none", [], "") for weight, bias in pairs]


def _has_template(x: Any, weight: Any) -> bool:
    """Whether Inductor has a kernel in C++ for rows of `x` and a weight that the graph holds."""
    from torch._inductor.kernel.mm_common import mm_args
    from torch._inductor.lowering import permute, view
    from torch._inductor.utils import use_cpp_gemm_template

    sizes: list[Any] = [-1, x.get_size()[-1]]
    rows = view(x, sizes)
    *_, layout, rows, columns = mm_args(rows, permute(weight, [1, 0]))
    return use_cpp_gemm_template(layout, rows, columns)


def _weight_int8pack_mm(x: Any, weight: Any, scales: Any) -> Any:
    """Inductor's own lowering, on rows that start where its kernel can read."""
    from torch._inductor.ir import ExternKernel

    rows, weight, scales = (ExternKernel.require_contiguous(one) for one in (x, weight, scales))
    if not _starts_aligned(rows):
        rows = ExternKernel.copy_input(rows)
    return _lowered(torch.ops.aten._weight_int8pack_mm.default, rows, weight, scales)


def _max_pool2d(x: Any, *given: Any) -> Any:
    """Channels come last, as the kernel and the generated loops want them."""
    from torch._inductor.ir import ExternKernel

    from xductor.transforms.quantized.operators import has_pooling_kernel

    if len(x.get_size()) == 4:
        x = ExternKernel.require_channels_last(x)
    if has_pooling_kernel(x.get_dtype(), len(x.get_size())) and _has_elements(x):
        return _lowered(torch.ops.quantized.max_pool2d.default, x, *given)
    return _lowered(torch.ops.aten.max_pool2d_with_indices.default, x, *given)[0]


def _has_elements(x: Any) -> bool:
    """Whether no size is 0; those that the program computes are not known."""
    from torch._inductor.virtualized import V

    return all(V.graph.sizevars.statically_known_gt(size, 0) for size in x.get_size())


def _starts_aligned(x: Any) -> bool:
    """Whether what is realized starts at a multiple of `ALIGNMENT` bytes; inputs start anywhere."""
    from torch._inductor.ir import InputBuffer, ReinterpretView, StorageBox, TensorBox
    from torch._inductor.virtualized import V

    from xductor.transforms.quantized.operators import ALIGNMENT

    while isinstance(x, TensorBox | StorageBox | ReinterpretView):
        if isinstance(x, ReinterpretView):
            start = x.layout.offset * x.layout.dtype.itemsize
            if not V.graph.sizevars.statically_known_multiple_of(start, ALIGNMENT):
                return False
        x = x.data
    return not isinstance(x, InputBuffer) and x.get_name() not in V.graph.unaligned_buffers


def tunes_b2b_gemm() -> bool:
    """Whether Inductor can tune two successive products: in torch 2.11 its own call raises."""
    from torch._inductor.fx_passes import b2b_gemm

    return hasattr(b2b_gemm, "_make_unoptimized_b2b_gemm_choice")


def _tuned_b2b_gemm(between: Any, a: Any, b: Any, c: Any, left: bool) -> Any:
    """The kernel of Inductor's `b2b_gemm_pass`, which calls it by itself."""
    from torch._inductor.fx_passes.b2b_gemm import tuned_b2b_gemm

    return tuned_b2b_gemm(left, between, a, b, c)


__all__ = ["register", "tunes_b2b_gemm"]
