"""Graphs with ops that do nothing for the results: unused values, marks and assertions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import torch

from tests.specimens.order_specimens import STEPS
from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms import TypedPass
from xductor.transforms.post_grad.dead_code_elimination import DeadCodeElimination
from xductor.transforms.post_grad.remove_assert_ops import RemoveAssertOps
from xductor.transforms.post_grad.remove_profiler_ops import RemoveProfilerOps

aten = torch.ops.aten
profiler = torch.ops.profiler

SEEDS = 66

#: What a program does between two steps, given the generator of its choices and a value.
Between = Callable[[random.Random, torch.Tensor], None]


def _asserts(chance: random.Random, value: torch.Tensor) -> None:
    aten._assert_tensor_metadata.default(value, None, None, value.dtype)
    if chance.random() < 0.3:
        aten._assert_async.msg((value == value).any() | True, "never")


def _marks(chance: random.Random, value: torch.Tensor) -> None:
    begun = profiler._record_function_enter_new.default("range")
    if chance.random() < 0.5:
        value.sin()
    profiler._record_function_exit._RecordFunction(begun)


def _wastes(chance: random.Random, value: torch.Tensor) -> None:
    """Unused values, unused halves of results, and a write that counts though nobody reads it."""
    waste = chance.randrange(4)
    if waste == 0:
        aten.relu(value).cos()
    elif waste == 1:
        aten.max.dim(value, 0)[1].to(torch.float32)
    elif waste == 2:
        aten.topk(value.t(), 1, 1)
    else:
        value.mul_(2)


def _program(seed: int, between: Between) -> Callable[..., Any]:
    def run(x: torch.Tensor, y: torch.Tensor) -> Any:
        chance = random.Random(seed)
        values: list[torch.Tensor] = [x + 0.5, y * 2]
        for _ in range(chance.randint(3, 10)):
            between(chance, chance.choice(values))
            step = chance.choice(STEPS)
            values.append(step(chance.choice(values), chance.choice(values)))
        return chance.sample(values, min(3, len(values)))

    return run


def _graphs(one: TypedPass, between: Between, *, provable: bool) -> Iterator[Specimen]:
    for seed in range(SEEDS):
        inputs = (torch.ones(3, 3), torch.ones(3, 3))
        dynamic = seed % 3 == 2
        module = traced(_program(seed, between), *inputs, dynamic=dynamic)
        if module is not None:
            title = f"program {seed}{', symbolic' if dynamic else ''}"
            yield Specimen(title, module, one, provable=provable and dynamic)


def unused() -> Iterator[Specimen]:
    """For `dead_code_elimination`."""
    return _graphs(DeadCodeElimination(), _wastes, provable=False)


def assertions() -> Iterator[Specimen]:
    """For `remove_assert_ops`."""
    return _graphs(RemoveAssertOps(), _asserts, provable=False)


def marks() -> Iterator[Specimen]:
    """For `remove_profiler_ops`."""
    return _graphs(RemoveProfilerOps(), _marks, provable=False)


__all__ = ["assertions", "marks", "unused"]
