"""Decides whether a device has a fused kernel for an attention, before the call is made.

`scaled_dot_product_attention` accepts everything; without a kernel it computes products and a
softmax again, at higher cost than the original graph. Fake tensors cannot tell which kernel it will
choose, so the conditions of the kernels are repeated here; a test compares them with the choice
for real tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch

from xductor.ir.dialect.types import Dim, TensorFields


@dataclass(frozen=True)
class Request:
    """The arguments of a fused call.

    `query`, `key`, `value` and `mask` have four dims; `grad` tells whether a gradient flows back.
    """

    device: torch.device
    dtype: torch.dtype
    query: TensorFields
    key: TensorFields
    value: TensorFields
    mask: TensorFields | None = None
    dropout: float = 0.0
    causal: bool = False
    grad: bool = False

    @property
    def mask_grad(self) -> bool:
        return self.mask is not None and "requires_grad" in self.mask.flags

    @property
    def grouped(self) -> bool:
        return self.key.shape[1] != self.query.shape[1]

    @property
    def sizes(self) -> tuple[Dim, Dim, Dim]:
        """The sizes of a head in query, key and value."""
        return self.query.shape[-1], self.key.shape[-1], self.value.shape[-1]


def refusal(request: Request) -> str | None:
    """Why no fused kernel accepts a request; None if one does."""
    reason = refusal_of_all(request.device, request.dtype, request.dropout)
    if reason is not None:
        return reason
    for tensor in (request.query, request.key, request.value):
        if any(size == 0 for size in tensor.shape):
            return "there is nothing to compute"
    return _DEVICES[request.device.type].refusal(request)


def refusal_of_all(device: torch.device, dtype: torch.dtype, dropout: float) -> str | None:
    """Why no kernel accepts any request with that device, dtype and dropout; None if one may."""
    kernels = _DEVICES.get(device.type)
    if kernels is None:
        return f"no fused attention is known for {device.type}"
    return kernels.refusal_of_all(dtype, dropout)


def _one_size(request: Request) -> bool:
    query, key, value = request.sizes
    return query == key == value


def _unit_strides(request: Request) -> bool:
    """Whether the last dims of query, key and value have a stride of one."""
    tensors = (request.query, request.key, request.value)
    return all(one.stride[-1] == 1 or one.shape[-1] == 1 for one in tensors)


_CPU_DTYPES = frozenset((torch.float32, torch.float64, torch.bfloat16, torch.float16))


def _cpu_refusal(dtype: torch.dtype, dropout: float) -> str | None:
    if dtype not in _CPU_DTYPES:
        return f"the kernel on cpu does not take {dtype}"
    if not torch.backends.cuda.flash_sdp_enabled():
        return "flash attention is switched off"
    return "the kernel on cpu has no dropout" if dropout else None


def _cpu(request: Request) -> str | None:
    if request.mask_grad:
        return "the kernel on cpu gives no gradient of the mask"
    if not _one_size(request):
        return "the kernel on cpu needs heads of one size"
    if not _unit_strides(request):
        return "the kernel on cpu needs heads that lie side by side"
    return None


def _cuda_refusal(dtype: torch.dtype, dropout: float) -> str | None:
    if dtype is torch.float32 and torch.backends.cuda.matmul.fp32_precision != "tf32":
        return "the kernels on cuda compute float32 in tf32, which is switched off"
    if dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return f"the kernels on cuda do not take {dtype}"
    return None


def _cuda(request: Request) -> str | None:
    if not _unit_strides(request):
        return "the kernels on cuda need heads that lie side by side"
    flash, efficient = _flash(request), _efficient(request)
    return None if flash is None or efficient is None else f"{flash}, and {efficient}"


def _flash(request: Request) -> str | None:
    """Why flash attention on CUDA does not accept a request."""
    if not torch.backends.cuda.flash_sdp_enabled():
        return "flash attention is switched off"
    if request.dtype is torch.float32:
        return "flash attention takes half precision only"
    if _capability(request.device) < (8, 0):
        return "flash attention needs a newer device"
    if request.mask is not None:
        return "flash attention takes no mask"
    if not _one_size(request):
        return "flash attention needs heads of one size"
    size = request.sizes[0]
    if not isinstance(size, int) or size > 256:
        return f"flash attention takes no heads of size {size}"
    return None


def _efficient(request: Request) -> str | None:
    """Why memory-efficient attention on CUDA does not accept a request."""
    if not torch.backends.cuda.mem_efficient_sdp_enabled():
        return "memory-efficient attention is switched off"
    if request.grouped:
        return "memory-efficient attention knows no groups of heads"
    if request.dtype is torch.bfloat16 and _capability(request.device) < (8, 0):
        return "memory-efficient attention needs a newer device for bfloat16"
    aligned = 4 if request.dtype is torch.float32 else 8
    for size in (request.sizes[0], request.sizes[2]):
        if not isinstance(size, int) or size % aligned:
            return f"memory-efficient attention takes no heads of size {size}"
    if request.sizes[0] != request.sizes[1]:
        return "memory-efficient attention needs queries and keys of one size"
    return None


def _capability(device: torch.device) -> tuple[int, int]:
    if not torch.cuda.is_available():
        return (8, 0)  # fake tensors of a missing device
    return torch.cuda.get_device_capability(device)


class Kernels(NamedTuple):
    """The kernels of a device: why none accepts a dtype and dropout, and why none a request."""

    refusal_of_all: Callable[[torch.dtype, float], str | None]
    refusal: Callable[[Request], str | None]


_DEVICES = {"cpu": Kernels(_cpu_refusal, _cpu), "cuda": Kernels(_cuda_refusal, _cuda)}

__all__ = ["Kernels", "Request", "refusal", "refusal_of_all"]
