"""`stack_to_unsqueeze_pass`: a stack becomes a cat of unsqueezed tensors."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor


class StackToUnsqueezePass(Rewrite):
    """`stack([x, y])` becomes `cat([x.unsqueeze(0), y.unsqueeze(0)])`; other passes want cats."""

    stage = "pre_grad"
    inductor = "pre_grad.py:stack_to_unsqueeze_pass"
    numerics = EXACT

    def pattern(self, xs: list[Tensor], dim: int) -> Any:
        return aten.stack(xs, dim)

    def replacement(self, xs: list[Tensor], dim: int) -> Any:
        return aten.cat([aten.unsqueeze(x, dim) for x in xs], dim)


__all__ = ["StackToUnsqueezePass"]
