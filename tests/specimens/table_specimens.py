"""Programs with tables that depend on no input: for `fold_tables`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms.post_grad.fold_tables import FoldTables

SIZE = 40


def _distances(length: int) -> torch.Tensor:
    places = torch.arange(length)
    return places[:, None] - places[None]


def _buckets(length: int) -> torch.Tensor:
    return (torch.log(_distances(length).abs() + 1.0) * 3).to(torch.int64)


def _frequencies(length: int) -> torch.Tensor:
    return torch.arange(length)[:, None] / 10000 ** (torch.arange(length) / length)


#: Tables of so many rows and columns.
TABLES: Mapping[str, Callable[[int], torch.Tensor]] = {
    "buckets of distances": _buckets,
    "sines": lambda length: _frequencies(length).sin(),
    "sines in 16 bits": lambda length: _frequencies(length).cos().bfloat16(),
    "decay": lambda length: torch.exp(-0.1 * _distances(length).tril()),
    "running sums": lambda length: torch.ones(length, length).cumsum(0),
    "sorted": lambda length: torch.sort(-_distances(length), 1)[1],
    "a product": lambda length: torch.eye(length) @ torch.ones(length, length),
    "infinities": lambda length: torch.log(_distances(length).clamp(min=0) * 1.0),
}
#: What is done with a table and an input of the same sizes.
USES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "added": lambda x, table: x + table,
    "turned": lambda x, table: x * table.t(),
    "expanded": lambda x, table: x.expand(3, *x.shape) + table.expand(3, *table.shape),
    "twice": lambda x, table: (x + table, x - table.t()),
    "compared": lambda x, table: torch.where(table > 1, x, -x),
    "an index": lambda x, table: x[table.long().clamp(0, 3)].sum(-1),
    "returned": lambda x, table: (table, x + table),
    "a view returned": lambda x, table: (table[0], x + table),
    "written": lambda x, table: x + table.mul_(2),
}


def tables() -> Iterator[Specimen]:
    """Every use of every table, of 1600 elements."""
    for what, table in TABLES.items():
        for how, use in USES.items():

            def run(x: torch.Tensor, table: Any = table, use: Any = use) -> Any:
                return use(x, table(SIZE))

            module = traced(run, torch.ones(SIZE, SIZE), stage="post_grad")
            if module is not None:
                yield Specimen(f"{what}, {how}", module, FoldTables())


def random_program(seed: int) -> Callable[[torch.Tensor], Any]:
    """Some tables of some sizes, used one after the other."""

    def run(x: torch.Tensor) -> Any:
        chance = random.Random(seed)
        results: list[Any] = []
        for _ in range(chance.randint(1, 4)):
            table = chance.choice(list(TABLES.values()))(SIZE)
            if chance.random() < 0.3:
                table = chance.choice(list(TABLES.values()))(SIZE) + table
            results.append(chance.choice(list(USES.values()))(x, table))
        return results

    return run


__all__ = ["SIZE", "TABLES", "USES", "random_program", "tables"]
