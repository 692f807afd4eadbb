"""Writes and random draws that are crossed, dropped or added; values used before they exist."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Tensor

a = torch.ops.aten
X = randn(4, 4)


def _read_then_written(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    read = a.neg(x)
    a.mul_(x, 2)
    return a.add(read, y)


@wrong(
    "mutation crossed",
    "contract",
    _read_then_written,
    X,
    X.clone(),
    says="one writes to what the other reads",
)
class ReadMovedBelowWrite(Joint):
    def pattern(self, x: Tensor, y: Tensor):
        return aten.add(aten.neg(x), y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.sub(y, x)


@wrong("mutation dropped", "contract", lambda x: a.mul(a.add_(x, 1), 2), X, says="writes to memory")
class WriteDropped(Joint):
    def pattern(self, x: Tensor):
        return aten.add_(x, 1)

    def replacement(self, x: Tensor):
        return aten.add(x, 1)


@wrong("mutation added", "contract", lambda x: a.mul(a.neg(x), x), X, says="writes to memory")
class WriteAdded(Joint):
    def pattern(self, x: Tensor):
        return aten.neg(x)

    def replacement(self, x: Tensor):
        return aten.neg_(x)


def _two_draws(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first = a.rand_like(x)
    second = a.rand_like(x)
    return a.add(first, x), second


@wrong("randomness reordered", "contract", _two_draws, X, says="move across")
class DrawMovedBelowAnother(Joint):
    def pattern(self, y: Tensor, x: Tensor):
        return aten.add(aten.rand_like(y), x)

    def replacement(self, y: Tensor, x: Tensor):
        return aten.add(x, aten.rand_like(y))


@wrong(
    "randomness dropped",
    "contract",
    lambda x: (a.mul(a.rand_like(x), 0), a.rand_like(x)),
    X,
    says="would become 0",
)
class DrawDropped(Joint):
    def pattern(self, x: Tensor):
        return aten.mul(aten.rand_like(x), 0)

    def replacement(self, x: Tensor):
        return aten.zeros_like(x)


@wrong(
    "randomness drawn twice",
    "contract",
    lambda x: a.add(a.rand_like(x), 1),
    X,
    says="would become 2",
)
class DrawnTwice(Joint):
    def pattern(self, x: Tensor):
        return aten.add(aten.rand_like(x), 1)

    def replacement(self, x: Tensor):
        aten.rand_like(x)
        return aten.add(aten.rand_like(x), 1)


@wrong("randomness added", "contract", lambda x: a.relu(x), X, says="draws random numbers")
class DrawAdded(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(x)

    def replacement(self, x: Tensor):
        return aten.rand_like(x)


@wrong("other distribution", "contract", lambda x: a.rand_like(x), X, says="random")
class NormalForUniform(Joint):
    def pattern(self, x: Tensor):
        return aten.rand_like(x)

    def replacement(self, x: Tensor):
        return aten.randn_like(x)


def _second_needs_first(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first = a.mm(x, y)
    return a.relu(first), a.mm(x, a.neg(first))


@wrong(
    "use before definition",
    "contract",
    _second_needs_first,
    X,
    X.clone(),
    says="before all operands",
)
class MergedWithWhatItFeeds(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor, y: Tensor, z: Tensor):
        return aten.mm(x, y), aten.mm(x, z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor):
        return aten.mm(x, aten.add(y, aten.mul(z, 0))), aten.mm(x, z)
