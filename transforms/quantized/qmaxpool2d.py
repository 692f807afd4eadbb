"""`qmaxpool2d`: what is only pooled between dequantisation and quantisation stays narrow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import torch

from xductor.ir import aten, ops, prims
from xductor.transforms import EXACT, Rewrite, Tensor, no, one_of, shared

# Defines `xductor::max_pool2d`.
from xductor.transforms.quantized import operators as operators
from xductor.transforms.quantized.requantised import (
    clamped,
    dequantize,
    gives_back,
    numbers_to_try,
    quantize,
)


class Qmaxpool2d(Rewrite):
    """The maxima of dequantised numbers, quantised again by the same numbers, are the maxima of the
    numbers as they were, within the bounds: neither conversion reverses the order.

    A window that lies wholly outside gives the least number of the dtype.
    """

    name = "qmaxpool2d"
    stage = "post_grad"
    inductor = "quantization.py:_register_quantized_maxpool2d_lowering.qmaxpool2d"
    counter = "qmaxpool2d_matcher_count"
    numerics = EXACT

    def pattern(
        self,
        x: Tensor,
        scale: Any,
        zero: Any,
        dtype: Any,
        kernel: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
        scale_after: Any,
        zero_after: Any,
        low_after: Any,
        high_after: Any,
        after: Any,
    ) -> Any:
        wide = shared(dequantize(x, scale, zero, ..., ..., dtype))
        window = (kernel, stride, padding, dilation, ceil_mode)
        pooled = one_of(
            prims._low_memory_max_pool_with_offsets(wide, *window)[0],
            aten.max_pool2d_with_indices(wide, *window)[0],
        )
        return quantize(pooled, scale_after, zero_after, low_after, high_after, after)

    def where(
        self,
        x: Tensor,
        scale: Any,
        zero: Any,
        dtype: Any,
        kernel: list[int],
        scale_after: Any,
        zero_after: Any,
        low_after: Any,
        high_after: Any,
        after: Any,
    ) -> Any:
        if x.device.type != "cpu" or x.ndim not in (3, 4) or len(kernel) > 2:
            return no("no kernel pools such numbers")
        numbers = (scale_after, zero_after, low_after, high_after, after)
        same = gives_back((scale, zero, dtype), *numbers)
        if same is not True:
            return same
        return low_after <= torch.iinfo(after).min or no("the least number is out of bounds")

    def replacement(
        self,
        x: Tensor,
        kernel: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
        low_after: Any,
        high_after: Any,
    ) -> Any:
        window = (kernel, stride, padding, dilation, ceil_mode)
        return ops.xductor.max_pool2d(clamped(x, low_after, high_after), *window)

    def instances(self) -> Iterator[dict[str, Any]]:
        windows = cycle(
            (
                ([2, 2], [2, 2], [0, 0], [1, 1], False),
                ([3, 3], [2, 2], [1, 1], [1, 1], True),
                ([3, 2], [1, 2], [1, 0], [2, 1], False),
                ([2, 2], [1, 1], [1, 1], [1, 9], False),
                ([13, 11], [2, 3], [0, 5], [1, 1], True),
            )
        )
        for given, window in zip(numbers_to_try(), windows, strict=False):
            names = ("kernel", "stride", "padding", "dilation", "ceil_mode")
            x = given.pop("x").view(1, 1, 16, 16)
            yield {"x": x, **given, **dict(zip(names, window, strict=True))}


__all__ = ["Qmaxpool2d"]
