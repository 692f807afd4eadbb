"""`remove_split_with_size_one_pass`: a split into one piece is the tensor itself."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, all_of


class _OnePiece(Rewrite, abstract=True):
    """Base of the rewrites here: a call that gives one piece, the whole tensor."""

    stage = "pre_grad"
    inductor = "split_cat.py:remove_split_with_size_one"
    numerics = EXACT
    counter = "remove_split_with_size_one_pass"

    def replacement(self, x: Tensor) -> Any:
        return [x]


class RemoveSplitWithSizeOnePass(_OnePiece):
    """A split into pieces of a size not less than that of the dim."""

    name = "remove_split_with_size_one_pass"

    def pattern(self, x: Tensor, size: int, dim: int) -> Any:
        return aten.split.Tensor(x, size, dim)

    def where(self, x: Tensor, size: int, dim: int) -> Any:
        return all_of(x.shape[dim] > 0, x.shape[dim] <= size)


class RemoveSplitWithSizesOfOne(_OnePiece):
    """A split by a list of one size."""

    name = "remove_split_with_size_one_pass"

    def pattern(self, x: Tensor, size: int, dim: int) -> Any:
        return aten.split_with_sizes(x, [size], dim)


class RemoveChunkOfOne(_OnePiece):
    """A chunk into one piece."""

    name = "remove_split_with_size_one_pass"

    def pattern(self, x: Tensor, dim: int) -> Any:
        return aten.chunk(x, 1, dim)


SPLITS_OF_ONE = (RemoveSplitWithSizeOnePass, RemoveSplitWithSizesOfOne, RemoveChunkOfOne)

__all__ = [
    "SPLITS_OF_ONE",
    "RemoveChunkOfOne",
    "RemoveSplitWithSizeOnePass",
    "RemoveSplitWithSizesOfOne",
]
