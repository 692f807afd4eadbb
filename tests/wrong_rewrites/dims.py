"""Wrong dims, negative dims, broadcasting."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Tensor

a = torch.ops.aten
SQUARE, CUBE = randn(3, 3), randn(3, 3, 3)


@wrong("softmax over another dim", "values", lambda x: a._softmax(x, 1, False), SQUARE)
class SoftmaxOverRows(Joint):
    def pattern(self, x: Tensor, dim: int):
        return aten._softmax(x, dim, False)

    def replacement(self, x: Tensor, dim: int):
        return aten._softmax(x, 1 - dim, False)


@wrong("wrong dim", "values", lambda x: a.sum(x, [1]), SQUARE)
class SumOverRows(Joint):
    def pattern(self, x: Tensor):
        return aten.sum(x, [1])

    def replacement(self, x: Tensor):
        return aten.sum(x, [0])


@wrong("wrong dim", "contract", lambda x: a.sum(x, [1]), randn(3, 4), says="expected sizes")
class SumOverRowsOfOblong(Joint):
    def pattern(self, x: Tensor):
        return aten.sum(x, [1])

    def replacement(self, x: Tensor):
        return aten.sum(x, [0])


@wrong("negative dim slip", "values", lambda x: a.cumsum(x, -1), CUBE)
class LastDimTakenForSecond(Joint):
    def pattern(self, x: Tensor):
        return aten.cumsum(x, -1)

    def replacement(self, x: Tensor):
        return aten.cumsum(x, 1)


@wrong("negative dim slip", "contract", lambda x: a.unsqueeze(x, -1), randn(3), says="sizes")
class UnsqueezeOneEarlier(Joint):
    def pattern(self, x: Tensor):
        return aten.unsqueeze(x, -1)

    def replacement(self, x: Tensor):
        return aten.unsqueeze(x, -2)


@wrong("wrong dim", "values", lambda x, y: a.mm(a.t(x), y), SQUARE, randn(3, 3))
class TransposeForgotten(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.mm(aten.t(x), y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.mm(x, y)


@wrong(
    "wrong dim",
    "values",
    lambda x: a.clone(
        a.permute(a.permute(x, [1, 2, 0]), [1, 0, 2]), memory_format=torch.contiguous_format
    ),
    CUBE,
)
class PermutesComposedBackwards(Joint):
    def pattern(self, x: Tensor, p: list[int], q: list[int]):
        inner = aten.permute(aten.permute(x, p), q)
        return aten.clone(inner, memory_format=torch.contiguous_format)

    def replacement(self, x: Tensor, p: list[int], q: list[int]):
        inner = aten.permute(x, [q[place] for place in p])
        return aten.clone(inner, memory_format=torch.contiguous_format)


@wrong("wrong dim", "values", lambda x: a.flip(x, [1]), SQUARE)
class FlipOtherDim(Joint):
    def pattern(self, x: Tensor):
        return aten.flip(x, [1])

    def replacement(self, x: Tensor):
        return aten.flip(x, [0])


@wrong("keepdim dropped", "contract", lambda x: a.argmax(x, 1, True), SQUARE, says="sizes")
class KeepdimDropped(Joint):
    def pattern(self, x: Tensor, dim: int):
        return aten.argmax(x, dim, True)

    def replacement(self, x: Tensor, dim: int):
        return aten.argmax(x, dim, False)


@wrong("wrong count", "values", lambda x: a.mean(x, [1]), randn(2, 3))
class MeanByOtherSize(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor):
        return aten.mean(x, [1])

    def replacement(self, x: Tensor):
        return aten.div(aten.sum(x, [1]), x.shape[0])


@wrong(
    "view of a permuted value",
    "values",
    lambda x: a.view(a.clone(a.permute(x, [1, 0]), memory_format=torch.contiguous_format), [6]),
    randn(2, 3),
)
class ViewThroughPermute(Joint):
    def pattern(self, x: Tensor, size: list[int]):
        inner = aten.clone(aten.permute(x, [1, 0]), memory_format=torch.contiguous_format)
        return aten.view(inner, size)

    def replacement(self, x: Tensor, size: list[int]):
        return aten.view(aten.clone(x), size)


@wrong(
    "rank lost", "contract", lambda x, y: a.bmm(x, y), randn(1, 2, 3), randn(1, 3, 4), says="sizes"
)
class BmmWithoutItsBatch(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.bmm(x, y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.mm(aten.squeeze(x, 0), aten.squeeze(y, 0))


@wrong(
    "broadcasting slip",
    "contract",
    lambda x, y: a.mul(a.expand(x, [3, 4]), y),
    randn(4),
    randn(4),
    says="sizes",
)
class ExpandDropped(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.mul(aten.expand(x, ...), y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.mul(x, y)


@wrong("broadcasting slip", "values", lambda x, b: a.add(x, a.unsqueeze(b, 0)), SQUARE, randn(3))
class BiasAlongOtherDim(Joint):
    def pattern(self, x: Tensor, b: Tensor):
        return aten.add(x, aten.unsqueeze(b, 0))

    def replacement(self, x: Tensor, b: Tensor):
        return aten.add(x, aten.unsqueeze(b, 1))


@wrong("broadcasting slip", "values", lambda x: a.sub(x, a.amax(x, [1], True)), SQUARE)
class MaximumAlongOtherDim(Joint):
    def pattern(self, x: Tensor):
        return aten.sub(x, aten.amax(x, [1], True))

    def replacement(self, x: Tensor):
        return aten.sub(x, aten.amax(x, [1]))
