"""Graphs for the passes that choose an order: `stable_topological_sort`, `reorder_for_locality`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.ir import OutputOp, entry_graph
from xductor.transforms.analysis.block_order import arrange
from xductor.transforms.post_grad.reorder_for_locality import ReorderForLocality
from xductor.transforms.post_grad.stable_topological_sort import StableTopologicalSort

aten = torch.ops.aten

STEPS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a.sin(),
    lambda a, b: a.t().clone(),
    lambda a, b: aten.max.dim(a, 0, True)[0] + b,
    lambda a, b: torch.where(aten.topk(a, 2, 1)[1].sum() > 2, a, b),
    lambda a, b: torch.cat([a, b])[: len(a)],
    lambda a, b: a @ b,
)
SEEDS = 60


def program(seed: int) -> Callable[..., Any]:
    """A program of three to twelve steps over two inputs, which returns up to three values."""

    def run(x: torch.Tensor, y: torch.Tensor) -> Any:
        chance = random.Random(seed)
        values: list[torch.Tensor] = [x, y]
        for _ in range(chance.randint(3, 12)):
            step = chance.choice(STEPS)
            values.append(step(chance.choice(values), chance.choice(values)))
        return chance.sample(values[2:], min(3, len(values) - 2))

    return run


def shuffled(module: ModuleOp, seed: int) -> ModuleOp:
    """A copy whose ops stand in a random order, with the output last."""
    copy = module.clone()
    block = entry_graph(copy).block
    ops: list[Any] = [op for op in block.ops if not isinstance(op, OutputOp)]
    random.Random(seed).shuffle(ops)
    arrange(block, [*ops, entry_graph(copy).output])
    return copy


def orders() -> Iterator[Specimen]:
    """Programs with shuffled ops, each compared with the program before it was shuffled."""
    for seed in range(SEEDS):
        inputs = (torch.ones(3, 3), torch.ones(3, 3))
        module = traced(program(seed), *inputs, dynamic=seed % 3 == 2)
        if module is not None:
            yield Specimen(
                f"program {seed}",
                module,
                StableTopologicalSort(),
                given=shuffled(module, seed),
            )


def localities() -> Iterator[Specimen]:
    """Programs as they were traced, with writes to their inputs at the end of every second one."""
    for seed in range(2 * SEEDS):
        inputs = (torch.ones(3, 3), torch.ones(3, 3))
        module = traced(_writing(seed), *inputs, dynamic=seed % 3 == 2)
        if module is not None:
            yield Specimen(f"program {seed}", module, ReorderForLocality())


def _writing(seed: int) -> Callable[..., Any]:
    def run(x: torch.Tensor, y: torch.Tensor) -> Any:
        results = program(seed)(x, y)
        if seed % 2:
            x.copy_(x.cos())
            y.add_(1)
        return results

    return run


__all__ = ["localities", "orders", "program", "shuffled"]
