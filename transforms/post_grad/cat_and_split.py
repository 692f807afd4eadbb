"""`splitwithsizes_cat_replace` and `cat_splitwithsizes_replace`: a cat and a split cancel out."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import Rewrite, Tensor, all_of, no


class SplitwithsizesCatReplace(Rewrite):
    """`cat(split_with_sizes(x, sizes, dim), dim)` becomes `x`."""

    stage = "post_grad"
    inductor = "post_grad.py:splitwithsizes_cat_replace"

    def pattern(self, x: Tensor, sizes: list[int], dim: int, along: int) -> Any:
        return aten.cat(aten.split_with_sizes(x, sizes, dim), along)

    def where(self, x: Tensor, dim: int, along: int) -> Any:
        return dim % x.ndim == along % x.ndim or no("cut along another dim than put together")

    def replacement(self, x: Tensor) -> Any:
        return x


class CatSplitwithsizesReplace(Rewrite):
    """`split_with_sizes(cat(xs, dim), sizes, dim)` becomes `xs`, if those are the sizes of `xs`."""

    stage = "post_grad"
    inductor = "post_grad.py:cat_splitwithsizes_replace"

    def pattern(self, xs: list[Tensor], dim: int, sizes: list[int], along: int) -> Any:
        return aten.split_with_sizes(aten.cat(xs, dim), sizes, along)

    def where(self, xs: list[Tensor], dim: int, sizes: list[int], along: int) -> Any:
        first, *others = xs
        if len(xs) != len(sizes):
            return no(f"{len(xs)} tensors and {len(sizes)} pieces")
        if not all(x.same_dtype(first) for x in others):
            return no("cat promotes the dtypes")
        if any(x.ndim != first.ndim for x in others):
            return no("cat passes over vectors without elements")
        if dim % first.ndim != along % first.ndim:
            return no("cut along another dim than put together")
        return all_of(*[x.shape[dim] == size for x, size in zip(xs, sizes, strict=True)])

    def replacement(self, xs: list[Tensor]) -> Any:
        return xs


__all__ = ["CatSplitwithsizesReplace", "SplitwithsizesCatReplace"]
