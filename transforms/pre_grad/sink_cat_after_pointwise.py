"""`sink_cat_after_pointwise`: applies relu and tanh to the parts of a cat."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, all_of
from xductor.transforms.matching.patterns import one_of

_ACTIVATIONS = (aten.relu, aten.tanh)


class SinkCatAfterPointwise(Rewrite):
    """`f(cat(xs))` becomes `cat([f(x) for x in xs])`, where `f` is relu or tanh.

    One kernel can then compute the parts and write them to their places. The cat must not promote
    dtypes.
    """

    stage = "pre_grad"
    inductor = "pre_grad.py:sink_cat_after_pointwise"
    numerics = EXACT

    def pattern(self, xs: list[Tensor], dim: int, which: int) -> Any:
        joined = aten.cat(xs, dim)
        return one_of(*[one(joined) for one in _ACTIVATIONS], as_=which)

    def where(self, xs: list[Tensor]) -> Any:
        return of_one_dtype(xs)

    def replacement(self, xs: list[Tensor], dim: int, which: int) -> Any:
        return aten.cat([_ACTIVATIONS[int(which)](x) for x in xs], dim)


class SinkViewOfCatAfterPointwise(Rewrite):
    """`f(view(cat(xs), size))` becomes `view(cat([f(x) for x in xs]), size)`, for relu or tanh.

    The cat must not promote dtypes.
    """

    name = "sink_cat_after_pointwise"
    stage = "pre_grad"
    inductor = "pre_grad.py:sink_cat_after_pointwise"
    numerics = EXACT

    def pattern(self, xs: list[Tensor], dim: int, size: list[int], which: int) -> Any:
        joined = aten.view.default(aten.cat(xs, dim), size)
        return one_of(*[one(joined) for one in _ACTIVATIONS], as_=which)

    def where(self, xs: list[Tensor]) -> Any:
        return of_one_dtype(xs)

    def replacement(self, xs: list[Tensor], dim: int, size: list[int], which: int) -> Any:
        joined = aten.cat([_ACTIVATIONS[int(which)](x) for x in xs], dim)
        return aten.view.default(joined, size)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands that meet the conditions, which random ones rarely do."""
        dtypes = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
        for dtype, which in product(dtypes, (0, 1)):
            for rows, dim, size in (
                ((2, 3), 0, [20]),
                ((1, 1), 0, [2, 2, 2]),
                ((0, 2), 0, [8]),
                ((3,), 0, [4, 3]),
                ((2, 2), 1, [-1]),
                ((2, 2), -1, [4, 4]),
            ):
                xs = [torch.randn(count, 4, dtype=dtype) for count in rows]
                yield {"xs": xs, "dim": dim, "size": size, "which": which}


def of_one_dtype(xs: list[Tensor]) -> Any:
    """Whether all parts of a cat have one dtype, so that it promotes nothing."""
    return all_of(*[x.dtype == xs[0].dtype for x in xs])


SINKS = (SinkCatAfterPointwise, SinkViewOfCatAfterPointwise)

__all__ = ["SINKS", "SinkCatAfterPointwise", "SinkViewOfCatAfterPointwise"]
