"""`qreshape`: what is only reshaped between dequantisation and quantisation stays narrow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

from xductor.ir import aten, ops
from xductor.transforms import EXACT, Rewrite, Tensor, no

#: The scales that float32 can divide by, and far from its limits.
_SCALES = (1e-30, 1e30)
#: Zero points beyond this could make a difference of scales one of results.
_ZEROS = 1024

_NARROW = (torch.uint8, torch.int8)


def _check(scale: Any, zero: Any, dtype: Any, scale_after: Any, zero_after: Any, after: Any) -> Any:
    """Whether a quantisation gives back what was dequantised: results err by less than half."""
    if dtype not in _NARROW or dtype is not after:
        return no("the dtypes are not one of 8 bits")
    numbers = (scale, scale_after, zero, zero_after)
    if not all(isinstance(one, int | float) for one in numbers):
        return no("the numbers are not known")
    if zero != zero_after or abs(zero) > _ZEROS:
        return no("the zero points differ, or are large")
    if not _SCALES[0] <= scale <= _SCALES[1] or not math.isclose(scale, scale_after, rel_tol=1e-5):
        return no("the scales differ, or are too small or large")
    return True


class QuantizeBeforeReshape(Rewrite):
    """`quantize(reshape(dequantize(x)))` is reshaped behind the quantisation.

    That holds for all numbers, and pays where `QuantizeAgain` takes the two.
    """

    name = "qreshape"
    stage = "post_grad"
    inductor = "quantization.py:_register_quantized_reshape_lowering.qreshape"
    counter = "qreshape_matcher_count"
    numerics = EXACT

    def pattern(
        self,
        x: Tensor,
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
        sizes: Any,
        scale_after: Any,
        zero_after: Any,
        low_after: Any,
        high_after: Any,
        after: Any,
    ) -> Any:
        quantized = ops.quantized_decomposed
        wide = quantized.dequantize_per_tensor.default(x, scale, zero, low, high, dtype)
        return quantized.quantize_per_tensor.default(
            aten.reshape(wide, sizes), scale_after, zero_after, low_after, high_after, after
        )

    def pays(
        self, scale: Any, zero: Any, dtype: Any, scale_after: Any, zero_after: Any, after: Any
    ) -> Any:
        return _check(scale, zero, dtype, scale_after, zero_after, after)

    def replacement(
        self,
        x: Tensor,
        scale: Any,
        zero: Any,
        low: Any,
        high: Any,
        dtype: Any,
        sizes: Any,
        scale_after: Any,
        zero_after: Any,
        low_after: Any,
        high_after: Any,
        after: Any,
    ) -> Any:
        quantized = ops.quantized_decomposed
        wide = quantized.dequantize_per_tensor.default(x, scale, zero, low, high, dtype)
        narrow = quantized.quantize_per_tensor.default(
            wide, scale_after, zero_after, low_after, high_after, after
        )
        return aten.reshape(narrow, sizes)

    def instances(self) -> Iterator[dict[str, Any]]:
        for given in _instances():
            yield {**given, "sizes": [-1, 4]}


class QuantizeAgain(Rewrite):
    """`quantize(dequantize(x))` with the same numbers is `x`, within the bounds."""

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
        quantized = ops.quantized_decomposed
        wide = quantized.dequantize_per_tensor.default(x, scale, zero, low, high, dtype)
        return quantized.quantize_per_tensor.default(
            wide, scale_after, zero_after, low_after, high_after, after
        )

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
        if low_after > high_after:
            return no("the bounds are in the wrong order")
        return _check(scale, zero, dtype, scale_after, zero_after, after)

    def replacement(self, x: Tensor, low_after: Any, high_after: Any, after: Any) -> Any:
        limits = torch.iinfo(after)
        kept: Any = aten.clamp_min(x, low_after) if low_after > limits.min else x
        return aten.clamp_max(kept, high_after) if high_after < limits.max else kept

    def instances(self) -> Iterator[dict[str, Any]]:
        return _instances()


def _instances() -> Iterator[dict[str, Any]]:
    """All 256 numbers of a dtype, for scales and zero points from one end to the other.

    Bounds are narrower: else the result would be the input, which a graph may not return.
    """
    for dtype in _NARROW:
        limits = torch.iinfo(dtype)
        x = torch.arange(limits.min, limits.max + 1, dtype=torch.int32).to(dtype).view(16, 16)
        for scale in (1e-30, 1e-7, 0.003, 0.1, 1 / 3, 1.7, 1e30):
            for zero in (-_ZEROS, -3, 0, 128, 255, _ZEROS):
                for high in (limits.max // 2, 100, 5):
                    numbers = {"scale": scale, "zero": zero, "low": limits.min, "high": high}
                    after = {f"{name}_after": value for name, value in numbers.items()}
                    after["scale_after"] = scale * (1 + 9e-6)
                    yield {"x": x, **numbers, **after, "dtype": dtype, "after": dtype}


QRESHAPE = (QuantizeBeforeReshape, QuantizeAgain)

__all__ = ["QRESHAPE", "QuantizeAgain", "QuantizeBeforeReshape"]
