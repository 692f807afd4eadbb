"""Strides that a user sees, storage that is shared and should not be, or the other way round."""

from __future__ import annotations

import torch
from torch import randn

from tests.wrong_rewrites.case import Joint, wrong
from xductor.ir import aten
from xductor.transforms import Tensor, bind, shared

a = torch.ops.aten
X = randn(3, 4)
CONTIGUOUS = torch.contiguous_format


@wrong(
    "stride changed at an output",
    "contract",
    lambda x: a.clone(a.permute(a.relu(x), [1, 0]), memory_format=CONTIGUOUS),
    X,
    says="strides change",
)
class CopyDropped(Joint):
    def pattern(self, x: Tensor):
        return aten.clone(aten.permute(x, [1, 0]), memory_format=CONTIGUOUS)

    def replacement(self, x: Tensor):
        return aten.permute(x, [1, 0])


@wrong(
    "stride changed at an output",
    "contract",
    lambda x: a.relu(a.clone(a.permute(x, [1, 0]), memory_format=CONTIGUOUS)),
    X,
    says="strides change",
)
class OutputLaidOutOtherwise(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(aten.clone(aten.permute(x, [1, 0]), memory_format=CONTIGUOUS))

    def replacement(self, x: Tensor):
        return aten.relu(aten.permute(x, [1, 0]))


@wrong(
    "stride changed under as_strided",
    "contract",
    lambda x: a.clone(
        a.as_strided(a.clone(a.permute(x, [1, 0]), memory_format=CONTIGUOUS), [4], [1])
    ),
    X,
    says="needs the strides",
)
class LayoutReadByAsStrided(Joint):
    def pattern(self, x: Tensor):
        return aten.clone(aten.permute(x, [1, 0]), memory_format=CONTIGUOUS)

    def replacement(self, x: Tensor):
        return aten.permute(aten.clone(x), [1, 0])


@wrong("alias to an input", "contract", lambda x: a.clone(x), X, says="share storage with an input")
class CopyOfInputDropped(Joint):
    def pattern(self, x: Tensor):
        return aten.clone(x)

    def replacement(self, x: Tensor):
        return x


@wrong(
    "alias to an input", "contract", lambda x: a.mul(x, 1), X, says="share storage with an input"
)
class TimesOneDropped(Joint):
    def pattern(self, x: Tensor):
        return aten.mul(x, 1)

    def replacement(self, x: Tensor):
        return x


def _value_and_copy(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    value = a.relu(x)
    return value, a.clone(value)


@wrong("alias between outputs", "contract", _value_and_copy, X, says="share storage")
class CopyOfOutputDropped(Joint):
    def pattern(self, x: Tensor, value: Tensor):
        return aten.clone(bind(value, shared(aten.relu(x))))

    def replacement(self, value: Tensor):
        return value


@wrong(
    "alias between outputs",
    "contract",
    lambda x, y, z: (a.mm(x, y), a.mm(x, z)),
    X,
    randn(4, 4),
    randn(4, 4),
    says="strides change",
)
class OutputsOfOneBuffer(Joint):
    numerics = "reassociates"

    def pattern(self, x: Tensor, y: Tensor, z: Tensor):
        return aten.mm(x, y), aten.mm(x, z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor):
        return aten.split(aten.mm(x, aten.cat([y, z], 1)), 4, 1)


@wrong(
    "alias between outputs",
    "contract",
    lambda x: (a.relu(x), a.clamp_min(x, 0)),
    X,
    says="two outputs would come to share storage",
)
class OneValueForTwoOutputs(Joint):
    def pattern(self, x: Tensor):
        return aten.relu(x), aten.clamp_min(x, 0)

    def replacement(self, x: Tensor):
        value = aten.relu(x)
        return value, value


@wrong("alias to an input lost", "contract", lambda x: a.view(x, [12]), X, says="no longer share")
class ViewOfInputCopied(Joint):
    def pattern(self, x: Tensor, size: list[int]):
        return aten.view(x, size)

    def replacement(self, x: Tensor, size: list[int]):
        return aten.clone(aten.view(x, size))


def _written_copy(x: torch.Tensor) -> torch.Tensor:
    copy = a.clone(x)
    a.add_(copy, 1)
    return a.mul(x, 2)


@wrong("alias to what is written", "contract", _written_copy, X, says="written")
class CopyBeforeWriteDropped(Joint):
    def pattern(self, x: Tensor):
        return aten.clone(x)

    def replacement(self, x: Tensor):
        return x


@wrong(
    "view that is not one",
    "contract",
    lambda x: a.view(a.clone(a.permute(x, [1, 0]), memory_format=CONTIGUOUS), [12]),
    X,
    says="cannot",
)
class CopyBeforeViewDropped(Joint):
    def pattern(self, x: Tensor):
        return aten.clone(aten.permute(x, [1, 0]), memory_format=CONTIGUOUS)

    def replacement(self, x: Tensor):
        return aten.permute(x, [1, 0])
