"""Attention, taken apart: what a fused call needs to know, however it was spelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from xdsl.ir import OpResult, SSAValue

from xductor.ir.operations import TorchOp
from xductor.ir.types import Dim
from xductor.transforms.attention.axes import View


class NotAttention(Exception):
    """A product that is not attention, or attention that may not be fused; the message says why.

    `near`: a softmax was there, so that somebody may want to know.
    """

    def __init__(self, reason: str, near: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.near = near


@dataclass(frozen=True)
class Mask:
    """One thing that masks the scores.

    - `added`: a tensor that is added to them, times `factor`.
    - `keep`: a boolean tensor; where it is `kept` the scores stay, elsewhere they are `fill`.

    `axes` is the order of the scores' axes, at the place where the mask acts, by their parts;
    `rank` is how many there are. The mask broadcasts to them.
    """

    kind: Literal["added", "keep"]
    value: Any
    axes: tuple[int, ...]
    batch: tuple[Dim, ...]
    factor: float = 1.0
    kept: bool = True
    fill: float = 0.0


@dataclass
class Attention:
    """`softmax(query @ key^T * scale + masks) @ value`, with dropout on the probabilities.

    - `query`, `key`, `value`: views in the order `[batch..., length, size]`.
    - `inner_batch`: the batch dims at the scores; `outer_batch`: those at the last product.
    - `order`: axis `i` of the result is axis `order[i]` of `[batch..., rows, size]`.
    - `ops`: all the ops that the fused call stands for; `interior`: the values they pass on.
    - `draw`: the op that drops out, if one does.
    """

    root: TorchOp
    query: View
    key: View
    value: View
    scale: float
    masks: list[Mask]
    inner_batch: tuple[Dim, ...]
    outer_batch: tuple[Dim, ...]
    order: tuple[int, ...]
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


__all__ = ["Attention", "Mask", "NotAttention"]
