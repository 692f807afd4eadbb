"""Slices, lists, indices: off by one, in the wrong order, along another dim."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Tensor

a = torch.ops.aten
SQUARE = randn(4, 4)
INDEX = torch.tensor([2, 0, 1, 3])


@wrong("wrong order of cat", "values", lambda x, y: a.cat([x, y], 1), SQUARE, SQUARE.clone())
class CatReversed(Joint):
    def pattern(self, x: Tensor, y: Tensor, dim: int):
        return aten.cat([x, y], dim)

    def replacement(self, x: Tensor, y: Tensor, dim: int):
        return aten.cat([y, x], dim)


@wrong("off-by-one slice", "contract", lambda x: a.slice(x, 0, 1, 3), SQUARE, says="not at 4")
class SliceOneLater(Joint):
    def pattern(self, x: Tensor):
        return aten.slice(x, 0, 1, 3)

    def replacement(self, x: Tensor):
        return aten.slice(x, 0, 2, 4)


@wrong("off-by-one slice", "values", lambda x: a.clone(a.slice(x, 0, 1, 3)), SQUARE)
class CopiedSliceOneLater(Joint):
    def pattern(self, x: Tensor):
        return aten.clone(aten.slice(x, 0, 1, 3))

    def replacement(self, x: Tensor):
        return aten.clone(aten.slice(x, 0, 2, 4))


@wrong("off-by-one slice", "contract", lambda x: a.relu(a.slice(x, 0, 1, 3)), SQUARE, says="sizes")
class SliceOneLonger(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(aten.slice(x, 0, 1, 3))

    def replacement(self, x: Tensor):
        return aten.relu(aten.slice(x, 0, 1, 4))


@wrong(
    "slice of a slice", "values", lambda x: a.relu(a.slice(a.slice(x, 0, 1, 4), 0, 1, 3)), SQUARE
)
class InnerStartForgotten(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(aten.slice(aten.slice(x, 0, 1, 4), 0, 1, 3))

    def replacement(self, x: Tensor):
        return aten.relu(aten.slice(x, 0, 1, 3))


@wrong("off-by-one pad", "values", lambda x: a.constant_pad_nd(x, [1, 1]), SQUARE)
class PadOnOneSide(Joint):
    def pattern(self, x: Tensor):
        return aten.constant_pad_nd(x, [1, 1])

    def replacement(self, x: Tensor):
        return aten.constant_pad_nd(x, [2, 0])


@wrong(
    "index along another dim", "values", lambda x, i: a.gather(x, 1, i), SQUARE, INDEX.repeat(4, 1)
)
class GatherAlongOtherDim(Joint):
    def pattern(self, x: Tensor, i: Tensor):
        return aten.gather(x, 1, i)

    def replacement(self, x: Tensor, i: Tensor):
        return aten.gather(x, 0, i)


@wrong(
    "order of indices",
    "values",
    lambda x, i, j: a.index_select(a.index_select(x, 0, i), 0, j),
    SQUARE,
    INDEX,
    torch.tensor([3, 3, 0, 1]),
)
class IndicesExchanged(Joint):
    def pattern(self, x: Tensor, i: Tensor, j: Tensor):
        return aten.index_select(aten.index_select(x, 0, i), 0, j)

    def replacement(self, x: Tensor, i: Tensor, j: Tensor):
        return aten.index_select(aten.index_select(x, 0, j), 0, i)


@wrong(
    "scatter that adds",
    "values",
    lambda x, i, y: a.scatter(x, 0, i, y),
    SQUARE,
    INDEX.repeat(4, 1).t().contiguous(),
    SQUARE.clone(),
)
class ScatterAdds(Joint):
    def pattern(self, x: Tensor, i: Tensor, y: Tensor):
        return aten.scatter(x, 0, i, y)

    def replacement(self, x: Tensor, i: Tensor, y: Tensor):
        return aten.scatter_add(x, 0, i, y)


@wrong("wrong direction", "values", lambda x: a.roll(x, [1], [0]), SQUARE)
class RollBackwards(Joint):
    def pattern(self, x: Tensor):
        return aten.roll(x, [1], [0])

    def replacement(self, x: Tensor):
        return aten.roll(x, [-1], [0])


@wrong("off-by-one diagonal", "values", lambda x: a.tril(x, 0), SQUARE)
class DiagonalOneLower(Joint):
    def pattern(self, x: Tensor):
        return aten.tril(x, 0)

    def replacement(self, x: Tensor):
        return aten.tril(x, -1)


@wrong("repeat or interleave", "values", lambda x: a.repeat(x, [2]), randn(4))
class RepeatInterleaved(Joint):
    def pattern(self, x: Tensor):
        return aten.repeat(x, [2])

    def replacement(self, x: Tensor):
        return aten.repeat_interleave(x, 2)


@wrong(
    "outputs exchanged",
    "values",
    lambda x, y: (a.relu(a.add(x, y)), a.neg(a.add(x, y))),
    SQUARE,
    SQUARE.clone(),
)
class OutputsExchanged(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.relu(aten.add(x, y)), aten.neg(aten.add(x, y))

    def replacement(self, x: Tensor, y: Tensor):
        both = aten.add(x, y)
        return aten.neg(both), aten.relu(both)
