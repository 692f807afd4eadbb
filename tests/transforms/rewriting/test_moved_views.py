"""What comes to begin elsewhere in a storage: views of it are told, who sees it keeps it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import aten, verify
from xductor.transforms import Rewrite, Tensor, all_of


class CatOfNeighbours(Rewrite):
    """Two slices behind each other as one."""

    stage = "post_grad"

    def pattern(self, x: Tensor, start: int, seam: int, other: int, end: int) -> Any:
        return aten.cat([aten.slice(x, 0, start, seam), aten.slice(x, 0, other, end)], 0)

    def where(self, x: Tensor, start: int, seam: int, other: int, end: int) -> Any:
        size = x.shape[0]
        return all_of(start >= 0, start <= seam, seam == other, seam <= end, end <= size)

    def replacement(self, x: Tensor, start: int, end: int) -> Any:
        return aten.slice(x, 0, start, end)


def _neighbours(x: Any) -> Any:
    return torch.cat([x[1:2], x[2:4]])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: _neighbours(x).t() + 1,
        lambda x: _neighbours(x)[1:].t()[1] + 1,
        lambda x: [piece + 1 for piece in _neighbours(x).split(1)],
        lambda x: torch.ops.aten.slice(_neighbours(x), 1, 3).sum(1),
        lambda x: (_neighbours(x).view(-1) + 1, _neighbours(x).unbind(1)[1] * 2),
    ],
)
def test_views_of_it_are_made_again(function: Any, trace: Any, special: Any) -> None:
    x = special(5, 3)
    case = trace(function, x, stage="post_grad")
    assert case.run(CatOfNeighbours) > 0
    verify(case.module, "types")
    case.check_values(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: _neighbours(x + 1),
        lambda x: _neighbours(x + 1).t(),
        lambda x: torch.as_strided(_neighbours(x + 1), (2,), (1,), 0) + 1,
        lambda x: _neighbours(x + 1).t().add_(1) * 2,
    ],
    ids=["returned", "a view returned", "read by offset", "written"],
)
def test_who_sees_it_keeps_it(function: Any, trace: Any, special: Any) -> None:
    x = special(5, 3)
    case = trace(function, x, stage="post_grad")
    assert case.run(CatOfNeighbours) == 0
    case.check_values(x)
