"""Random models of convolutions, linears, activations and sums, with constant weights."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch
import torch._inductor.compile_fx as compile_fx
from torch import nn
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.frontend import from_fx
from xductor.ir import verify
from xductor.transforms.freezing.constant_fold import ConstantFold
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps
from xductor.transforms.onednn.binary_fusion import MkldnnBinaryFusion
from xductor.transforms.onednn.convolution_packing import ConvolutionWeightPacking
from xductor.transforms.onednn.linear_packing import LinearWeightPacking
from xductor.transforms.onednn.recovered_linears import (
    MkldnnLinearBias,
    MkldnnReshapeLinearReshape,
)
from xductor.transforms.onednn.unary_fusion import MkldnnUnaryFusion
from xductor.transforms.rewriting.rewrite_pass import RewritePass

F = torch.nn.functional

ACTIVATIONS: tuple[Callable[[Any], Any], ...] = (
    torch.relu,
    torch.sigmoid,
    torch.tanh,
    F.gelu,
    F.silu,
    F.hardswish,
    F.hardsigmoid,
    F.relu6,
    lambda y: F.gelu(y, approximate="tanh"),
    lambda y: F.leaky_relu(y, 0.1),
    lambda y: F.leaky_relu(y, 0.0),
    lambda y: F.hardtanh(y, -0.5, 0.5),
    lambda y: y * torch.sigmoid(y),
    lambda y: y.clamp(min=0.25),
)


class RandomModel(nn.Module):
    """Layers in a row; each reads an earlier value, and what is made may be read again."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        self.steps: list[Callable[[list[Any]], Any]] = []
        self.is_spatial = rng.random() < 0.5
        self.channels = rng.choice((2, 3, 4))
        for _ in range(rng.randint(2, 7)):
            self.steps.append(self._step(rng))
        self.returned = rng.randint(1, 2)
        self.requires_grad_(False).eval()

    def _step(self, rng: Random) -> Callable[[list[Any]], Any]:
        what = rng.random()
        places = [rng.choice((1, 1, 2, 3)), rng.choice((2, 2, 3, 1))]
        if what < 0.45:
            layer, activation = self._layer(rng), rng.choice(ACTIVATIONS)
            behind = rng.choice(("nothing", "activation", "sum", "sum of an activation"))
            return lambda values: _behind(behind, layer(_at(values, places[0])), activation, values)
        if what < 0.7:
            activation = rng.choice(ACTIVATIONS)
            return lambda values: activation(values[-1])
        if what < 0.9:
            sign, alpha = rng.choice((1, 1, -1)), rng.choice((1, 1, 1, 2))
            return lambda values: torch.add(
                _at(values, places[0]), _at(values, places[1]), alpha=sign * alpha
            )
        if what < 0.95 and not self.is_spatial:
            vector = nn.Parameter(torch.randn(self.channels))
            self.register_parameter(f"vector{len(self.steps)}", vector)
            return lambda values: values[-1] + vector
        if what < 0.95:
            return lambda values: values[-1] - _at(values, places[1])
        return lambda values: values[-1] + _at(values, places[0]).mean(-1, keepdim=True)

    def _layer(self, rng: Random) -> nn.Module:
        bias, size = rng.random() < 0.5, self.channels
        if not self.is_spatial:
            layer: nn.Module = nn.Linear(size, size, bias=bias)
        elif rng.random() < 0.25:
            layer = nn.ConvTranspose2d(size, size, 3, padding=1, bias=bias)
        else:
            kernel = rng.choice((1, 3))
            groups = rng.choice((1, 1, size))
            layer = nn.Conv2d(size, size, kernel, padding=kernel // 2, groups=groups, bias=bias)
        if self.layers and rng.random() < 0.15:
            layer = rng.choice(list(self.layers))
        else:
            self.layers.append(layer)
        return layer

    def input(self, rng: Random) -> torch.Tensor:
        if self.is_spatial:
            return torch.randn(rng.randint(1, 2), self.channels, 4, rng.choice((4, 5)))
        return torch.randn(*[rng.randint(1, 3) for _ in range(rng.randint(1, 2))], self.channels)

    def forward(self, x: torch.Tensor) -> Any:
        values = [x]
        for step in self.steps:
            values.append(step(values))
        return tuple([_as_it_is(one) for one in values[-self.returned :]])


def _behind(what: str, y: Any, activation: Callable[[Any], Any], values: list[Any]) -> Any:
    """Something behind the result of a layer, or beside it."""
    if what == "activation":
        return activation(y)
    if what == "sum":
        return y + values[-1]
    return y + activation(values[-1] * 0.5) if what == "sum of an activation" else y


def _as_it_is(value: torch.Tensor) -> torch.Tensor:
    """A result with its strides, as freezing wants it: those of packed calls are others."""
    return torch.ops.prims.inductor_force_stride_order(value, value.stride())


def _at(values: list[Any], back: int) -> Any:
    return values[-min(back, len(values))]


def lowered(model: nn.Module, x: torch.Tensor, *, dynamic: bool = False) -> Any:
    """The frozen graph of a model, in the ops of the post-grad stage."""
    graph = make_fx(
        model,
        tracing_mode="symbolic" if dynamic else "fake",
        decomposition_table=select_decomp_table(),
        _allow_non_fake_inputs=True,
    )(x)
    graph.graph.eliminate_dead_code()
    compile_fx.view_to_reshape(graph)  # as before freezing
    return from_fx(graph, "post_grad")


def passes(policy: Any, *, with_mkl: bool) -> tuple[Any, ...]:
    """All passes over packed calls, in their order."""
    return (
        ConstantFold(),
        ConvolutionWeightPacking(),
        LinearWeightPacking(packs_for_mkl=with_mkl),
        RewritePass.of([MkldnnReshapeLinearReshape]),
        RewritePass.of([MkldnnLinearBias]),
        MkldnnUnaryFusion(policy=policy),
        MkldnnBinaryFusion(policy=policy),
        ReinplaceInplaceableOps(),
    )


def packed(module: Any, policy: Any = "default", *, with_mkl: bool = False) -> dict[str, int]:
    """Run all passes over a graph; how often each was applied."""
    counts: dict[str, int] = {}
    for one in passes(policy, with_mkl=with_mkl):
        name = one.rewrites[0].name if isinstance(one, RewritePass) else one.name
        counts[name] = one.rewrite(module)
        verify(module, "types")
    return counts


__all__ = ["ACTIVATIONS", "RandomModel", "lowered", "packed", "passes"]
