"""Whether views share elements is told from their types; never told wrongly."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from xductor.ir import Facts
from xductor.ir.inference.value_types import TypeReader
from xductor.ir.storage.overlap import may_overlap, same_elements


def _asked(a: torch.Tensor, b: torch.Tensor, facts: Facts | None = None) -> bool:
    types = TypeReader("post_grad")
    facts = facts or Facts.from_shape_env(ShapeEnv())
    assert may_overlap(types.type_of(a), types.type_of(b), facts) is may_overlap(
        types.type_of(b), types.type_of(a), facts
    )
    return may_overlap(types.type_of(a), types.type_of(b), facts)


BASE = torch.zeros(6, 8)
APART: dict[str, tuple[torch.Tensor, torch.Tensor]] = {
    "rows": (BASE[:3], BASE[3:]),
    "columns": (BASE[:, 0], BASE[:, 7]),
    "halves of columns": (BASE[1:, :4], BASE[:-1, 4:]),
    "every other row": (BASE[::2], BASE[1::2]),
    "every other element": (BASE.view(-1)[::2], BASE.view(-1)[1::2]),
    "transposed columns": (BASE.t()[2:4], BASE[:, 5]),
    "nothing": (BASE[3:3], BASE),
    "another dtype": (BASE.view(torch.int16)[:2], BASE[2:]),
}
TOGETHER: dict[str, tuple[torch.Tensor, torch.Tensor]] = {
    "a shift by one": (BASE[1:], BASE[:-1]),
    "the whole": (BASE, BASE[2, 3]),
    "a row and a column": (BASE[2], BASE[:, 3]),
    "transposed": (BASE[:, :6], BASE[:, :6].t()),
    "another dtype": (BASE.view(torch.int16)[:3], BASE[2:]),
}


@pytest.mark.parametrize("case", APART)
def test_apart(case: str) -> None:
    assert not _asked(*APART[case])


@pytest.mark.parametrize("case", TOGETHER)
def test_together(case: str) -> None:
    assert _asked(*TOGETHER[case])


def test_random_views_are_never_said_to_be_apart_wrongly() -> None:
    generator = random.Random(5)
    storage = torch.arange(64)
    told = 0
    for _ in range(3000):
        views = []
        for _ in range(2):
            rank = generator.randint(0, 3)
            sizes = [generator.randint(0, 3) for _ in range(rank)]
            steps = [generator.choice((0, 1, 2, 3, 4, 6, 8)) for _ in range(rank)]
            views.append(storage.as_strided(sizes, steps, generator.randint(0, 8)))
        shared = set(views[0].flatten().tolist()) & set(views[1].flatten().tolist())
        apart = not _asked(*views)
        assert not (apart and shared), [(v.shape, v.stride(), v.storage_offset()) for v in views]
        told += apart
    assert told > 500


def test_symbolic_sizes() -> None:
    mode = FakeTensorMode(shape_env=ShapeEnv(), static_shapes=False)
    x: Any = mode.from_tensor(torch.zeros(9, 12))
    facts = Facts.from_shape_env(mode.shape_env)  # type: ignore[arg-type]
    with mode:
        assert not _asked(x[:2], x[2:], facts)
        assert not _asked(x[:, :3], x[:, 3:], facts)
        assert _asked(x[1:], x[:-1], facts)
        assert _asked(x[:, 1:], x[:, :-1], facts)


def test_same_elements() -> None:
    types, facts = TypeReader("post_grad"), Facts.from_shape_env(ShapeEnv())

    def same(a: torch.Tensor, b: torch.Tensor) -> bool:
        return same_elements(types.type_of(a), types.type_of(b), facts)

    assert same(BASE[1:3], BASE[1:, :][:2])
    assert not same(BASE[1:3], BASE[2:4])
    assert not same(BASE[:6, :6], BASE[:6, :6].t())
    assert not same(BASE, BASE.view(torch.int32))
