"""`qreshape`: what is only reshaped between dequantisation and quantisation stays narrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor
from xductor.transforms.quantized.requantised import (
    clamped,
    comes_back,
    dequantize,
    gives_back,
    numbers_to_try,
    quantize,
)


class QuantizeBeforeReshape(Rewrite):
    """`quantize(reshape(x))` becomes `reshape(quantize(x))`.

    That holds for all numbers, and pays where `QuantizeAgain` takes what is left.
    """

    name = "qreshape"
    stage = "post_grad"
    inductor = "quantization.py:_register_quantized_reshape_lowering.qreshape"
    counter = "qreshape_matcher_count"
    numerics = EXACT

    def pattern(
        self, x: Tensor, sizes: Any, scale: Any, zero: Any, low: Any, high: Any, dtype: Any
    ) -> Any:
        return quantize(aten.reshape(x, sizes), scale, zero, low, high, dtype)

    def pays(self, x: Tensor, scale: Any, zero: Any, low: Any, high: Any, dtype: Any) -> Any:
        return comes_back(x, scale, zero, low, high, dtype)

    def replacement(
        self, x: Tensor, sizes: Any, scale: Any, zero: Any, low: Any, high: Any, dtype: Any
    ) -> Any:
        return aten.reshape(quantize(x, scale, zero, low, high, dtype), sizes)

    def instances(self) -> Iterator[dict[str, Any]]:
        for given in numbers_to_try():
            yield {
                "x": (given["x"].float() - given["zero"]) * given["scale"],
                "sizes": [-1, 4],
                "scale": given["scale"],
                "zero": given["zero"],
                "low": given["low_after"],
                "high": given["high_after"],
                "dtype": given["dtype"],
            }


class QuantizeAgain(Rewrite):
    """`quantize(dequantize(x))` with the same numbers is `x`, within the bounds.

    Others may read the dequantised numbers; Inductor makes a copy for each reader instead.
    """

    name = "qreshape"
    stage = "post_grad"
    inductor = "quantization.py:_register_quantized_reshape_lowering.qreshape"
    numerics = EXACT

    def pattern(
        self,
        x: Tensor,
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
        scale_after: Any,
        zero_after: Any,
        low_after: Any,
        high_after: Any,
        after: Any,
    ) -> Any:
        wide = dequantize(x, scale, zero, low, high, dtype)
        return quantize(wide, scale_after, zero_after, low_after, high_after, after), wide

    def where(
        self,
        scale: Any,
        zero: Any,
        dtype: Any,
        scale_after: Any,
        zero_after: Any,
        low_after: Any,
        high_after: Any,
        after: Any,
    ) -> Any:
        numbers = (scale_after, zero_after, low_after, high_after, after)
        return gives_back((scale, zero, dtype), *numbers)

    def replacement(
        self,
        x: Tensor,
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
        low_after: Any,
        high_after: Any,
    ) -> Any:
        return clamped(x, low_after, high_after), dequantize(x, scale, zero, low, high, dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        for given in numbers_to_try():
            limits = torch.iinfo(given["dtype"])
            yield {**given, "low": limits.min, "high": limits.max}


QRESHAPE = (QuantizeBeforeReshape, QuantizeAgain)

__all__ = ["QRESHAPE", "QuantizeAgain", "QuantizeBeforeReshape"]
