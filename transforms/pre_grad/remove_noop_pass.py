"""`remove_noop_pass`: removes calls before autograd that return their argument unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, bind, no, one_of, shared
from xductor.transforms.matching.spellings import PERMUTE_OR_TRANSPOSE
from xductor.transforms.pieces.pre_grad.remove_split_with_size_one_pass import (
    RemoveChunkOfOne,
    RemoveSplitWithSizeOnePass,
    RemoveSplitWithSizesOfOne,
)


class _Noop(Rewrite, abstract=True):
    """Base of the rewrites here that return `x`."""

    stage = "pre_grad"
    numerics = EXACT
    keeps = "x"

    def replacement(self, x: Tensor) -> Any:
        return x


class NoopView(_Noop):
    """A view or reshape of `x` to its own sizes becomes `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, size: list[int], y: Tensor) -> Any:
        return bind(y, one_of(aten.reshape(x, size), aten.view.default(x, size)))

    def where(self, x: Tensor, size: list[int], y: Tensor) -> Any:
        return x.has_sizes(size) and x.same_layout(y)


#: Calls that are nothing if the type of what they give is that of their operand.
_LIKE_THEIR_OPERAND: tuple[Callable[[Any], Any], ...] = (
    aten.alias,
    lambda x: aten.view_as(x, ...),
    lambda x: aten.reshape_as(x, ...),
    lambda x: aten.expand(x, ..., implicit=...),
    lambda x: aten.expand_as(x, ...),
    lambda x: aten.narrow.default(x, ..., ..., ...),
    lambda x: aten.flatten.using_ints(x, ..., ...),
    lambda x: aten.unflatten.int(x, ..., ...),
    lambda x: aten.contiguous(x, memory_format=...),
    lambda x: aten.type_as(x, ...),
    lambda x: aten.to.other(x, ..., ...),
    lambda x: aten.to.device(x, ..., ..., ...),
    lambda x: aten.to.dtype_layout(x, dtype=..., device=..., non_blocking=...),
)


class NoopByType(_Noop):
    """A view of `x`, or `x` elsewhere or under another dtype, that is just as `x` is."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return bind(y, one_of(*[one(x) for one in _LIKE_THEIR_OPERAND]))

    def where(self, x: Tensor, y: Tensor) -> Any:
        if x.dtype != y.dtype or x.device != y.device:
            return no("it is of another dtype, or elsewhere")
        return x.same_shape(y) and x.same_layout(y)

    def instances(self) -> Iterator[dict[str, Any]]:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            for sizes in ((4, 6), (2, 3, 4), (5,), (0, 4)):
                yield {"x": torch.rand(sizes).to(dtype)}


class NoopSlice(_Noop):
    """A slice of `x` that covers the whole dim becomes `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, dim: int, end: Any) -> Any:
        return aten.slice.Tensor(x, dim, one_of(0, None), end, 1)

    def where(self, x: Tensor, dim: int, end: int | None) -> Any:
        return end is None or x.shape[dim] <= end or no("it ends before the dim does")


class NoopPermutePair(_Noop):
    """`permute(permute(x, first), second)` becomes `x`, if `second` undoes `first`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, first: list[int], second: list[int]) -> Any:
        return aten.permute(shared(aten.permute(x, first)), second)

    def where(self, x: Tensor, first: list[int], second: list[int]) -> Any:
        return [first[dim] % x.ndim for dim in second] == list(range(x.ndim))


class NoopTransposePair(_Noop):
    """`transpose(transpose(x, a, b), a, b)` becomes `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    through = (PERMUTE_OR_TRANSPOSE,)

    def pattern(self, x: Tensor, a: int, b: int, c: int, d: int) -> Any:
        return aten.transpose.int(shared(aten.transpose.int(x, a, b)), c, d)

    def where(self, x: Tensor, a: int, b: int, c: int, d: int) -> Any:
        if x.ndim == 0:
            return no("it has no dims")
        return {a % x.ndim, b % x.ndim} == {c % x.ndim, d % x.ndim}


class NoopUnsqueezeSqueeze(_Noop):
    """`squeeze(unsqueeze(x, a), b)` or `select(unsqueeze(x, a), b, 0)`, of the new dim, is `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, a: int, b: int) -> Any:
        wider = shared(aten.unsqueeze(x, a))
        return one_of(
            aten.squeeze.dim(wider, b),
            aten.squeeze.dims(wider, [b]),
            aten.select.int(wider, b, one_of(0, -1)),
        )

    def where(self, x: Tensor, a: int, b: int) -> Any:
        return a % (x.ndim + 1) == b % (x.ndim + 1) or no("it is another dim")


class NoopCat(_Noop):
    """`cat([x])` becomes `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, dim: int) -> Any:
        return aten.cat([x], dim)


class NoopTo(_Noop):
    """`x.to(dtype)` becomes `x`, if that is its dtype."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, dtype: torch.dtype) -> Any:
        return aten.to.dtype(x, dtype)

    def where(self, x: Tensor, dtype: torch.dtype) -> Any:
        return x.dtype == dtype or no("it is of another dtype")


class NoopDropout(_Noop):
    """`dropout(x, p, False)` becomes `x`.

    A dropout in training mode stays even for `p = 0`, because it draws random numbers.
    """

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"

    def pattern(self, x: Tensor, p: float) -> Any:
        return aten.dropout(x, p, False)

    def instances(self) -> Iterator[dict[str, Any]]:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            for p in (0.0, 0.5, 1.0):
                yield {"x": torch.rand(2, 3, dtype=dtype), "p": p}


class NoopSplit(RemoveSplitWithSizeOnePass):
    """A split of `x` whose size is at least that of the dim becomes `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"
    counter = None


class NoopSplitWithSizes(RemoveSplitWithSizesOfOne):
    """A split of `x` by a single size becomes `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"
    counter = None


class NoopChunk(RemoveChunkOfOne):
    """A chunk of `x` into one piece becomes `x`."""

    name = "remove_noop_pass"
    inductor = "pre_grad.py:remove_noop_pass"
    counter = None


NOOPS = (
    NoopView,
    NoopByType,
    NoopSlice,
    NoopPermutePair,
    NoopTransposePair,
    NoopUnsqueezeSqueeze,
    NoopCat,
    NoopTo,
    NoopDropout,
    NoopSplit,
    NoopSplitWithSizes,
    NoopChunk,
)

__all__ = ["NOOPS"]
