"""Operators of 8-bit numbers: `xductor::weight_int8pack_mm`, a product with an int8 weight wherever
its operands lie, and `xductor::max_pool2d`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

#: What ATen's kernels ask of the address and the length of a row, in bytes. They read whole
#: vectors, as long as the processor has them, and end the process on rows that start elsewhere.
ALIGNMENT = 64

DEVICES = ("cpu", "cuda", "xpu")


@torch.library.custom_op("xductor::weight_int8pack_mm", mutates_args=())
def weight_int8pack_mm(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    """`(x @ weight.t()) * scales`, with sums and scaling in float32, rounded once.

    - `x`: `[m, k]`, of a floating dtype; `weight`: int8 `[n, k]`; `scales`: `[n]`, of `x`'s dtype.

    This is `aten::_weight_int8pack_mm` on copies of operands that its kernels cannot read. Rows of
    other lengths than a multiple of `ALIGNMENT` bytes are multiplied by the widened weight.
    """
    if x.shape[1] * x.element_size() % ALIGNMENT:
        product = x.float() @ weight.t().float()
        return (product * scales.float()).to(x.dtype)
    scales = scales.contiguous()
    return torch.ops.aten._weight_int8pack_mm(_aligned(x), weight.contiguous(), scales)


def _aligned(x: Tensor) -> Tensor:
    if x.is_contiguous() and x.data_ptr() % ALIGNMENT == 0:
        return x
    return x.clone(memory_format=torch.contiguous_format)


@weight_int8pack_mm.register_fake
def _(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    return torch.ops.aten._weight_int8pack_mm(x, weight, scales)


def has_kernel(device: torch.device, inner: int) -> bool:
    """Whether a bfloat16 row of `inner` elements is read by a kernel of ATen."""
    return device.type in DEVICES and inner * torch.bfloat16.itemsize % ALIGNMENT == 0


@torch.library.custom_op("xductor::max_pool2d", mutates_args=())
def max_pool2d(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Tensor:
    """The maxima of `aten::max_pool2d_with_indices`, of the same arguments, without indices.

    - `x`: uint8 or int8, `[n, c, h, w]` or `[c, h, w]`.
    """
    given = (kernel_size, stride or kernel_size, padding, dilation, ceil_mode)
    if has_pooling_kernel(x.dtype, x.ndim) and x.numel():
        return torch.ops.quantized.max_pool2d(x, *given)
    return torch.ops.aten.max_pool2d_with_indices(x, *given)[0]


@max_pool2d.register_fake
def _(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Tensor:
    given = (kernel_size, stride, padding, dilation, ceil_mode)
    return torch.ops.aten.max_pool2d_with_indices(x, *given)[0]


def has_pooling_kernel(dtype: torch.dtype, rank: int) -> bool:
    """Whether `quantized::max_pool2d` takes such numbers, if there are any."""
    return dtype is torch.uint8 and rank == 4


WEIGHT_INT8PACK_MM = "xductor.weight_int8pack_mm.default"

__all__ = [
    "ALIGNMENT",
    "DEVICES",
    "WEIGHT_INT8PACK_MM",
    "has_kernel",
    "has_pooling_kernel",
    "max_pool2d",
    "weight_int8pack_mm",
]
