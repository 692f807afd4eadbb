"""`merge_splits_pass` on every kind of split, and where their pieces are not those of one split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import xductor
from tests.before_autograd.captured import graph_module
from xductor.transforms.pieces.pre_grad.merge_splits_pass import MergeSplitsPass

Cut = Callable[[torch.Tensor], Any]
CUBE, VECTOR = (6, 6, 6), (12,)


def _twice(first: Cut, second: Cut, place: int) -> Callable[[torch.Tensor], list[torch.Tensor]]:
    def function(x: torch.Tensor) -> list[torch.Tensor]:
        pieces = first(x)
        rest = [one.sin() for number, one in enumerate(pieces) if number != place]
        return [*rest, *[one * 2 for one in second(pieces[place])]]

    return function


MERGED: dict[str, tuple[Cut, Cut, int, tuple[int, ...]]] = {
    "tensor_split": (
        lambda x: torch.tensor_split(x, 2, 1),
        lambda a: a.tensor_split(3, -2),
        1,
        CUBE,
    ),
    "indices": (lambda x: x.tensor_split((2, 4), 1), lambda a: a.tensor_split([1], 1), 1, CUBE),
    "hsplit": (lambda x: torch.hsplit(x, 2), lambda a: a.split(1, 1), 0, CUBE),
    "vsplit": (lambda x: x.vsplit([2]), lambda a: torch.vsplit(a, 2), 1, CUBE),
    "dsplit": (lambda x: x.dsplit(2), lambda a: torch.dsplit(a, [1]), 1, CUBE),
    "of a vector": (lambda x: x.hsplit(2), lambda a: a.tensor_split(3), 1, VECTOR),
    "empty pieces": (lambda x: x.hsplit([0, 5]), lambda a: a.tensor_split(8), 1, VECTOR),
}
LEFT: dict[str, tuple[Cut, Cut, int, tuple[int, ...]]] = {
    "pieces that overlap": (lambda x: x.tensor_split((4, 2), 1), lambda a: a.split(1, 1), 0, CUBE),
    "in a piece": (lambda x: x.split(3, 1), lambda a: a.tensor_split((2, 1), 1), 0, CUBE),
    "other dims": (lambda x: x.hsplit(2), lambda a: a.vsplit(2), 1, CUBE),
}


def _merged(function: Any, x: torch.Tensor) -> tuple[int, Any, Any]:
    gm = graph_module(function, x)
    module = xductor.from_fx(gm, stage="pre_grad")
    count = MergeSplitsPass().rewrite(module)
    xductor.verify(module, level="types")
    return count, gm, xductor.to_fx(module)


def _run(gm: Any, x: torch.Tensor) -> list[torch.Tensor]:
    leaf = x.detach().clone().requires_grad_()
    found = list(gm(leaf))
    total: Any = sum((one * (place + 1)).sum() for place, one in enumerate(found))
    return [*found, *torch.autograd.grad(total, leaf)]


@pytest.mark.parametrize("name", {**MERGED, **LEFT})
def test_every_kind_of_split(name: str) -> None:
    first, second, place, shape = {**MERGED, **LEFT}[name]
    x = torch.randn(shape)
    count, gm, after = _merged(_twice(first, second, place), x)
    assert count == (name in MERGED)
    for one, other in zip(_run(gm, x), _run(after, x), strict=True):
        assert torch.equal(one, other)
        assert one.stride() == other.stride()


@pytest.mark.parametrize("asks", [True, False])
def test_slices_that_are_written_stay(asks: bool) -> None:
    """Autograd lets nobody write to a piece of a split, but does to a slice."""

    def function(x: torch.Tensor) -> list[torch.Tensor]:
        x = x * 1
        first, second = x.tensor_split(2, 1)
        a, b, c = second.tensor_split(3, 1)
        a.add_(1)
        return [first * 1, a * 2, b, c * 3]

    x = torch.randn(CUBE, requires_grad=asks)
    count, gm, after = _merged(function, x)
    assert not count
    for one, other in zip(_run(gm, x), _run(after, x), strict=True):
        assert torch.equal(one, other)
