"""Weights of products and convolutions, scaled by one number per output channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xductor.ir import aten
from xductor.transforms import Tensor

#: Multiplies or divides a tensor by a number or a tensor.
Scale = Callable[[Any, Any], Any]


def scaled_by_channel(
    weight: Tensor,
    factors: Any,
    scale: Scale = aten.mul,
    *,
    groups: Any = 1,
    transposed: bool = False,
) -> Any:
    """A weight, scaled by `factors` of shape `[O]`.

    The weight has shape `[O, I / groups, ...]`, or `[I, O / groups, ...]` if `transposed`.
    """
    if not transposed:
        return scale(weight, aten.reshape(factors, [-1, *[1] * (weight.ndim - 1)]))
    inputs, outputs, *spatial = weight.shape
    by_group = aten.reshape(weight, [groups, inputs // groups, outputs, *spatial])
    factors = aten.reshape(factors, [groups, 1, outputs, *[1] * len(spatial)])
    return aten.reshape(scale(by_group, factors), list(weight.shape))


__all__ = ["Scale", "scaled_by_channel"]
