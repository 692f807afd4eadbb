"""Deliberately wrong rewrites of lists: lengths, sizes, ranks, dtypes, empty vectors, dims."""

from __future__ import annotations

from typing import Any

import torch

from xductor import Rewrite, Scalar, Tensor, all_of
from xductor.ir import aten
from xductor.transforms import no


class Joint(Rewrite, abstract=True):
    stage = "joint"


def _at_seams(xs: list[Tensor], sizes: list[int], dim: int) -> Any:
    """Whether tensors of one rank are as long along a dim as the sizes say."""
    if len(sizes) != len(xs) or any(x.ndim <= dim for x in xs) or dim < 0:
        return no("not split at the seams")
    return all_of(*[x.shape[dim] == size for x, size in zip(xs, sizes, strict=True)])


class FirstOfSeams(Joint):
    """Forgets that a cat promotes: the piece may have another dtype."""

    def pattern(self, xs: list[Tensor], sizes: list[int], dim: int) -> Any:
        return aten.split_with_sizes(aten.cat(xs, dim), sizes, dim)[0]

    def where(self, xs: list[Tensor], sizes: list[int], dim: int) -> Any:
        return _at_seams(xs, sizes, dim)

    def replacement(self, xs: list[Tensor]) -> Any:
        return xs[0]


class SecondIsLast(Joint):
    """Takes the last for the second; dtypes are right."""

    def pattern(self, xs: list[Tensor], sizes: list[int]) -> Any:
        return aten.split_with_sizes(aten.cat(xs, 0), sizes, 0)[1]

    def where(self, xs: list[Tensor], sizes: list[int]) -> Any:
        if len(xs) < 2 or any(x.dtype != xs[0].dtype or x.ndim != xs[0].ndim for x in xs):
            return no("not alike")
        return _at_seams(xs, sizes, 0)

    def replacement(self, xs: list[Tensor]) -> Any:
        return aten.clone(xs[-1])


class EmptyVectorDropped(Joint):
    """An empty vector adds no elements, but its dtype counts."""

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.cat([x, y], 0)

    def where(self, x: Tensor, y: Tensor) -> Any:
        return all_of(y.ndim == 1, x.ndim > 1, *[size == 0 for size in y.shape])

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x)


class EmptyOnesDropped(Joint):
    """The same of a list."""

    def pattern(self, xs: list[Tensor]) -> Any:
        return aten.cat(xs, 0)

    def where(self, xs: list[Tensor]) -> Any:
        if len(xs) < 2 or any(x.ndim == 0 for x in xs):
            return no("nothing to drop")
        return all_of(*[x.shape[0] == 0 for x in xs[1:]])

    def replacement(self, xs: list[Tensor]) -> Any:
        return aten.cat(xs[:1], 0)


class DimOfTheFirst(Joint):
    """Counts a dim of the result in the rank of the first tensor, which may be an empty vector."""

    def pattern(self, xs: list[Tensor], dim: int) -> Any:
        return aten.cat(xs, dim)

    def where(self, xs: list[Tensor], dim: int) -> Any:
        return dim >= 0

    def replacement(self, xs: list[Tensor], dim: int) -> Any:
        return aten.cat(xs, dim - xs[0].ndim)


class LongListCut(Joint):
    """Right of two tensors."""

    def pattern(self, xs: list[Tensor]) -> Any:
        return aten.cat(xs, 0)

    def where(self, xs: list[Tensor]) -> Any:
        return len(xs) > 1

    def replacement(self, xs: list[Tensor]) -> Any:
        return aten.cat([xs[0], xs[1]], 0)


class JoinedBackwards(Joint):
    def pattern(self, xs: list[Tensor], dim: int) -> Any:
        return aten.cat(xs, dim)

    def replacement(self, xs: list[Tensor], dim: int) -> Any:
        return aten.cat(xs[::-1], dim)


class FirstOfStack(Joint):
    """A stack promotes too."""

    def pattern(self, xs: list[Tensor]) -> Any:
        return aten.select(aten.stack(xs, 0), 0, 0)

    def replacement(self, xs: list[Tensor]) -> Any:
        return xs[0]


class JoinedAlongAnother(Joint):
    def pattern(self, x: Tensor, sizes: list[int]) -> Any:
        return aten.cat(aten.split_with_sizes(x, sizes, 0), 1)

    def where(self, x: Tensor) -> Any:
        return x.ndim > 1

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x)


class CumsumOfConstant(Joint):
    """Right of a shape without dims, which was once the only one that was tried."""

    def pattern(self, shape: list[int], v: int, dim: int, k: int) -> Any:
        full = aten.full(shape, v, dtype=torch.int64, layout=..., device=..., pin_memory=...)
        return aten.sub(aten.cumsum(full, dim), k)

    def replacement(self, shape: list[int], v: int, k: int) -> Any:
        return aten.sub(aten.full(shape, v, dtype=torch.int64), k)


class BareCumsumOfConstant(Joint):
    def pattern(self, shape: list[int], v: int, dim: int) -> Any:
        return aten.cumsum(aten.full(shape, v, dtype=torch.int64), dim)

    def replacement(self, shape: list[int], v: int) -> Any:
        return aten.full(shape, v, dtype=torch.int64)


