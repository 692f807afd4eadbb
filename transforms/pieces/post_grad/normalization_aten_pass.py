"""`normalization_aten_pass`: one spelling for split and cat.

Our own passes read any spelling; this serves the passes of a user, or of Inductor, behind it.
"""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, no


class NormalizationAtenPass(Rewrite):
    """A split by one size becomes a split by all sizes; the last piece may be smaller."""

    name = "normalization_aten_pass"
    stage = "post_grad"
    inductor = "split_cat.py:normalize_split_default_aten"
    numerics = EXACT
    counter = "normalization_aten_pass"

    def pattern(self, x: Tensor, size: int, dim: int) -> Any:
        return aten.split.Tensor(x, size, dim)

    def where(self, x: Tensor, size: int, dim: int) -> Any:
        if not (x.shape[dim].is_static and getattr(size, "is_static", True)):
            return no("the number of pieces is not that of all sizes")
        return True

    def replacement(self, x: Tensor, size: int, dim: int) -> Any:
        whole, size = int(x.shape[dim]), int(size)
        sizes = [min(size, whole - start) for start in range(0, whole, size)] if whole else [0]
        return aten.split_with_sizes(x, sizes, dim % x.ndim)


class NormalizeSplitWithSizes(Rewrite):
    """A split by sizes gets its dim counted from the front."""

    name = "normalization_aten_pass"
    stage = "post_grad"
    inductor = "split_cat.py:normalize_split_with_size_default_aten"
    numerics = EXACT
    counter = "normalization_aten_pass"

    def pattern(self, x: Tensor, sizes: list[int], dim: int) -> Any:
        return aten.split_with_sizes(x, sizes, dim)

    def where(self, dim: int) -> Any:
        return dim < 0

    def replacement(self, x: Tensor, sizes: list[int], dim: int) -> Any:
        return aten.split_with_sizes(x, sizes, dim % x.ndim)


class NormalizeCat(Rewrite):
    """A cat gets its dim counted from the front."""

    name = "normalization_aten_pass"
    stage = "post_grad"
    inductor = "split_cat.py:normalize_cat_default_aten"
    numerics = EXACT
    counter = "normalization_aten_pass"

    def pattern(self, xs: list[Tensor], dim: int) -> Any:
        return aten.cat(xs, dim)

    def where(self, dim: int) -> Any:
        return dim < 0

    def replacement(self, xs: list[Tensor], dim: int) -> Any:
        return aten.cat(xs, dim % max(x.ndim for x in xs))


NORMALIZATION = (NormalizationAtenPass, NormalizeSplitWithSizes, NormalizeCat)

__all__ = ["NORMALIZATION", "NormalizationAtenPass", "NormalizeCat", "NormalizeSplitWithSizes"]
