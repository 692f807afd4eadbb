"""Modules whose parameters are constants, and random ones; arithmetic behind what is linear."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.frontend import from_fx
from xductor.transforms.freezing.binary_folding import BinaryFolding

nn = torch.nn
aten = torch.ops.aten


class Frozen(nn.Module):
    """`function(layer(x), **constants)`; all tensors but `x` are held by the module."""

    def __init__(
        self, layer: Callable[..., Any], function: Callable[..., Any], **constants: Any
    ) -> None:
        super().__init__()
        self.layer = layer
        self.function = function
        self.names = tuple(constants)
        for name, value in constants.items():
            self.register_buffer(name, value)
        self.requires_grad_(False).eval()

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self.layer(x), **{name: getattr(self, name) for name in self.names})


class Linear(nn.Module):
    """`addmm` with factors, or `mm` where there is no bias; perhaps reshaped."""

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None = None,
        sizes: tuple[int, ...] | None = None,
        **factors: float,
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.sizes = sizes
        self.factors = factors

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.bias is None:
            y = aten.mm(x, self.weight)
        else:
            y = aten.addmm(self.bias, x, self.weight, **self.factors)
        return y if self.sizes is None else aten.reshape(y, self.sizes)


def folded(module: nn.Module, x: torch.Tensor, **options: Any) -> tuple[int, torch.fx.GraphModule]:
    """How often the pass folded something in a module, and the graph after it."""
    from xductor.backend.fx.export import to_fx

    lowered = from_fx(make_fx(module)(x), "post_grad")
    count = BinaryFolding(**options).rewrite(lowered)
    return count, to_fx(lowered)


_BESIDE: Mapping[str, Callable[..., Any]] = {
    "add": lambda y, c, alpha: torch.add(y, c, alpha=alpha),
    "sub": lambda y, c, alpha: torch.sub(y, c, alpha=alpha),
    "mul": lambda y, c, alpha: y * c,
    "div": lambda y, c, alpha: y / c,
    "added to": lambda y, c, alpha: (
        torch.add(c, y, alpha=alpha) if isinstance(c, torch.Tensor) else c + y
    ),
    "subtracted from": lambda y, c, alpha: (
        torch.sub(c, y, alpha=alpha) if isinstance(c, torch.Tensor) else c - y
    ),
}


def random_module(rng: Random) -> tuple[nn.Module, torch.Tensor]:
    """A layer with a chain of arithmetic behind it, in float64, and an input."""
    torch.manual_seed(rng.randrange(1 << 30))
    layer, x, rank, channels, place = _layer(rng)
    steps: list[Callable[[Any], Any]] = []
    for _ in range(rng.randint(1, 4)):
        what = _BESIDE[rng.choice(list(_BESIDE))]
        beside = _constant(rng, rank, channels, place)
        alpha = rng.choice((1, 1, 2, -0.5))
        steps.append(lambda y, what=what, beside=beside, alpha=alpha: what(y, beside, alpha))

    class Chain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> Any:
            y = self.layer(x)
            for step in steps:
                y = step(y)
            return y

    return Chain().double().requires_grad_(False).eval(), x.double()


def _layer(rng: Random) -> tuple[nn.Module, torch.Tensor, int, int, int]:
    """A layer, an input, and of its result the rank, the number of channels and their place."""
    if rng.random() < 0.4:
        rows, inner, columns = (rng.randint(1, 4) for _ in range(3))
        bias = rng.choice((None, torch.randn(columns), torch.randn(1, columns), torch.randn(1)))
        factors = {} if bias is None else {"beta": rng.choice((1, 0, 0.5)), "alpha": 2.0}
        sizes = rng.choice((None, (1, rows, columns)))
        layer = Linear(torch.randn(inner, columns), bias, sizes, **factors)
        return layer, torch.randn(rows, inner), 3 if sizes else 2, columns, -1
    dims, groups = rng.randint(1, 3), rng.randint(1, 3)
    inputs, outputs = groups * rng.randint(1, 2), groups * rng.randint(1, 2)
    name = f"{'ConvTranspose' if rng.random() < 0.5 else 'Conv'}{dims}d"
    bias = rng.random() < 0.5
    layer = getattr(nn, name)(inputs, outputs, rng.randint(1, 2), groups=groups, bias=bias)
    x = torch.randn(rng.randint(1, 2), inputs, *([3] * dims))
    return layer, x, dims + 2, outputs, -dims - 1


def _constant(rng: Random, rank: int, channels: int, place: int) -> Any:
    if rng.random() < 0.3:
        return rng.choice((2, 0.5, -1.5, 3))
    sizes = [1] * rng.randint(0, rank)
    if len(sizes) >= -place and rng.random() < 0.8:
        sizes[place] = channels
    return torch.rand(sizes, dtype=torch.float64) + 0.5
