"""`normalization_pass_aten`: one spelling for split, cat, stack and unbind before autograd."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor
from xductor.transforms.pieces.post_grad.normalization_aten_pass import (
    NormalizationAtenPass,
    NormalizeCat,
    NormalizeSplitWithSizes,
)


class NormalizationPassAten(NormalizationAtenPass):
    """A split by one size becomes a split by all sizes."""

    name = "normalization_pass_aten"
    stage = "pre_grad"
    inductor = "pre_grad.py:normalization_pass_aten"
    counter = None


class NormalizeSplitSizes(NormalizeSplitWithSizes):
    """A split by sizes gets its dim counted from the front."""

    name = "normalization_pass_aten"
    stage = "pre_grad"
    inductor = "pre_grad.py:normalization_pass_aten"
    counter = None


class NormalizeJoin(NormalizeCat):
    """A cat gets its dim counted from the front."""

    name = "normalization_pass_aten"
    stage = "pre_grad"
    inductor = "pre_grad.py:normalization_pass_aten"
    counter = None


class NormalizeStack(Rewrite):
    """A stack gets its dim counted from the front."""

    name = "normalization_pass_aten"
    stage = "pre_grad"
    inductor = "pre_grad.py:normalization_pass_aten"
    numerics = EXACT

    def pattern(self, xs: list[Tensor], dim: int) -> Any:
        return aten.stack(xs, dim)

    def where(self, dim: int) -> Any:
        return dim < 0

    def replacement(self, xs: list[Tensor], dim: int) -> Any:
        return aten.stack(xs, dim % (xs[0].ndim + 1))


class NormalizeUnbind(Rewrite):
    """An unbind gets its dim counted from the front."""

    name = "normalization_pass_aten"
    stage = "pre_grad"
    inductor = "pre_grad.py:normalization_pass_aten"
    numerics = EXACT

    def pattern(self, x: Tensor, dim: int) -> Any:
        return aten.unbind(x, dim)

    def where(self, dim: int) -> Any:
        return dim < 0

    def replacement(self, x: Tensor, dim: int) -> Any:
        return aten.unbind(x, dim % x.ndim)


NORMALIZATIONS = (
    NormalizationPassAten,
    NormalizeSplitSizes,
    NormalizeJoin,
    NormalizeStack,
    NormalizeUnbind,
)

__all__ = ["NORMALIZATIONS"]
