"""Whether a device has a fused kernel for an attention, asked before one is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from xductor.ir.types import Dim


@dataclass(frozen=True)
class Request:
    """What a fused call would be asked to compute.

    - `grad`: whether a gradient flows to query, key or value; `mask_grad`: to the mask.
    - `mask`: the mask's dtype, if there is one.
    """

    device: torch.device
    dtype: torch.dtype
    query: Sequence[Dim]
    key: Sequence[Dim]
    value: Sequence[Dim]
    mask: torch.dtype | None = None
    mask_grad: bool = False
    dropout: float = 0.0
    causal: bool = False
    grouped: bool = False
    grad: bool = False


def refusal(request: Request) -> str | None:
    """Why no fused kernel takes a request; None if one does."""
    answer = _DEVICES.get(request.device.type)
    if answer is None:
        return f"no fused attention is known for {request.device.type}"
    return answer(request)


_CPU_DTYPES = frozenset((torch.float32, torch.float64, torch.bfloat16, torch.float16))


def _cpu(request: Request) -> str | None:
    if request.dtype not in _CPU_DTYPES:
        return f"the kernel on cpu does not take {request.dtype}"
    if not torch.backends.cuda.flash_sdp_enabled():
        return "flash attention is switched off"
    if request.dropout:
        return "the kernel on cpu has no dropout"
    if request.mask_grad:
        return "the kernel on cpu gives no gradient of the mask"
    if request.query[-1] != request.value[-1] or request.query[-1] != request.key[-1]:
        return "the kernel on cpu needs heads of one size"
    return None


_DEVICES = {"cpu": _cpu}

__all__ = ["Request", "refusal"]
