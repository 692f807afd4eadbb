"""Graphs for the passes of freezing: layers with constant weights, and arithmetic around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.pass_validation.specimen import Specimen
from xductor.frontend import from_fx
from xductor.transforms import REASSOCIATES
from xductor.transforms.freezing.binary_folding import BinaryFolding
from xductor.transforms.freezing.concat_linear import (
    AddmmFusePatternSecond,
    ConcatLinear,
    MatmulFusePattern,
)
from xductor.transforms.freezing.constant_fold import ConstantFold

Layer = Callable[[], nn.Module]
Arithmetic = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

CONVOLUTIONS: Mapping[str, Layer] = {
    "conv": lambda: nn.Conv2d(4, 6, 2),
    "conv without bias": lambda: nn.Conv2d(4, 6, 2, bias=False),
    "conv of groups": lambda: nn.Conv2d(4, 6, 2, groups=2),
    "conv_transpose": lambda: nn.ConvTranspose2d(4, 6, 2),
    "conv_transpose of groups": lambda: nn.ConvTranspose2d(4, 6, 2, groups=2),
}
PRODUCTS: Mapping[str, Layer] = {
    "addmm": lambda: nn.Linear(4, 6),
    "mm": lambda: nn.Linear(4, 6, bias=False),
}
ARITHMETIC: Mapping[str, Arithmetic] = {
    "add": lambda y, c: y + c,
    "add with alpha": lambda y, c: torch.add(y, c, alpha=3),
    "add, second": lambda y, c: torch.add(c, y, alpha=-2),
    "sub": lambda y, c: y - c,
    "sub, second": lambda y, c: c - y,
    "mul": lambda y, c: y * c,
    "div": lambda y, c: y / c,
    "a number": lambda y, c: (y + 1.5) * 2,
    "a normalisation": lambda y, c: (y - c) * (c + 1) + c,
}


class Frozen(nn.Module):
    """A layer with arithmetic behind it, whose tensors the module holds."""

    def __init__(self, layer: nn.Module, beside: torch.Tensor, arithmetic: Arithmetic) -> None:
        super().__init__()
        self.layer = layer
        self.arithmetic = arithmetic
        self.register_buffer("beside", beside)
        self.requires_grad_(False).eval()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        beside: Any = self.beside
        return (self.arithmetic(self.layer(x), beside),)


def folded() -> Iterator[Specimen]:
    """For `binary_folding`."""
    torch.manual_seed(0)
    for layers, sizes, beside in (
        (CONVOLUTIONS, (2, 4, 3, 3), torch.linspace(0.5, 2, 6).view(6, 1, 1)),
        (PRODUCTS, (3, 4), torch.linspace(0.5, 2, 6)),
    ):
        for layer, make in layers.items():
            for what, arithmetic in ARITHMETIC.items():
                for dtype in (torch.float32, torch.float64):
                    module = Frozen(make(), beside, arithmetic).to(dtype)
                    graph = make_fx(module)(torch.ones(sizes, dtype=dtype))
                    title = f"{layer}, {what}, {dtype}"
                    lowered = from_fx(graph, "post_grad")
                    yield Specimen(title, lowered, BinaryFolding(), REASSOCIATES)


class Held(nn.Module):
    """A function of an input and of constants that the module holds."""

    def __init__(self, function: Callable[..., Any], constants: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.function = function
        self.names = [f"constant{number}" for number in range(len(constants))]
        for name, value in zip(self.names, constants, strict=True):
            self.register_buffer(name, value)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.function(x, *[getattr(self, name) for name in self.names])


def held(function: Callable[..., Any], constants: Sequence[torch.Tensor], x: torch.Tensor) -> Any:
    module = Held(function, constants)
    graph = make_fx(module, tracing_mode="fake", _allow_non_fake_inputs=True)(x)
    return from_fx(graph, "post_grad")


COMPUTED: Mapping[str, Callable[..., Any]] = {
    "scaled": lambda x, w, b: (x @ (w * 2),),
    "transposed": lambda x, w, b: (x @ (w.t().contiguous() + 1).t(),),
    "put together": lambda x, w, b: (x @ torch.cat([w, w.flip(1)], 1),),
    "broadcast": lambda x, w, b: (x @ (w * b) + b.abs(),),
    "parts": lambda x, w, b: tuple(x @ one for one in (w * 3).split(2, 1)),
    "gathered": lambda x, w, b: (x @ w[torch.tensor([0, 2, 2, 1])],),
    "reduced": lambda x, w, b: (x * w.sum(), x - w.amax(1)),
    "a product": lambda x, w, b: (x @ (w @ w.t()),),
    "two readers": lambda x, w, b: (x @ (w + 1), x @ ((w + 1) * b)),
    "returned": lambda x, w, b: ((w * 2 + b).t(), x * 2),
    "a bias of numbers": lambda x, w, b: (torch.addmm(torch.full((6,), 0.5) * 3, x, w),),
}


def computed() -> Iterator[Specimen]:
    """For `constant_fold`."""
    torch.manual_seed(0)
    for what, function in COMPUTED.items():
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
            if what == "a bias of numbers" and dtype is not torch.float32:
                continue
            constants = [torch.randn(4, 6).to(dtype), torch.linspace(1, 2, 6).to(dtype)]
            graph = held(function, constants, torch.ones(3, 4, dtype=dtype))
            yield Specimen(f"{what}, {dtype}", graph, ConstantFold())


READERS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "pointwise": torch.relu,
    "nobody": lambda y: y,
    "heads": lambda y: y.view(-1, 3, y.shape[1] // 2, 2).permute(0, 2, 1, 3) * 2,
    "rows": lambda y: y.sum(1),
    "transposed": lambda y: y.t(),
}


def side_by_side(one: type[ConcatLinear], *, linear: bool) -> Iterator[Specimen]:
    """For `matmul_fuse_pattern` and `addmm_fuse_pattern_second`."""
    torch.manual_seed(0)
    for reader, number, dtype, rows in product(
        READERS, range(one.fewest, 5), (torch.float32, torch.float64), (6, 12)
    ):
        widths = [2 + 2 * (place % 3) for place in range(number)]
        weights = [torch.randn(4, width, dtype=dtype) for width in widths]
        biases = [torch.randn(width, dtype=dtype) for width in widths if linear]
        apply = partial(_apply, read=READERS[reader], number=number)
        graph = held(apply, [*weights, *biases], torch.ones(rows, 4, dtype=dtype))
        made = one(enable_concat_linear=True)
        first = number == one.fewest and dtype is torch.float32 and rows == 6
        title = f"{number}, {reader}, {dtype}, {rows} rows"
        yield Specimen(title, graph, made, REASSOCIATES, provable=first)


def _apply(x: Any, *given: Any, read: Callable[[torch.Tensor], torch.Tensor], number: int) -> Any:
    """What is read of the products of a tensor with weights, and with biases if there are any."""
    pairs = zip(given[:number], given[number:] or [None] * number, strict=True)
    return tuple(read(x @ w if b is None else torch.addmm(b, x, w)) for w, b in pairs)


def products() -> Iterator[Specimen]:
    """For `matmul_fuse_pattern`."""
    return side_by_side(MatmulFusePattern, linear=False)


def linears() -> Iterator[Specimen]:
    """For `addmm_fuse_pattern_second`."""
    return side_by_side(AddmmFusePatternSecond, linear=True)


__all__ = ["READERS", "computed", "folded", "held", "linears", "products"]
