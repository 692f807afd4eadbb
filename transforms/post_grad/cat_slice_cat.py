"""`cat_slice_cat`: merges a cat with a later cat that repeats its beginning."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import Rewrite, Tensor, all_of, no


class CatSliceCat(Rewrite):
    """`c = cat(xs); cat([c, slice(c, start, end)])` becomes `cat([*xs, slice(xs[0], start, end)])`.

    All of this is along one dim, and the slice must lie within `xs[0]`.
    """

    stage = "post_grad"
    inductor = "post_grad.py:cat_slice_cat"

    def pattern(
        self, xs: list[Tensor], dim: int, sliced: int, along: int, start: int, end: int
    ) -> Any:
        first = aten.cat(xs, dim)
        return aten.cat([first, aten.slice(first, sliced, start, end)], along)

    def where(
        self, xs: list[Tensor], dim: int, sliced: int, along: int, start: int, end: int
    ) -> Any:
        first, *others = xs
        if not all(x.same_dtype(first) for x in others):
            return no("cat promotes the dtypes")
        if any(x.ndim != first.ndim for x in others):
            return no("cat passes over vectors without elements")
        if not dim % first.ndim == sliced % first.ndim == along % first.ndim:
            return no("put together and sliced along several dims")
        size = first.shape[dim]
        return all_of(start >= 0, end >= 0, start <= size, end <= size)

    def replacement(self, xs: list[Tensor], dim: int, start: int, end: int) -> Any:
        return aten.cat([*xs, aten.slice(xs[0], dim, start, end)], dim)


__all__ = ["CatSliceCat"]
