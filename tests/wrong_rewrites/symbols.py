"""Dynamic sizes: taken for their hints, for one another, for sizes that are not one."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Tensor

a = torch.ops.aten
X = randn(4, 3)


@wrong("dynamic dim specialised", "contract", lambda x: a.relu(x), X, dynamic=True, says="sizes")
class HintAsSize(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(x)

    def replacement(self, x: Tensor):
        return aten.relu(aten.as_strided(x, [4, 3], [3, 1]))


@wrong("dynamic dim specialised", "values", lambda x: a.mean(x, [0]), X, dynamic=True)
class HintAsCount(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor):
        return aten.mean(x, [0])

    def replacement(self, x: Tensor):
        return aten.mul(aten.sum(x, [0]), 0.25)


@wrong("wrong symbol", "values", lambda x: a.mean(x, [0]), X, dynamic=True)
class CountOfOtherDim(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor):
        return aten.mean(x, [0])

    def replacement(self, x: Tensor):
        return aten.div(aten.sum(x, [0]), x.shape[1])


@wrong("wrong symbol", "contract", lambda x: a.relu(a.t(x)), X, dynamic=True, says="sizes")
class SizesExchanged(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(aten.t(x))

    def replacement(self, x: Tensor):
        return aten.relu(aten.view(x, [x.shape[0], x.shape[1]]))


class _AnyBatch(Joint):
    def pattern(self, x: Tensor):
        return aten.sum(x, [0])

    def replacement(self, x: Tensor):
        return aten.select(x, 0, 0)


@wrong(
    "unknown taken for true",
    "match",
    lambda x: a.neg(a.sum(x, [0])),
    X,
    dynamic=True,
    loose=_AnyBatch,
)
class UnknownBatch(_AnyBatch):
    def where(self, x: Tensor):
        return x.shape[0] == 1


@wrong(
    "unknown taken for false",
    "match",
    lambda x: a.neg(a.sum(x, [0])),
    X,
    dynamic=True,
    loose=_AnyBatch,
)
class UnknownNegated(_AnyBatch):
    def where(self, x: Tensor):
        return not (x.shape[0] == 7)  # noqa: SIM201  what a user writes


@wrong("off by one at the end", "values", lambda x: a.relu(a.select(x, 0, -1)), X, dynamic=True)
class LastButOne(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(aten.select(x, 0, -1))

    def replacement(self, x: Tensor):
        return aten.relu(aten.select(x, 0, x.shape[0] - 2))
