"""Attention, taken apart: what a fused call needs to know, however it was spelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import TorchOp
from xductor.ir.dialect.types import Dim
from xductor.transforms.attention.axes import View
from xductor.transforms.attention.rounding import Path, factor_of


class NotAttention(Exception):
    """A product that is not attention, or attention that may not be fused; the message says why.

    `near`: a softmax was there, so that somebody may want to know.
    """

    def __init__(self, reason: str, near: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.near = near


@dataclass(frozen=True)
class Place:
    """Where in the chain of scores something acts.

    - `axes`: the axis of the scores there that plays each part of `[batch..., rows, columns]`.
    - `shape`: the sizes there, in the order of the parts.
    """

    axes: tuple[int, ...]
    shape: tuple[Dim, ...]

    @property
    def batch(self) -> tuple[Dim, ...]:
        return self.shape[:-2]


@dataclass(frozen=True)
class Added:
    """A tensor that is added to the scores, or subtracted, and goes on with them along `path`."""

    value: SSAValue
    place: Place
    path: Path

    @property
    def factor(self) -> float:
        """What the tensor is multiplied by, all along."""
        return factor_of(self.path)

    @property
    def dtype(self) -> torch.dtype:
        """That of the sum."""
        return self.path[0].dtype


@dataclass(frozen=True)
class Kept:
    """Scores stay where a boolean tensor is `when`; elsewhere the softmax reads `fill`."""

    value: SSAValue
    place: Place
    when: bool
    fill: float


@dataclass(frozen=True)
class Factor:
    """A number that only the run knows, or one for each batch, by which scores are multiplied
    (or divided)."""

    value: Any
    place: Place
    divides: bool


Mask = Added | Kept


@dataclass
class Attention:
    """`softmax(query @ key^T * scale * factors + masks) @ value`, with dropout of probabilities.

    - `query`, `key`, `value`: views in the order `[batch..., length, size]`.
    - `inner`: the place of the scores as the first product makes them.
    - `outer`: the place of the probabilities as the last product takes them.
    - `order`: axis `i` of the result is axis `order[i]` of `[batch..., rows, size]`.
    - `scores`: the dtype of the first product.
    - `draw`: the op that drops out, if one does.
    - `safe`: a row without a column gives zeros, not NaN.
    - `ops`: all the ops that the fused call stands for.
    """

    root: TorchOp
    query: View
    key: View
    value: View
    scale: float
    factors: list[Factor]
    masks: list[Mask]
    inner: Place
    outer: Place
    order: tuple[int, ...]
    scores: torch.dtype
    dropout: float = 0.0
    draw: TorchOp | None = None
    safe: bool = False
    ops: list[TorchOp] = field(default_factory=list[TorchOp])

    @property
    def result(self) -> OpResult:
        return self.root.results[0]

    @property
    def interior(self) -> list[SSAValue]:
        """What the ops make, but for the result."""
        return [result for op in self.ops if op is not self.root for result in op.results]


__all__ = ["Added", "Attention", "Factor", "Kept", "Mask", "NotAttention", "Place"]
