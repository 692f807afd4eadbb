"""Random programs of ops of few forms, many of which do not depend on each other."""

from __future__ import annotations

import random
from typing import Any

import torch

aten = torch.ops.aten
_SPECIAL = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -3.0, 1e-30)


class Program:
    """A function of its own inputs: pointwise ops, products, views, and writes to an input.

    - `writes`: whether it ends as functional graphs do, with what is copied to inputs, or writes
      in between.
    """

    def __init__(self, seed: int, writes: bool = False) -> None:
        chosen = random.Random(seed)
        torch.manual_seed(seed)
        self._steps: list[Any] = []
        dtypes = (torch.float32, chosen.choice((torch.float32, torch.float64, torch.bfloat16)))
        sizes = ((3, 3), chosen.choice(((3, 3), (0, 3), (1, 1), (2, 3))))
        self.inputs = [self._input(chosen, sizes[n % 2], dtypes[n // 2]) for n in range(4)]
        for _ in range(chosen.randint(15, 50)):
            op = chosen.choice(_OPS)
            for _ in range(chosen.choice((1, 1, 2, 4))):
                self._steps.append((op, *(chosen.randrange(1 << 20) for _ in "abc")))
            if writes and chosen.random() < 0.1:
                self._steps.append((_write, *(chosen.randrange(1 << 20) for _ in "abc")))
        self._outputs = [chosen.randrange(1 << 20) for _ in range(chosen.randint(1, 4))]
        self._joins = chosen.randint(1, 3)

    @staticmethod
    def _input(chosen: random.Random, sizes: Any, dtype: torch.dtype) -> torch.Tensor:
        made = torch.randn(sizes)
        for place in range(made.numel()):
            if chosen.random() < 0.1:
                made.view(-1)[place] = chosen.choice(_SPECIAL)
        return made.to(dtype)

    def __call__(self, *inputs: torch.Tensor) -> Any:
        values = list(inputs)
        for function, a, b, c in self._steps:
            made = function(values, a, b, c, inputs)
            if made is not None:
                values.append(made)
        outs = [values[number % len(values)] for number in self._outputs]
        tail = [one.sum() for one in values[-30:]]
        outs += [torch.stack([t.double() for t in tail]).sum() for _ in range(self._joins)]
        # What a caller has already is another tensor.
        return tuple(one.clone() if any(one is x for x in inputs) else one for one in outs)


def _unary(function: Any) -> Any:
    def step(values: Any, a: int, b: int, c: int, inputs: Any) -> Any:
        return function(values[a % len(values)])

    return step


def _binary(function: Any, factor: bool = False) -> Any:
    def step(values: Any, a: int, b: int, c: int, inputs: Any) -> Any:
        x = values[a % len(values)]
        same = [one for one in values if one.shape == x.shape]
        y = same[b % len(same)]
        return function(x, y, alpha=(1, 1, 2)[c % 3]) if factor else function(x, y)

    return step


def _product(values: Any, a: int, b: int, c: int, inputs: Any) -> Any:
    x = values[a % len(values)]
    fitting = [
        one for one in values if one.ndim == x.ndim == 2 and one.dtype == x.dtype
        and one.shape[0] == x.shape[1]
    ]  # fmt: skip
    if not fitting:
        return None
    y = fitting[b % len(fitting)]
    return torch.mm(x, y) if c % 2 else torch.addmm(y[:1].sum(0), x, y)


def _part(values: Any, a: int, b: int, c: int, inputs: Any) -> Any:
    """A row of values that are stacked: a view that does not begin at 0."""
    x = values[a % len(values)]
    return torch.stack([x, x + 1])[b % 2]


def _turned(values: Any, a: int, b: int, c: int, inputs: Any) -> Any:
    return values[a % len(values)].t()


def _write(values: Any, a: int, b: int, c: int, inputs: Any) -> None:
    target = inputs[a % len(inputs)]
    source = [one for one in values if one.shape == target.shape and one.dtype == target.dtype]
    aten.copy_.default(target, source[b % len(source)])


_OPS = (
    *[_unary(torch.tanh)] * 4,
    *[_unary(torch.sigmoid)] * 3,
    *[_unary(torch.relu)] * 3,
    _unary(torch.neg),
    *[_binary(torch.add, True)] * 3,
    *[_binary(torch.sub, True)] * 2,
    *[_binary(torch.mul)] * 3,
    *[_binary(torch.div)] * 2,
    *[_product] * 5,
    _part,
    _turned,
)

__all__ = ["Program"]
