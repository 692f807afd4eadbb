"""`cat_slice_cat`: when the beginning of a cat, put behind it, is one of the first tensor."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.transforms.post_grad.cat_slice_cat import CatSliceCat

aten = torch.ops.aten
X, Y = torch.randn(3, 4), torch.randn(3, 6)
X[0, 0], X[0, 1], Y[0, 0] = -0.0, float("nan"), float("inf")


def _joined(
    xs: Any, end: int, *, start: int = 0, dim: int = 1, cut: int = 1, along: int = 1
) -> Any:
    first = torch.cat(xs, dim)
    return torch.cat([first, aten.slice.Tensor(first, cut, start, end)], along)


def _read_elsewhere(x: Any, y: Any) -> Any:
    first = torch.cat([x, y], 1)
    return first, torch.cat([first, aten.slice.Tensor(first, 1, 0, 2)], 1)


@pytest.mark.parametrize(
    ("function", "applied"),
    [
        (lambda x, y: _joined([x, y], 3), 1),
        (lambda x, y: _joined([x, y], 4), 1),
        (lambda x, y: _joined([x, y], 3, start=1), 1),
        (lambda x, y: _joined([x, y], 2, dim=-1, cut=1, along=-1), 1),
        (lambda x, y: _joined([x, y, x], 4), 1),
        (lambda x, y: _joined([x], 2), 1),
        (lambda x, y: _joined([x, y], 0), 1),
        (lambda x, y: _joined([x, y], 5), 0),
        (lambda x, y: _joined([x, y], 2**63 - 1), 0),
        (lambda x, y: _joined([x, y], -7), 0),
        (lambda x, y: _joined([x, y], 3, cut=0, along=0), 0),
        (lambda x, y: _joined([x, y.double()], 3), 0),
        (lambda x, y: _joined([x.double(), y], 3), 0),
        (lambda x, y: _joined([torch.ones(0), x], 0), 0),
        (_read_elsewhere, 0),
    ],
)
def test_where_it_may_be_one_cat(trace: Any, function: Any, applied: int) -> None:
    case = trace(function, X, Y)
    assert case.run(CatSliceCat) == applied
    case.check_values(X, Y)


def test_the_result_is_no_alias(trace: Any) -> None:
    case = trace(lambda x: _joined([x], 0), X)
    case.run(CatSliceCat)
    case.check_values(X)


@pytest.mark.parametrize(("end", "applied"), [(2, 1), (5, 0)])
def test_sizes_along_other_dims_may_be_any(trace: Any, end: int, applied: int) -> None:
    def function(x: Any, y: Any) -> Any:
        return _joined([x[:, :4], y[:, :4]], end)

    case = trace(function, X, Y, dynamic=True)
    assert case.run(CatSliceCat) in (applied, 0)
    case.check_values(X, Y)