class FirstSizeIsAll(Joint):
    """Right of a vector."""

    def pattern(self, shape: list[int]) -> Any:
        return aten.sum(aten.full(shape, 1, dtype=torch.int64))

    def where(self, shape: list[int]) -> Any:
        return len(shape) > 0

    def replacement(self, shape: list[int]) -> Any:
        return aten.full([], shape[0], dtype=torch.int64)


class ConstantNotExpanded(Joint):
    def pattern(self, shape: list[int], v: Scalar, size: list[int]) -> Any:
        return aten.expand(aten.full(shape, v, dtype=torch.float32), size)

    def where(self, shape: list[int], size: list[int]) -> Any:
        return len(shape) == len(size)

    def replacement(self, shape: list[int], v: Scalar) -> Any:
        return aten.full(shape, v, dtype=torch.float32)


class ConstantNotPermuted(Joint):
    """Right of one dim, and of dims of one size."""

    def pattern(self, shape: list[int], v: Scalar, dims: list[int]) -> Any:
        return aten.permute(aten.full(shape, v, dtype=torch.float32), dims)

    def replacement(self, shape: list[int], v: Scalar) -> Any:
        return aten.full(shape, v, dtype=torch.float32)


class ZerosOfTheDefaultDtype(Joint):
    def pattern(self, x: Tensor, shape: list[int]) -> Any:
        return aten.new_zeros(x, shape)

    def replacement(self, shape: list[int]) -> Any:
        return aten.zeros(shape)


class LastDimStays(Joint):
    """Right up to rank 2."""

    def pattern(self, x: Tensor, dims: list[int]) -> Any:
        return aten.permute(x, dims)

    def where(self, x: Tensor, dims: list[int]) -> Any:
        return len(dims) > 0 and dims[-1] == x.ndim - 1

    def replacement(self, x: Tensor) -> Any:
        return x


class DimsWithoutSign(Joint):
    """Right of dims that count from the front."""

    def pattern(self, x: Tensor, dims: list[int]) -> Any:
        return aten.permute(x, dims)

    def replacement(self, x: Tensor, dims: list[int]) -> Any:
        inner = [dim if dim >= 0 else -dim - 1 for dim in dims]
        return aten.permute(x, inner)


class MixedSigns(Joint):
    """Right where all dims count from one end."""

    def pattern(self, x: Tensor, dims: list[int]) -> Any:
        return aten.permute(x, dims)

    def where(self, x: Tensor, dims: list[int]) -> Any:
        return x.ndim == 2 and dims[0] < dims[1]

    def replacement(self, x: Tensor) -> Any:
        return x


class SummedOneByOne(Joint):
    """After the first sum the other dims have moved."""

    numerics = "reassociates"

    def pattern(self, x: Tensor, dims: list[int]) -> Any:
        return aten.sum(x, dims)

    def where(self, x: Tensor, dims: list[int]) -> Any:
        return len(dims) == 2 and min(dims) >= 0 and x.dtype == torch.int64

    def replacement(self, x: Tensor, dims: list[int]) -> Any:
        return aten.sum(aten.sum(x, [dims[0]]), [dims[1]])


class DimsInOrder(Joint):
    """Right where the dims are given in order."""

    def pattern(self, x: Tensor, dims: list[int]) -> Any:
        return aten.flip(x, dims)

    def where(self, x: Tensor, dims: list[int]) -> Any:
        return len(dims) == 2 and min(dims) >= 0 and x.ndim > 2

    def replacement(self, x: Tensor, dims: list[int]) -> Any:
        return aten.flip(x, list(range(dims[0], dims[1] + 1)))


class SecondDimIsLast(Joint):
    """Right of rank 2."""

    def pattern(self, x: Tensor) -> Any:
        return aten.flip(x, [-1])

    def where(self, x: Tensor) -> Any:
        return x.ndim >= 2

    def replacement(self, x: Tensor) -> Any:
        return aten.flip(x, [1])


class CopyIsItsSource(Joint):
    """Forgets the dtype of what is copied to."""

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.copy(x, y)

    def where(self, x: Tensor, y: Tensor) -> Any:
        if x.ndim != y.ndim:
            return no("broadcast")
        return all_of(True, *[a == b for a, b in zip(x.shape, y.shape, strict=True)])

    def replacement(self, y: Tensor) -> Any:
        return aten.clone(y)


class EmptySliceOfFloat(Joint):
    """No element is left, but its dtype."""

    def pattern(self, x: Tensor) -> Any:
        return aten.slice(x, 0, 0, 0)

    def where(self, x: Tensor) -> Any:
        return x.ndim == 1

    def replacement(self) -> Any:
        return aten.full([0], 0.0, dtype=torch.float32)


WRONG: tuple[type[Rewrite], ...] = tuple(
    [
        one
        for one in list(globals().values())
        if isinstance(one, type) and issubclass(one, Joint) and one is not Joint
    ]
)

__all__ = ["WRONG"]
