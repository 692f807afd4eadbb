"""Models with weights of 8 and 4 bits for the table of what is fused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

from tests.transforms.onednn.fused_cases import Case, Row

BF16 = torch.bfloat16
_INT8 = ("extern_kernels._weight_int8pack_mm",)
_INT4 = ("WeightInt4PackMatmul",)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class Int8Linears(nn.Module):
    """Products with int8 weights that are widened, and scales for their columns."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.names = [str(place) for place in range(count)]
        for name in self.names:
            weight = torch.randint(-9, 9, (16, 64), dtype=torch.int8, generator=chance(int(name)))
            self.register_buffer(f"weight{name}", weight)
            self.register_buffer(f"scales{name}", torch.rand(16, generator=chance()).to(BF16))

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        pairs = [
            (getattr(self, f"weight{one}"), getattr(self, f"scales{one}")) for one in self.names
        ]
        return tuple(
            [torch.relu(nn.functional.linear(x, w.to(BF16)) * scales) for w, scales in pairs]
        )


class Int4Linears(nn.Module):
    """Products with packed int4 weights, in groups of 32."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.names = [str(place) for place in range(count)]
        pack = torch.ops.aten._convert_weight_to_int4pack_for_cpu
        for name in self.names:
            weight = torch.randint(0, 16, (64, 64), dtype=torch.int32, generator=chance(int(name)))
            self.register_buffer(f"weight{name}", pack(weight, 1))
            self.register_buffer(f"scales{name}", torch.rand(2, 64, 2, generator=chance()).to(BF16))

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        pairs = [
            (getattr(self, f"weight{one}"), getattr(self, f"scales{one}")) for one in self.names
        ]
        product = torch.ops.aten._weight_int4pack_mm_for_cpu
        return tuple([product(x, weight, 32, scales) for weight, scales in pairs])


def weights_only() -> Iterator[Case]:
    """Weights alone are narrow; what they are multiplied with is bfloat16."""
    x = torch.randn(4, 64, generator=chance()).to(BF16)
    joined = {"cpp.enable_concat_linear": True}
    shapes: Mapping[str, tuple[torch.Tensor, bool]] = {
        "rows": (x, False),
        "batches": (x.view(2, 2, 64), False),
        "symbolic": (x, True),
    }
    for layout, (given, dynamic) in shapes.items():
        rows = [Row("weight-only int8", "products", (_INT8,), 3)]
        yield Case(layout, rows, Int8Linears(3).eval(), (given,), dynamic)
        if given.dim() == 2:
            rows = [Row("weight-only int8", "three joined", (_INT8,))]
            yield Case(layout, rows, Int8Linears(3).eval(), (given,), dynamic, joined)
            rows = [Row("weight-only int4", "three joined", (_INT4,))]
            yield Case(layout, rows, Int4Linears(3).eval(), (given,), dynamic, joined)


#: The scale of what PT2E quantised.
SCALE = 0.05


def quantised(x: torch.Tensor, scale: float = SCALE, zero: int = 100) -> torch.Tensor:
    """What a tensor is after uint8."""
    ops = torch.ops.quantized_decomposed
    narrow = ops.quantize_per_tensor(x, scale, zero, 0, 255, torch.uint8)
    return ops.dequantize_per_tensor(narrow, scale, zero, 0, 255, torch.uint8)


class Quantised(nn.Module):
    """A layer between PT2E's quantisations, with an int8 weight that has scales for channels."""

    def __init__(self, layer: nn.Module, after: Callable[..., Any]) -> None:
        super().__init__()
        self.layer, self.after = layer, after
        weight: Any = layer.weight
        scales = weight.detach().flatten(1).abs().amax(1) / 127
        zeros = torch.zeros(len(scales), dtype=torch.int64)
        ops = torch.ops.quantized_decomposed
        narrow = ops.quantize_per_channel(weight.detach(), scales, zeros, 0, -128, 127, torch.int8)
        for name, value in (("narrow", narrow), ("scales", scales), ("zeros", zeros)):
            self.register_buffer(name, value)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = torch.ops.quantized_decomposed.dequantize_per_channel(
            self.narrow, self.scales, self.zeros, 0, -128, 127, torch.int8
        )
        x = quantised(x)
        layer: Any = self.layer
        if isinstance(layer, nn.Linear):
            y = nn.functional.linear(x, weight, layer.bias)
        else:
            y = nn.functional.conv2d(x, weight, layer.bias, layer.stride, layer.padding)
        return quantised(self.after(y, x))


def pt2e() -> Iterator[Case]:
    """What PT2E quantised: the entries are Inductor's own, and counted to see that they act."""
    afters: Mapping[str, Callable[..., Any]] = {
        "alone": lambda y, x: y,
        "relu": lambda y, x: torch.relu(y),
        "a sum": lambda y, x: y + x,
    }
    layers: Mapping[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[str, ...]]] = {
        "int8 convolution": (
            lambda: nn.Conv2d(4, 4, 3, padding=1),
            (2, 4, 6, 6),
            ("QConvPointWisePT2E", "QConvPointWiseBinaryPT2E"),
        ),
        "int8 linear": (
            lambda: nn.Linear(8, 8),
            (6, 8),
            ("QLinearPointwisePT2E", "QLinearPointwiseBinaryPT2E"),
        ),
    }
    for name, (make, sizes, kernels) in layers.items():
        for what, after in afters.items():
            rows = [Row(name, what, tuple([(one,) for one in kernels]))]
            model, x = Quantised(make(), after).eval(), torch.randn(sizes, generator=chance())
            yield Case("rows", rows, model, (x,), step=SCALE, needs_code=True)


CASES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "weight-only": weights_only,
    "PT2E": pt2e,
}

__all__ = ["CASES"]
