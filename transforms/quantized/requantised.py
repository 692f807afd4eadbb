"""What is known of numbers that are dequantised and then quantised by the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

from xductor.ir import aten, ops
from xductor.transforms import Tensor, no

quantize = ops.quantized_decomposed.quantize_per_tensor.default
dequantize = ops.quantized_decomposed.dequantize_per_tensor.default

_DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"

#: Scales that are far from the limits of float32, which divides by them.
_SCALES = (1e-30, 1e30)
#: With larger zero points, scales that nearly agree could give different results.
MOST_ZERO = 1024

NARROW = (torch.uint8, torch.int8)


def gives_back(
    before: tuple[Any, Any, Any], scale: Any, zero: Any, low: Any, high: Any, dtype: Any
) -> Any:
    """Whether a quantisation gives back what was dequantised: the error is less than half a step.

    - `before`: scale, zero point and dtype of the dequantisation.
    """
    if dtype not in NARROW or before[2] is not dtype:
        return no("the dtypes are not one of 8 bits")
    if not all(isinstance(one, int | float) for one in (*before[:2], scale, zero, low, high)):
        return no("the numbers are not known")
    if zero != before[1] or abs(zero) > MOST_ZERO:
        return no("the zero points differ, or are large")
    if not _SCALES[0] <= scale <= _SCALES[1] or not math.isclose(scale, before[0], rel_tol=1e-5):
        return no("the scales differ, or are too small or large")
    return low <= high or no("the bounds are in the wrong order")


def comes_back(wide: Tensor, *numbers: Any) -> Any:
    """Whether a value was dequantised, and a quantisation of it gives back what there was.

    For `pays`; `numbers` are scale, zero point, bounds and dtype of the quantisation.
    """
    op: Any = wide.value and wide.value.owner
    if getattr(op, "name", "") != _DEQUANTIZE:
        return no("what is quantised was not dequantised")
    if op.argument("out_dtype") is not None:
        return no("it is dequantised to another dtype")
    before = [op.argument(name) for name in ("scale", "zero_point", "dtype")]
    return gives_back((before[0], before[1], before[2]), *numbers)


def clamped(x: Tensor, low: int, high: int) -> Any:
    """Numbers of 8 bits within bounds, in calls that Inductor has lowerings of."""
    limits = torch.iinfo(x.dtype)
    raised = aten.clamp_min(x, min(low, limits.max)) if low > limits.min else x
    return aten.clamp_max(raised, max(high, limits.min)) if high < limits.max else raised


def numbers_to_try() -> Iterator[dict[str, Any]]:
    """All 256 numbers of a dtype, for scales and zero points from one end to the other.

    Bounds are narrower: else the result would be the input, which a graph may not return.
    """
    for zero in (-3, -MOST_ZERO, 0, 128, 255, MOST_ZERO):
        for scale in (0.1, 1e-30, 1e-7, 0.003, 1 / 3, 1.7, 9e29):
            for share in (2, 3, 40):
                for dtype in NARROW:
                    limits = torch.iinfo(dtype)
                    x = torch.arange(limits.min, limits.max + 1, dtype=torch.int32)
                    yield {
                        "x": x.to(dtype).view(16, 16),
                        "scale": scale,
                        "zero": zero,
                        "dtype": dtype,
                        "scale_after": scale * (1 + 9e-6),
                        "zero_after": zero,
                        "low_after": limits.min,
                        "high_after": limits.max // share,
                        "after": dtype,
                    }


__all__ = [
    "MOST_ZERO",
    "NARROW",
    "clamped",
    "comes_back",
    "dequantize",
    "gives_back",
    "numbers_to_try",
    "quantize",
]
