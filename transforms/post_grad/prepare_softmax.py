"""`prepare_softmax`: maximum and sum of a softmax in one sweep over its rows."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten, prims
from xductor.transforms import REASSOCIATES, Rewrite, Tensor, no


class PrepareSoftmax(Rewrite):
    """amax, and the sum of the exp of what is less by it, by one operator.

    What lies between both is made from its maximum, and stays only where it is read.
    """

    stage = "post_grad"
    inductor = "post_grad.py:prepare_softmax_pattern"
    devices = ("cuda", "xpu")
    numerics = REASSOCIATES

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
        maximum, total = prims.prepare_softmax_online(x, dim)
        shifted = aten.sub(x, maximum)
        return maximum, total, shifted, aten.exp(shifted)


__all__ = ["PrepareSoftmax"]
