"""`bmm_to_mm`: a batch of one matrix product is one matrix product."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import REASSOCIATES, Rewrite, Tensor, all_of, no


class BmmToMm(Rewrite):
    """A bmm whose batch is one is an mm. Its kernel may add up in another order.

    Not of complex numbers, where each kernel has its own way with infinities.
    """

    stage = "joint"
    inductor = "joint_graph.py:bmm_to_mm"
    numerics = REASSOCIATES
    devices = ("cuda", "xpu", "mps", "mtia")

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.bmm(a, b)

    def where(self, a: Tensor, b: Tensor) -> Any:
        if a.dtype.is_complex:
            return no("kernels of complex products differ in what infinities become")
        return all_of(a.shape[0] == 1, b.shape[0] == 1)

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.unsqueeze(aten.mm(aten.squeeze(a, 0), aten.squeeze(b, 0)), 0)


__all__ = ["BmmToMm"]
