"""Models with weights of 8 and 4 bits for the table of what is fused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import nn

from tests.specimens.int8_models import SCALE, Int8Layer, down, up
from tests.transforms.onednn.fused_cases import Case, Row

F = torch.nn.functional
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


class Int8Branches(nn.Module):
    """Layers that PT2E quantised, each of data of its own, and with a function behind it."""

    def __init__(self, make: Callable[..., nn.Module], afters: Sequence[Callable[..., Any]]):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([make(after) for after in afters])

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        factors = [1 + place / 8 for place in range(len(self.layers))]
        results = [layer(x * by)[0] for layer, by in zip(self.layers, factors, strict=True)]
        return tuple([one if one.is_floating_point() else up(one) for one in results])


def _beside(x: Any) -> Any:
    """What a convolution adds: it was quantised, too."""
    return up(down(x * 0.5, 0.03, 5), 0.03, 5)


#: What stands behind a layer, with what its kernel then says.
_OF_CONVOLUTIONS: Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "nothing": (lambda y, x: y, ()),
    "relu": (lambda y, x: torch.relu(y), ("relu",)),
    "relu6": (lambda y, x: F.relu6(y), ("hardtanh", 0.0, 6.0)),
    "hardswish": (lambda y, x: F.hardswish(y), ("hardswish",)),
    "silu": (lambda y, x: F.silu(y), ("swish",)),
    "a sum": (lambda y, x: y + _beside(x), ("sum",)),
    "relu of a sum": (lambda y, x: torch.relu(_beside(x) + y), ("sum", "relu")),
}
_OF_LINEARS: Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "nothing": (lambda y, x: y, ()),
    "relu": (lambda y, x: torch.relu(y), ("relu",)),
    "gelu": (lambda y, x: F.gelu(y), ("gelu",)),
    "gelu by tanh": (lambda y, x: F.gelu(y, approximate="tanh"), ("gelu", "tanh")),
    "a sum": (lambda y, x: y + torch.sin(x), ("sum",)),
    "relu of a sum": (lambda y, x: torch.relu(torch.sin(x) + y), ("sum", "relu")),
}
_Make = Callable[..., nn.Module]


def _convolution(after: Any, **how: Any) -> nn.Module:
    return Int8Layer(nn.Conv2d(4, 4, 3, padding=1), after, **how)


def _linear(after: Any, **how: Any) -> nn.Module:
    return Int8Layer(nn.Linear(8, 8), after, **how)


_COLUMNS = (
    ("float32", torch.float32, False),
    ("symbolic", torch.float32, True),
    ("bfloat16", torch.bfloat16, False),
)


def pt2e() -> Iterator[Case]:
    """What PT2E quantised: layers whose results are quantised again, or not."""
    image, rows = torch.randn(2, 4, 6, 6, generator=chance()), torch.randn(2, 3, 8)
    layers: Sequence[tuple[str, str, _Make, torch.Tensor, Any]] = (
        ("int8 convolution", "QConv", _convolution, image, _OF_CONVOLUTIONS),
        ("int8 linear", "QLinear", _linear, rows, _OF_LINEARS),
        ("int8 linear, scale computed", "QLinear", partial(_linear, by_tensors=True), rows,
         _OF_LINEARS),
    )  # fmt: skip
    for (handler, kernel, make, x, afters), (column, dtype, dynamic) in product(layers, _COLUMNS):
        for end, quantise in (("uint8", down), ("float", lambda y: y)):
            dtype_after = "torch.uint8" if end == "uint8" else str(dtype)
            table = [
                Row(f"{handler} to {end}", what, ((kernel, dtype_after, *told),))
                for what, (_, told) in afters.items()
            ]
            functions = [lambda y, x, f=f, q=quantise: q(f(y, x)) for f, _ in afters.values()]
            model = Int8Branches(partial(make, dtype=dtype), functions).eval()
            yield Case(column, table, model, (x,), dynamic, step=2 * SCALE)


CASES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "weight-only": weights_only,
    "PT2E": pt2e,
}

__all__ = ["CASES"]
