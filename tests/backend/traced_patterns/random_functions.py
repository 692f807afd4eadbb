"""Random functions of tensors, to trace patterns from."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

_UNARY: Sequence[Callable[[Any], Any]] = (
    torch.sin,
    torch.relu,
    torch.sigmoid,
    torch.tanh,
    torch.abs,
    F.silu,
    F.gelu,
    lambda x: x.float().exp(),
    lambda x: x.to(torch.bfloat16),
    lambda x: x.transpose(0, 1),
    lambda x: x.unsqueeze(1).squeeze(1),
    lambda x: F.softmax(x, -1),
    lambda x: x.sum(-1, keepdim=True),
    lambda x: x.mean(0, keepdim=True),
    lambda x: x.amax(1, keepdim=True),
    lambda x: x.chunk(2, -1)[1],
    lambda x: x[:, 1:],
    lambda x: torch.cat([x, x], 1),
    lambda x: x.reshape(-1).reshape(x.shape),
    lambda x: x.masked_fill(x > 0.5, 0.25),
)
_BINARY: Sequence[Callable[[Any, Any], Any]] = (
    lambda x, y: x + y,
    lambda x, y: x * y,
    lambda x, y: y - x,
    lambda x, y: x / (y.abs() + 1),
    torch.maximum,
    lambda x, y: torch.where(x > 0, x, y),
)
_WITH_NUMBER: Sequence[Callable[[Any, float], Any]] = (
    lambda x, a: x * a,
    lambda x, a: x + a,
    lambda x, a: x.clamp_min(a),
    lambda x, a: torch.pow(x.abs() + a, 2),
)


@dataclass(frozen=True)
class RandomFunction:
    """A function of two tensors of rank 2 and a number; `steps` say what it computes."""

    steps: tuple[tuple[Callable[..., Any], tuple[int, ...]], ...]

    def __call__(self, x: torch.Tensor, y: torch.Tensor, a: float) -> torch.Tensor:
        values: list[Any] = [x, y]
        for function, operands in self.steps:
            inputs = [values[place] for place in operands]
            values.append(function(*inputs, a) if function in _WITH_NUMBER else function(*inputs))
        # Each value has a part in the result, so that nothing is left out.
        result = values[-1].float().sum(-1, keepdim=True)
        for place in self.unread(values):
            result = result + values[place].float().sum()
        return result * a

    def unread(self, values: Sequence[Any]) -> list[int]:
        read = {place for _, operands in self.steps for place in operands}
        return [place for place in range(len(values) - 1) if place not in read]


def random_function(seed: int) -> RandomFunction:
    """The function of a seed. It may not run on every size."""
    chosen = random.Random(seed)
    steps: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
    for number in range(chosen.randint(1, 5)):
        known = range(2 + number)
        kind = chosen.random()
        if kind < 0.5:
            steps.append((chosen.choice(_UNARY), (chosen.choice(known),)))
        elif kind < 0.75:
            steps.append((chosen.choice(_BINARY), (chosen.choice(known), chosen.choice(known))))
        else:
            steps.append((chosen.choice(_WITH_NUMBER), (chosen.choice(known),)))
    return RandomFunction(tuple(steps))


def inputs(rows: int, columns: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Two square-like tensors of one size."""
    made = torch.Generator().manual_seed(seed)
    return (
        torch.randn(rows, columns, generator=made),
        torch.randn(rows, columns, generator=made),
    )
