"""The parts of an attention that a fused call needs, however it was spelled."""

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
    """A product is not attention, or attention cannot be fused; the message says why.

    - `near`: there was a softmax, so the user may want to know the reason.
    - `at`: the op that stands in the way, if it is one op; `remedy`: with what it would be fused.
    """

    def __init__(
        self, reason: str, near: bool = False, at: TorchOp | None = None, remedy: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.near = near
        self.at = at
        self.remedy = remedy


@dataclass(frozen=True)
class Place:
    """A place in the chain of ops on the scores.

    - `axes`: the axis of the scores at this place for each part of `[batch..., rows, columns]`.
    - `shape`: the sizes at this place, in the order of the parts.
    """

    axes: tuple[int, ...]
    shape: tuple[Dim, ...]

    @property
    def batch(self) -> tuple[Dim, ...]:
        return self.shape[:-2]


@dataclass(frozen=True)
class Added:
    """A mask that is added to the scores, or subtracted; `path` has the later steps."""

    value: SSAValue
    place: Place
    path: Path

    @property
    def factor(self) -> float:
        """The product of all factors along the path."""
        return factor_of(self.path)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the sum."""
        return self.path[0].dtype


@dataclass(frozen=True)
class Kept:
    """A mask that keeps scores where a boolean tensor equals `when`; others become `fill`."""

    value: SSAValue
    place: Place
    when: bool
    fill: float


@dataclass(frozen=True)
class Factor:
    """A run-time number, or one per batch entry, by which scores are multiplied or divided."""

    value: Any
    place: Place
    divides: bool


Mask = Added | Kept


@dataclass
class Attention:
    """`softmax(query @ key^T * scale * factors + masks) @ value`, with dropout of probabilities.

    - `query`, `key`, `value`: views in the order `[batch..., length, size]`.
    - `inner`: the place of the scores at the first product.
    - `outer`: the place of the probabilities at the last product.
    - `order`: axis `i` of the result is axis `order[i]` of `[batch..., rows, size]`.
    - `scores`: the dtype of the first product.
    - `draw`: the dropout op, if there is one.
    - `safe`: a row without columns gives zeros, not NaN.
    - `ops`: all the ops that the fused call replaces.
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
        """The results of the ops, except the final one."""
        return [result for op in self.ops if op is not self.root for result in op.results]


__all__ = ["Added", "Attention", "Factor", "Kept", "Mask", "NotAttention", "Place"]
