"""Programs that compute the same several times: for `common_subexpression_elimination`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms.post_grad.common_subexpression_elimination import (
    CommonSubexpressionElimination,
)

aten, prims = torch.ops.aten, torch.ops.prims

Step = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

#: Steps on two matrices of one size, which they keep. Numbers differ by type or sign of zero.
STEPS: tuple[Step, ...] = (
    lambda a, b: a + b,
    lambda a, b: a * 1,
    lambda a, b: a * 1.0,
    lambda a, b: a + -0.0,
    lambda a, b: a - 0.0,
    lambda a, b: a.t(),
    lambda a, b: a.unsqueeze(0)[0],
    lambda a, b: a.t().reshape(-1).reshape(a.shape),
    lambda a, b: a.clone(),
    lambda a, b: a[:1].expand(a.shape),
    lambda a, b: aten.max.dim(a, 0, True)[0] + b,
    lambda a, b: torch.where(aten.topk(a, 2, 1)[1].sum() > 2, a, b),
    lambda a, b: torch.cat(a.split(1)),
    lambda a, b: a + torch.arange(a.shape[1]),
    lambda a, b: a.cumsum(0),
    lambda a, b: torch.empty_like(a).copy_(b),
)
SEEDS = 120


class Program:
    """A program of two matrices, the same for the same seed; few steps, taken again and again.

    - `writes`: now and then it writes to a value.
    """

    def __init__(self, seed: int, *, writes: bool) -> None:
        self.seed = seed
        self.writes = writes

    def __call__(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        chance = random.Random(self.seed)
        steps: Sequence[Step] = chance.sample(STEPS, 3)
        values = [x, y]
        for _ in range(chance.randint(4, 14)):
            values.append(chance.choice(steps)(chance.choice(values), chance.choice(values[:3])))
            if self.writes and chance.random() < 0.1:
                written = chance.choice([one for one in values if 0 not in one.stride()])
                written.mul_(2)
        kept = chance.sample(values[2:], min(chance.randint(1, 4), len(values) - 2))
        return [one if chance.random() < 0.5 else one * 3 for one in kept]


def equal_ops() -> Iterator[Specimen]:
    """Random programs, static and symbolic, of several dtypes."""
    one = CommonSubexpressionElimination()
    for seed in range(SEEDS):
        dtype = (torch.float32, torch.bfloat16, torch.int64)[seed % 3]
        dynamic = seed % 4 == 0
        inputs = (torch.ones(3, 3, dtype=dtype), torch.ones(3, 3, dtype=dtype))
        module = traced(Program(seed, writes=False), *inputs, dynamic=dynamic)
        if module is not None:
            sizes = "symbolic" if dynamic else "static"
            provable = seed < 24 and dtype is torch.float32
            yield Specimen(f"{seed}, {dtype}, {sizes}", module, one, provable=provable)


__all__ = ["SEEDS", "STEPS", "Program", "equal_ops"]
