"""Graphs for the passes of freezing: layers with constant weights, and arithmetic behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.pass_validation.specimen import Specimen
from xductor.frontend import from_fx
from xductor.transforms import REASSOCIATES
from xductor.transforms.freezing.binary_folding import BinaryFolding

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


__all__ = ["folded"]
