"""Programs in which a small tensor that is dear to compute meets large ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms.post_grad.realize_before_expand import RealizeBeforeExpand

#: The pass, where graphs of a few elements are enough.
SMALL = RealizeBeforeExpand(devices=("cpu",), elements=256)
ROWS, COLUMNS, MANY = 6, 8, 16


def _narrow(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.prims.convert_element_type.default(x, torch.bfloat16)


def _whole(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.prims.convert_element_type.default(x.nan_to_num().clamp(0, 5), torch.int64)


def _buckets(x: torch.Tensor) -> torch.Tensor:
    return _whole(torch.log(x.abs() + 1.0) * 3)


#: Of a matrix of `ROWS` and `COLUMNS`, one of the same sizes.
SMALL_ONES: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sines": torch.sin,
    "cosines in 16 bits": lambda x: _narrow(x.cos()),
    "decay": lambda x: torch.exp(-x.abs()),
    "buckets": _buckets,
    "of two": lambda x: x.sin() * x.cos() + 1,
    "a power": lambda x: 2.0**x,
    "NaN": lambda x: torch.log(x),
    "of a view": lambda x: x.t().exp().t(),
}
#: What is done with it, and with an input of `MANY` such matrices.
USES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "multiplied": lambda x, small: x * small,
    "expanded": lambda x, small: x - small.unsqueeze(0).expand(MANY, ROWS, COLUMNS),
    "twice": lambda x, small: (x + small, x * 2 - small[None]),
    "turned": lambda x, small: x.transpose(1, 2) + small.t(),
    "compared": lambda x, small: torch.where(small > 1, x, -x),
    "an index": lambda x, small: x.gather(2, _whole(small).expand(MANY, ROWS, COLUMNS)),
    "reduced": lambda x, small: (x * small).sum(-1),
    "returned too": lambda x, small: (small, x * small),
}


def realized() -> Iterator[Specimen]:
    """Every use of every small tensor."""
    for what, small in SMALL_ONES.items():
        for how, use in USES.items():

            def run(x: torch.Tensor, y: torch.Tensor, small: Any = small, use: Any = use) -> Any:
                return use(x, small(y))

            given = torch.ones(MANY, ROWS, COLUMNS), torch.ones(ROWS, COLUMNS)
            module = traced(run, *given, stage="post_grad")
            if module is not None:
                yield Specimen(f"{what}, {how}", module, SMALL, provable=True)


def random_program(seed: int) -> Callable[[torch.Tensor, torch.Tensor], list[Any]]:
    """Some small tensors, used one after the other, some made of others."""

    def run(x: torch.Tensor, y: torch.Tensor) -> list[Any]:
        chance = random.Random(seed)
        results: list[Any] = []
        for _ in range(chance.randint(1, 4)):
            small = chance.choice(list(SMALL_ONES.values()))(y)
            if chance.random() < 0.4:
                small = chance.choice(list(SMALL_ONES.values()))(y) + small
            if chance.random() < 0.3:
                y = y + small
            results.append(chance.choice(list(USES.values()))(x, small))
        return results

    return run


__all__ = ["COLUMNS", "MANY", "ROWS", "SMALL", "SMALL_ONES", "USES", "random_program", "realized"]
