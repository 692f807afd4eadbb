"""Models whose attention is hard to fuse with profit, for `tests.benchmarks.gpu_corpus`.

    python -m tests.benchmarks.gpu_corpus --models-file tests/benchmarks/attention_models.py

- `swin7`, `swin8`: vision transformers with shifted windows of 7 by 7 and 8 by 8 tokens, a bias for
  each pair of tokens of a window, and a mask for each window where windows are shifted.
- `xlnet`: scores that are the sum of two products, of content and of relative position.
- `alibi`: a causal decoder with a bias by distance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

META: dict[str, dict[str, Any]] = {name: {} for name in ("swin7", "swin8", "xlnet", "alibi")}
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def names() -> list[str]:
    return list(META)


def loss_of(name: str, out: Tensor) -> Tensor:
    return out.float().square().mean()


def build(
    name: str, layers: int = 2, dtype: str = "bf16", batch: int | None = None
) -> tuple[nn.Module, tuple[Tensor, ...], dict[str, Any]]:
    """A model with its inputs."""
    torch.manual_seed(0)
    if name.startswith("swin"):
        window = int(name.removeprefix("swin"))
        side, size = 8 * window, batch or 64
        model: nn.Module = Swin(window, side, width=96, heads=3, layers=layers)
        x = torch.randn(size, side * side, 96)
    else:
        kind: Callable[..., nn.Module] = RelativeAttention if name == "xlnet" else DistanceBias
        model = nn.Sequential(*(Block(1024, kind(1024, 16, 512)) for _ in range(layers)))
        x = torch.randn(batch or 8, 512, 1024)
    return model.to(_DTYPES[dtype]), (x.to(_DTYPES[dtype]),), {}


class Block(nn.Module):
    """Attention and a perceptron, each behind a norm and beside a residual."""

    def __init__(self, width: int, attention: nn.Module) -> None:
        super().__init__()
        self.attention = attention
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))


class Attention(nn.Module, ABC):
    """The projections that all kinds of attention share; `masked` says what scores become."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head = heads, width // heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        qkv = self.qkv(x).view(batch, tokens, 3, self.heads, self.head).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        scores = self.masked(q * self.head**-0.5 @ k.transpose(-2, -1), q)
        out = torch.softmax(scores, dim=-1) @ v
        return self.out(out.transpose(1, 2).reshape(batch, tokens, width))

    @abstractmethod
    def masked(self, scores: Tensor, query: Tensor) -> Tensor:
        """The scores with what is added to them and masked in them."""


class WindowAttention(Attention):
    """With a bias for each pair of tokens, and a mask for each window of an image or none."""

    mask: Tensor | None

    def __init__(self, width: int, heads: int, window: int, mask: Tensor | None) -> None:
        super().__init__(width, heads)
        self.bias = nn.Parameter(torch.randn(heads, window**2, window**2))
        self.register_buffer("mask", mask)

    def masked(self, scores: Tensor, query: Tensor) -> Tensor:
        scores = scores + self.bias
        if self.mask is None:
            return scores
        batch, *sizes = scores.shape
        windows = (batch // len(self.mask), len(self.mask), *sizes)
        return (scores.view(windows) + self.mask[:, None]).view(batch, *sizes)


class Swin(nn.Module):
    """Blocks over windows of an image, every other one over windows that are shifted by half."""

    def __init__(self, window: int, side: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.window, self.side = window, side
        mask = torch.zeros((side // window) ** 2, window**2, window**2)
        mask[-(side // window) :, : window**2 // 2, window**2 // 2 :] = -100.0
        self.blocks = nn.ModuleList(
            Block(width, WindowAttention(width, heads, window, mask if number % 2 else None))
            for number in range(layers)
        )

    def forward(self, x: Tensor) -> Tensor:
        for number, block in enumerate(self.blocks):
            shift = self.window // 2 if number % 2 else 0
            x = self._merged(block(self._windows(x, shift)), len(x), shift)
        return x

    def _windows(self, x: Tensor, shift: int) -> Tensor:
        batch, _, width = x.shape
        image = torch.roll(x.view(batch, self.side, self.side, width), (-shift, -shift), (1, 2))
        count = self.side // self.window
        tiles = image.view(batch, count, self.window, count, self.window, width)
        return tiles.transpose(2, 3).reshape(-1, self.window**2, width)

    def _merged(self, windows: Tensor, batch: int, shift: int) -> Tensor:
        count, width = self.side // self.window, windows.shape[-1]
        tiles = windows.view(batch, count, count, self.window, self.window, width)
        image = tiles.transpose(2, 3).reshape(batch, self.side, self.side, width)
        return torch.roll(image, (shift, shift), (1, 2)).view(batch, self.side**2, width)


class RelativeAttention(Attention):
    """Scores of positions are a second product, whose rows are shifted against each other."""

    def __init__(self, width: int, heads: int, tokens: int) -> None:
        super().__init__(width, heads)
        self.position = nn.Parameter(torch.randn(heads, 2 * tokens, self.head))

    def masked(self, scores: Tensor, query: Tensor) -> Tensor:
        batch, heads, tokens, _ = scores.shape
        moved = query @ self.position.transpose(-2, -1)
        moved = moved.reshape(batch, heads, 2 * tokens, tokens)[:, :, 1:]
        moved = moved.reshape(batch, heads, tokens, 2 * tokens - 1)[..., :tokens]
        return scores + moved


class DistanceBias(Attention):
    """Causal, and lower by a multiple of the distance, another one for each head."""

    bias: Tensor

    def __init__(self, width: int, heads: int, tokens: int) -> None:
        super().__init__(width, heads)
        places = torch.arange(tokens)
        distance = (places[:, None] - places).float()
        slopes = 2.0 ** -torch.arange(1, heads + 1)
        bias = (-slopes[:, None, None] * distance).masked_fill(distance < 0, -torch.inf)
        self.register_buffer("bias", bias)

    def masked(self, scores: Tensor, query: Tensor) -> Tensor:
        return scores + self.bias
