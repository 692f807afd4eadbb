"""`prepare_softmax`: computes the maximum and the sum of a softmax in one pass over its rows."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten, ops
from xductor.transforms import REASSOCIATES, ROUNDS_LESS_OFTEN, Rewrite, Tensor, no
from xductor.transforms.passes.numerics import Declared


class PrepareSoftmax(Rewrite):
    """`amax(x)` and `sum(exp(x - amax(x)))` become one `prims.prepare_softmax_online`.

    The values in between are recomputed from the new maximum, and stay only if something else reads
    them.
    """

    stage = "post_grad"
    inductor = "post_grad.py:prepare_softmax_pattern"
    devices = ("cuda", "xpu")
    numerics: ClassVar[Declared] = {
        **dict.fromkeys((torch.float32, torch.float64), REASSOCIATES),
        **dict.fromkeys((torch.float16, torch.bfloat16), ROUNDS_LESS_OFTEN),
    }

    def __init__(self, triton_devices: tuple[str, ...] = ("cuda", "xpu")) -> None:
        self.triton_devices = triton_devices

    def pattern(self, x: Tensor, dim: int) -> Any:
        maximum = aten.amax(x, [dim], True)
        shifted = aten.sub(x, maximum)
        powers = aten.exp(shifted)
        return maximum, aten.sum(powers, [dim], True), shifted, powers

    def pays(self, x: Tensor) -> Any:
        return x.device.type in self.triton_devices or no("the kernel is one of Triton's")

    def replacement(self, x: Tensor, dim: int) -> Any:
        maximum, total = ops.prims.prepare_softmax_online(x, dim)
        shifted = aten.sub(x, maximum)
        return maximum, total, shifted, aten.exp(shifted)


__all__ = ["PrepareSoftmax"]
