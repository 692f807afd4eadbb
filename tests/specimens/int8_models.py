"""Layers that PT2E quantised, as it writes them: of dequantised data and weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

F = torch.nn.functional
decomposed = torch.ops.quantized_decomposed

SCALE, ZERO = 0.04, 100
After = Callable[[torch.Tensor, torch.Tensor], Any]


def bounds(dtype: torch.dtype) -> tuple[int, int, torch.dtype]:
    limits = torch.iinfo(dtype)
    return limits.min, limits.max, dtype


def down(
    x: torch.Tensor, scale: float = SCALE, zero: int = ZERO, dtype: torch.dtype = torch.uint8
) -> torch.Tensor:
    """Quantised to a dtype of 8 bits."""
    return decomposed.quantize_per_tensor(x, scale, zero, *bounds(dtype))


def up(
    x: torch.Tensor, scale: float = SCALE, zero: int = ZERO, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """Dequantised to float32."""
    return decomposed.dequantize_per_tensor(x, scale, zero, *bounds(dtype or x.dtype))


class Int8Layer(nn.Module):
    """A layer of quantised data by a quantised weight, with something behind it.

    - `after`: what stands behind it, given its result, and the data as it was dequantised.
    - `dtype`: that to which data and weight are cast, and of the bias.
    - `narrow`: that of the data, quantised.
    - `by_tensors`: scale and zero point of the data are computed of it.
    - `axis`, `zero`: which dim of the weight has scales, and its zero points.
    - `call`: computes the layer, given data, weight and bias; by default as the layer does.
    """

    weight: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor
    bias: torch.Tensor | None

    def __init__(
        self,
        layer: nn.Module,
        after: After = lambda y, x: y,
        *,
        dtype: torch.dtype = torch.float32,
        narrow: torch.dtype = torch.uint8,
        by_tensors: bool = False,
        axis: int = 0,
        zero: int = 0,
        call: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__()
        self.after, self.dtype, self.narrow, self.by_tensors = after, dtype, narrow, by_tensors
        self.axis, self.layer, self.call = axis, layer, call
        weight: Any = layer.weight
        others = [dim for dim in range(weight.dim()) if dim != axis]
        scales = weight.detach().abs().amax(others) / 127
        zeros = torch.full((len(scales),), zero)
        given = (weight.detach(), scales, zeros, axis, *bounds(torch.int8))
        self.register_buffer("weight", decomposed.quantize_per_channel(*given))
        self.register_buffer("scales", scales)
        self.register_buffer("zeros", zeros)
        bias: Any = layer.bias
        self.register_buffer("bias", None if bias is None else bias.detach().to(dtype))
        self.requires_grad_(False).eval()

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        data = self._cast(self._dequantised(x))
        given = (self.weight, self.scales, self.zeros, self.axis, *bounds(torch.int8))
        weight = self._cast(decomposed.dequantize_per_channel(*given))
        result = self.after((self.call or self._computed)(data, weight, self.bias), data)
        return result if isinstance(result, tuple) else (result,)

    def _cast(self, x: torch.Tensor) -> torch.Tensor:
        if self.dtype is torch.float32:
            return x
        return torch.ops.prims.convert_element_type(x, self.dtype)

    def _dequantised(self, x: torch.Tensor) -> torch.Tensor:
        zero = ZERO if self.narrow is torch.uint8 else -3
        if not self.by_tensors:
            return up(down(x, zero=zero, dtype=self.narrow), zero=zero)
        low, high, dtype = bounds(self.narrow)
        given = decomposed.choose_qparams(x, low, high, 1e-7, dtype)
        narrow = decomposed.quantize_per_tensor.tensor(x, *given, low, high, dtype)
        return decomposed.dequantize_per_tensor.tensor(narrow, *given, low, high, dtype)

    def _computed(self, x: Any, weight: Any, bias: Any) -> Any:
        layer: Any = self.layer
        if isinstance(layer, nn.Linear):
            return F.linear(x, weight, bias)
        how = (bias, layer.stride, layer.padding, layer.dilation, layer.groups)
        return (F.conv1d if isinstance(layer, nn.Conv1d) else F.conv2d)(x, weight, *how)


def batches(x: Any, weight: Any, bias: Any) -> Any:
    """A linear as it is taken apart for data that is not contiguous."""
    columns = weight.shape[0]
    spread = weight.permute(1, 0).expand(x.shape[0], weight.shape[1], columns)
    made = torch.bmm(x.expand(x.shape), spread)
    return made if bias is None else made + bias


#: Layers, with the sizes of their data.
CONVOLUTIONS: Mapping[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "conv": (lambda: nn.Conv2d(4, 6, 2), (2, 4, 5, 4)),
    "conv without bias": (lambda: nn.Conv2d(4, 6, 2, bias=False), (2, 4, 5, 4)),
    "conv of groups": (lambda: nn.Conv2d(4, 6, 3, groups=2, padding=1), (2, 4, 5, 4)),
    "conv of each channel": (lambda: nn.Conv2d(4, 4, 3, groups=4), (2, 4, 5, 4)),
    "conv with steps": (lambda: nn.Conv2d(4, 6, 2, stride=2, dilation=2), (1, 4, 5, 6)),
    "conv of points": (lambda: nn.Conv2d(4, 6, 1), (1, 4, 1, 3)),
    "conv of one channel": (lambda: nn.Conv2d(1, 3, 3, padding=1), (2, 1, 4, 4)),
    "conv over one dim": (lambda: nn.Conv1d(4, 6, 3, padding=1), (2, 4, 7)),
}
LINEARS: Mapping[str, tuple[Callable[..., nn.Module], tuple[int, ...]]] = {
    "linear": (lambda **how: Int8Layer(nn.Linear(8, 6), **how), (3, 8)),
    "linear without bias": (lambda **how: Int8Layer(nn.Linear(8, 6, bias=False), **how), (3, 8)),
    "linear of batches": (lambda **how: Int8Layer(nn.Linear(8, 6), **how), (2, 3, 8)),
    "linear of four dims": (lambda **how: Int8Layer(nn.Linear(8, 6), **how), (2, 1, 3, 8)),
    "bmm": (lambda **how: Int8Layer(nn.Linear(8, 6, bias=False), call=batches, **how), (2, 3, 8)),
    "bmm and sum": (lambda **how: Int8Layer(nn.Linear(8, 6), call=batches, **how), (2, 3, 8)),
    "linear by tensors": (
        lambda **how: Int8Layer(nn.Linear(8, 6), by_tensors=True, **how),
        (2, 3, 8),
    ),
    "linear of int8": (lambda **how: Int8Layer(nn.Linear(8, 6), narrow=torch.int8, **how), (3, 8)),
}

__all__ = [
    "CONVOLUTIONS",
    "LINEARS",
    "SCALE",
    "ZERO",
    "Int8Layer",
    "batches",
    "bounds",
    "decomposed",
    "down",
    "up",
]
