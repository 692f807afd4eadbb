"""`pointless_permute_pair`: two permutes that undo each other."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, shared


class PointlessPermutePair(Rewrite):
    """`permute(permute(x, first), second)` becomes `x`, if `second` undoes `first`.

    Dims may be negative. The inner permute stays if something else uses it.
    """

    stage = "joint"
    inductor = "joint_graph.py:pointless_permute_pair"
    numerics = EXACT
    keeps = "x"

    def pattern(self, x: Tensor, first: list[int], second: list[int]) -> Any:
        return aten.permute(shared(aten.permute(x, first)), second)

    def where(self, x: Tensor, first: list[int], second: list[int]) -> Any:
        return [first[dim] % x.ndim for dim in second] == list(range(x.ndim))

    def replacement(self, x: Tensor) -> Any:
        return x


__all__ = ["PointlessPermutePair"]
