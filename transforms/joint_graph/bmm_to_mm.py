"""`bmm_to_mm`: a bmm with a batch of one becomes an mm."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import REASSOCIATES, Rewrite, Tensor, all_of, no


class BmmToMm(Rewrite):
    """`bmm(a, b)` with a batch of one becomes `unsqueeze(mm(squeeze(a, 0), squeeze(b, 0)), 0)`.

    The kernel of mm may sum in another order. Complex dtypes are left alone, because kernels of
    complex products disagree on the results of infinities.
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
