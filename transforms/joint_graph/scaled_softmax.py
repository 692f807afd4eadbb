"""`mul_softmax_pattern`, `div_softmax_pattern`: subtract the maximum before scaling, not after.

A softmax of a scaled input subtracts the maximum. Generated code may compute the scaled input
twice, once with a fused multiply-add, and then the difference is not zero where it should be. So
the maximum is subtracted first, in rows that are finite; other rows keep the original difference,
for the sake of its NaN and infinities.

The difference of unscaled numbers can overflow where that of scaled ones does not. The results can
therefore differ from those of eager mode, so this runs under `fast` only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from xductor.ir import aten, prims
from xductor.transforms import (
    APPROXIMATE,
    Rewrite,
    Scalar,
    Tensor,
    all_of,
    bind,
    no,
    one_of,
    shared,
)
from xductor.transforms.rewriting.handles import Dim

Op = Callable[..., Any]


def _difference(scaled: Any, dim: Any) -> Any:
    return aten.sub(scaled, aten.amax(scaled, dim, True))


def _may_scale_later(inp: Tensor, other: Any, dim: list[int], dtype: torch.dtype) -> Any:
    """Whether all dtypes are floating, and the scale is constant along the dims of the maximum."""
    if not inp.is_floating_point or not dtype.is_floating_point:
        return no("integers wrap around")
    if isinstance(other, Dim):
        return no("the sign of the scale is not known")
    if not isinstance(other, Tensor):
        return not isinstance(other, bool | complex)
    if other.ndim > inp.ndim:
        return no("the scale has more dims than what is scaled")
    if not other.is_floating_point or torch.promote_types(dtype, other.dtype) != dtype:
        return no("the scale has another dtype")
    missing = inp.ndim - other.ndim
    dims = [place % inp.ndim for place in dim] if inp.ndim else []
    along = [place - missing for place in dims or range(inp.ndim) if place >= missing]
    return all_of(True, *[other.shape[place] == 1 for place in along])


def _scaled_later(scale: Op, inp: Any, other: Any, scaled: Any, dim: list[int]) -> Any:
    sign = _sign(other, inp.dtype, inp.device)
    turned = aten.mul.Tensor(inp, sign)
    below = aten.sub(turned, aten.amax(turned, dim, True))
    factor = sign * other if not isinstance(other, Tensor) else aten.mul.Tensor(sign, other)
    dims = list(dim) or list(range(inp.ndim))
    return aten.where(_all_finite(scaled, dims), scale(below, factor), _difference(scaled, dim))


def _sign(other: Any, dtype: torch.dtype, device: torch.device) -> Any:
    if not isinstance(other, Tensor):
        return 1 if other >= 0 else -1
    one: Any = aten.scalar_tensor(1, dtype=dtype, device=device, pin_memory=False)
    return aten.where(aten.ge.Scalar(other, 0), one, aten.neg(one))


def _all_finite(x: Any, dims: list[int]) -> Any:
    finite = aten.mul.Tensor(aten.eq.Tensor(x, x), aten.ne.Scalar(aten.abs(x), math.inf))
    return aten.logical_not(aten.any(aten.logical_not(finite), dims, True))


class _ScaledSoftmax(Rewrite, abstract=True):
    """Base of the rewrites here: in `s - amax(s)`, the scale of `s` moves behind the subtraction.

    If `s` is the cast of a scaled input, the replacement casts the input instead, so that the
    scaled value is not rounded.
    """

    stage = "joint"
    numerics = APPROXIMATE
    once = True  # where a row is not finite, what was matched stays
    scale: ClassVar[Op]

    def pattern(
        self,
        inp: Tensor,
        other: Tensor,
        number: Scalar,
        dim: list[int],
        dtype: torch.dtype,
        scaled: Tensor,
    ) -> Any:
        product = shared(type(self).scale(inp, one_of(other, number)))
        cast = shared(prims.convert_element_type(product, dtype))
        return _difference(bind(scaled, one_of(cast, product)), dim)

    def where(
        self,
        inp: Tensor,
        other: Tensor | None,
        number: Any,
        dim: list[int],
        dtype: torch.dtype | None,
        scaled: Tensor,
    ) -> Any:
        if dtype is None and scaled.dtype != inp.dtype:
            return no("the scaled input has another dtype")
        by = number if other is None else other
        return _may_scale_later(inp, by, dim, dtype or inp.dtype)

    def replacement(
        self,
        inp: Tensor,
        other: Tensor | None,
        number: Any,
        dim: list[int],
        dtype: torch.dtype | None,
        scaled: Tensor,
    ) -> Any:
        given = inp if dtype is None else prims.convert_element_type(inp, dtype)
        by = number if other is None else other
        return _scaled_later(type(self).scale, given, by, scaled, dim)


class MulSoftmax(_ScaledSoftmax):
    """`x * c - amax(x * c)` becomes `(x - amax(x)) * c` in finite rows, if `c >= 0`.

    `c` is a number or a tensor. Where it is negative, both `x` and `c` are negated.
    """

    name = "mul_softmax_pattern"
    inductor = "joint_graph.py:mul_softmax_pattern"
    scale = staticmethod(aten.mul.Tensor)


class DivSoftmax(_ScaledSoftmax):
    """`x / c - amax(x / c)` becomes `(x - amax(x)) / c` in finite rows, if `c >= 0`.

    `c` is a number or a tensor. Where it is negative, both `x` and `c` are negated.
    """

    name = "div_softmax_pattern"
    inductor = "joint_graph.py:div_softmax_pattern"
    scale = staticmethod(aten.div.Tensor)


__all__ = ["DivSoftmax", "MulSoftmax"]
