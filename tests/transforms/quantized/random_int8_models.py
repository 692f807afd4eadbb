"""Random models whose layers PT2E quantised, with sums and activations between them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import nn

from tests.specimens.int8_models import Int8Layer, bounds, decomposed

F = torch.nn.functional
Value = torch.Tensor

_ACTIVATIONS: tuple[Callable[[Any], Any], ...] = (
    torch.relu, F.relu6, F.hardswish, F.silu, F.gelu, lambda y: F.gelu(y, approximate="tanh"),
    torch.tanh, lambda y: F.hardtanh(y, -1.0, 3.0), lambda y: y, lambda y: y * 0.5,
)  # fmt: skip


class RandomInt8Model(nn.Module):
    """`steps` layers in a row, each of what was quantised before, with what stands behind it.

    Quantised values may be read by several layers and sums, and may be returned. Scales are powers
    of two, and so are those of weights: what is added and rounded is exact in float32, and layers
    that differ by a step do not do so because of an earlier one.
    """

    def __init__(self, rng: Random) -> None:
        super().__init__()
        torch.manual_seed(rng.randrange(1 << 30))
        self.is_spatial = rng.random() < 0.6
        self.layers = nn.ModuleList()
        self.plans: list[Any] = []
        self.channels = 4
        for number in range(rng.randint(1, 4)):
            self.layers.append(self._layer(rng))
            self.plans.append(
                (
                    rng.choice(_ACTIVATIONS),
                    rng.choice(("none", "none", "sum", "second", "relu of a sum")),
                    rng.choice(("uint8", "uint8", "int8", "seven", "float")),
                    rng.randint(0, number),
                    rng.randint(0, number),
                )
            )
        self.returned = rng.randint(1, 2)

    def _layer(self, rng: Random) -> nn.Module:
        size, bias = self.channels, rng.random() < 0.7
        if self.is_spatial:
            kernel, groups = rng.choice((1, 3)), rng.choice((1, 1, 2, size))
            made: nn.Module = nn.Conv2d(
                size, size, kernel, padding=kernel // 2, groups=groups, bias=bias
            )
        else:
            made = nn.Linear(size, size, bias=bias)
        layer = Int8Layer(made)
        layer.scales.copy_(2.0 ** layer.scales.log2().ceil())
        if layer.bias is not None:
            layer.bias.copy_((layer.bias * 64).round() / 64)
        return layer

    def input(self, rng: Random) -> torch.Tensor:
        if not self.is_spatial:
            return torch.randn(*[rng.randint(2, 3) for _ in range(rng.randint(1, 2))], 4)
        x = torch.randn(rng.randint(1, 2), 4, 4, rng.choice((3, 4)))
        return x.contiguous(memory_format=torch.channels_last) if rng.random() < 0.7 else x

    def forward(self, x: Value) -> Any:
        narrow, float_results = [_down(x, "uint8")], []
        for layer, (act, sum_, end, read, beside) in zip(self.layers, self.plans, strict=True):
            data = _up(narrow[min(read, len(narrow) - 1)])
            y = _computed(layer, data)
            other = _up(narrow[min(beside, len(narrow) - 1)])
            if sum_ == "none":
                y = act(y)
            else:
                y = other + y if sum_ == "second" else y + other
                y = torch.relu(y) if sum_ == "relu of a sum" else y
            if end == "float":
                float_results.append(y)
                narrow.append(_down(y, "uint8"))
            else:
                narrow.append(_down(y, end))
        results = [*narrow[-self.returned :], *float_results[-1:]]
        return tuple([one + 0 if one.is_floating_point() else one.clone() for one in results])


def _down(x: Value, end: str) -> Value:
    limits = {"seven": (0, 127, torch.uint8), "int8": bounds(torch.int8)}
    low, high, dtype = limits.get(end, bounds(torch.uint8))
    return decomposed.quantize_per_tensor(x, 1 / 16, 64 if low == 0 else 3, low, high, dtype)


def _up(x: Value) -> Value:
    zero = 3 if x.dtype is torch.int8 else 64
    return decomposed.dequantize_per_tensor(x, 1 / 16, zero, *bounds(x.dtype))


def _computed(layer: Any, data: Value) -> Value:
    given = (layer.weight, layer.scales, layer.zeros, 0, *bounds(torch.int8))
    weight = decomposed.dequantize_per_channel(*given)
    inner: Any = layer.layer
    if isinstance(inner, nn.Linear):
        return F.linear(data, weight, layer.bias)
    return F.conv2d(data, weight, layer.bias, 1, inner.padding, 1, inner.groups)


__all__ = ["RandomInt8Model"]
