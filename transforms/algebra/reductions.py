"""Sums and maxima that need not look at every element, and scans of which only the end is read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch

from xductor.ir import aten, prims
from xductor.transforms import (
    Rewrite,
    Tensor,
    all_of,
    maybe,
    no,
    one_of,
)
from xductor.transforms.algebra.numerics import FLOATS, OTHER_TERMS, SAME_TERMS

#: Functions that never fall, and are NaN for NaN alone.
_MONOTONE = (aten.exp, aten.sigmoid, aten.tanh)


class SumOfExpanded(Rewrite):
    """The sum over a dim that `expand` made is a product with its size.

    It is rounded once, not at each addition; but a sum may be luckier.
    """

    name = "sum_of_expanded"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, sizes: list[int], dim: int) -> Any:
        return aten.sum(aten.expand(x, sizes), [dim])

    def where(self, x: Tensor, sizes: list[int], dim: int) -> Any:
        if x.ndim == 0 or x.ndim != len(sizes):
            return no("the expanded dim is not one of the input")
        own = dim % x.ndim
        kept = [
            any_size == -1 or x.shape[k] == any_size for k, any_size in enumerate(sizes) if k != own
        ]
        if sizes[own] == -1:
            return no("another dim is expanded")
        return all_of(x.shape[own] == 1, sizes[own] >= 1, *kept)

    def replacement(self, x: Tensor, sizes: list[int], dim: int) -> Any:
        return aten.mul(aten.squeeze(x, dim), sizes[dim])


class SumOfRepeatedVector(Rewrite):
    """The column sums of a vector that is expanded to `n` rows are the vector times `n`."""

    name = "sum_of_expanded"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, rows: int, columns: int, dim: int) -> Any:
        return aten.sum(aten.expand(x, [rows, columns]), [dim])

    def where(self, x: Tensor, rows: int, columns: int, dim: int) -> Any:
        if x.ndim != 1 or dim % 2:
            return no("the rows are not what was expanded")
        return all_of(x.shape[0] == columns, rows >= 1)

    def replacement(self, x: Tensor, rows: int) -> Any:
        return aten.mul(x, rows)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Vectors with their own number of columns, which random ones rarely have."""
        for dtype, columns, rows, dim in product(FLOATS, (0, 1, 5), (1, 3), (0, -2)):
            x = torch.rand(columns, dtype=dtype) - 0.5
            yield {"x": x, "rows": rows, "columns": columns, "dim": dim}


class LastOfCumsum(Rewrite):
    """The last element of a running sum is the sum."""

    name = "last_of_cumsum"
    stage = "joint"
    numerics = SAME_TERMS

    def pattern(self, x: Tensor, dim: int, other: int) -> Any:
        return aten.select.int(aten.cumsum(x, dim), other, -1)

    def where(self, x: Tensor, dim: int, other: int) -> Any:
        if x.ndim == 0 or dim % x.ndim != other % x.ndim:
            return no("the element is not the last of the running sum")
        return x.shape[dim] >= 1

    def replacement(self, x: Tensor, dim: int) -> Any:
        return aten.sum(x, [dim])


class SumOfCumsum(Rewrite):
    """The sum of the running sums of `n` rows is that of the rows times `n`, `n - 1`, ... `1`."""

    name = "sum_of_cumsum"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, dim: int, summed: int) -> Any:
        return aten.sum(aten.cumsum(x, dim), [summed])

    def where(self, x: Tensor, dim: int, summed: int) -> Any:
        if x.ndim != 2:
            return no("the input is no matrix")
        return dim % 2 == summed % 2 == 0 or no("the rows are not what is summed")

    def replacement(self, x: Tensor) -> Any:
        n = x.shape[0]
        counts = prims.iota(
            n, start=n, step=-1, dtype=torch.int64, device=x.device, requires_grad=False
        )
        return aten.sum(aten.mul(x, aten.unsqueeze(counts, 1)), [0])

    def instances(self) -> Iterator[dict[str, Any]]:
        """Matrices, whose rows are summed."""
        sizes = ((3, 4), (1, 5), (4, 1), (2, 0), (6, 2))
        for dtype, size, summed in product(FLOATS, sizes, (0, -2)):
            yield {"x": torch.rand(size, dtype=dtype) - 0.5, "dim": 0, "summed": summed}


class MaxOfMonotone(Rewrite):
    """The maximum of `f(x)` is `f` of the maximum for an `f` that never falls."""

    name = "max_of_monotone"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, dims: list[int], keepdim: bool, which: int) -> Any:
        made = one_of(*[one(x) for one in _MONOTONE], as_=which)
        return aten.amax(made, dims, keepdim)

    def where(self, x: Tensor) -> Any:
        return x.dtype.is_floating_point or no("an integer becomes a float")

    def replacement(self, x: Tensor, dims: list[int], keepdim: bool, which: int) -> Any:
        return _MONOTONE[int(which)](aten.amax(x, dims, keepdim))


class SquaredDistances(Rewrite):
    """`((x[:, None] - y) ** 2).sum(-1)` is `|x|**2 + |y|**2 - 2 * x @ y.T`, and at least zero.

    Close points lose digits: their distance is the difference of larger numbers.
    """

    name = "distances_by_product"
    stage = "joint"
    numerics = OTHER_TERMS

    def pattern(self, x: Tensor, y: Tensor, dim: int) -> Any:
        apart = aten.sub(aten.unsqueeze(x, 1), maybe(aten.unsqueeze)(y, 0))
        return aten.sum(aten.pow(apart, 2), [dim])

    def where(self, x: Tensor, y: Tensor, dim: int) -> Any:
        if x.ndim != 2 or y.ndim != 2 or x.dtype != y.dtype or dim % 3 != 2:
            return no("these are no distances of the rows of two matrices")
        return all_of(x.shape[1] == y.shape[1], x.shape[1] >= 1)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        norms = aten.add(aten.sum(aten.mul(x, x), [1], True), aten.sum(aten.mul(y, y), [1]))
        product = aten.mm(x, aten.permute(y, [1, 0]))
        return aten.clamp_min(aten.add(norms, aten.mul(product, -2)), 0)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Matrices with rows of one length, which random ones rarely are."""
        sizes = ((3, 4, 2), (1, 5, 3), (4, 1, 1), (2, 0, 3), (5, 5, 4))
        for dtype, (rows, others, length), dim in product(FLOATS, sizes, (2, -1)):
            x, y = (torch.rand(n, length, dtype=dtype) for n in (rows, others))
            yield {"x": x, "y": y, "dim": dim}


SUM_OF_EXPANDED = (SumOfExpanded, SumOfRepeatedVector)

__all__ = [
    "SUM_OF_EXPANDED",
    "LastOfCumsum",
    "MaxOfMonotone",
    "SquaredDistances",
    "SumOfCumsum",
]
