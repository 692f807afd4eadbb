"""Assignments to slices compile under `verify="types"`, in inference and in training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.backend.run_as_fx.without_codegen import without_codegen

CHECKED: Any = {"xductor.on_error": "raise", "xductor.verify": "types"}


def _row(x: Any) -> Any:
    y = torch.zeros(8, 8)
    y[1] = x
    return y


def _number(x: Any) -> Any:
    y = torch.zeros(8, 8)
    y[1] = 1.0
    return y + x


def _columns(x: Any) -> Any:
    y = torch.zeros(8, 8)
    y[:, 1:3] = x[:2]
    return y


def _columns_of_a_transpose(x: Any) -> Any:
    y = torch.zeros(8, 8).t() + 0
    y[:, 1:3] = x[:2]
    return y.t()


def _row_from_row(x: Any) -> Any:
    y = x.view(2, 4) + 0
    y[1].copy_(y[0])
    return y


def _mask_scores(x: Any) -> Any:
    scores = x.view(2, 4) * 2
    scores[..., 2:] = -torch.inf
    return scores.softmax(-1)


def _folded(x: Any) -> Any:
    mask = torch.ones(8, 8, dtype=torch.bool)
    mask[2] = False
    return torch.where(mask, x, 0.0)


def _diagonals(x: Any) -> Any:
    y = torch.zeros(8, 8)
    y.diagonal(1).copy_(x[1:])
    y.diagonal(-2)[1:] = 2
    return y


def _as_strided(x: Any) -> Any:
    y = torch.zeros(18)
    y.as_strided((8,), (2,), 1).copy_(x)
    return y


def _empty_rows(x: Any) -> Any:
    y = x.new_empty(3, 8)
    y[0], y[1], y[2] = x, x * 2, x * 3
    return y


def _cast(x: Any) -> Any:
    y = torch.zeros(8, 8, dtype=torch.bfloat16)
    y[3] = x
    return y


def _strided_rows(x: Any) -> Any:
    y = torch.zeros(8, 8)
    y[::2, 3] = x[:4]
    y[3].add_(x)
    y[4] *= 2
    return y


FRESH = (
    _row, _number, _columns, _columns_of_a_transpose, _row_from_row, _mask_scores, _folded,
    _diagonals, _as_strided, _empty_rows, _cast, _strided_rows,
)  # fmt: skip
SYMBOLIC = (_row, _columns, _row_from_row, _folded, _strided_rows)
MODES = [(form, training, False) for form in FRESH for training in (False, True)]
MODES += [(form, training, True) for form in SYMBOLIC for training in (False, True)]


@pytest.mark.parametrize(("form", "training", "dynamic"), MODES)
def test_into_a_fresh_tensor(form: Callable[..., Any], training: bool, dynamic: bool) -> None:
    inputs = [torch.arange(8.0).requires_grad_(training) for _ in range(2)]
    with without_codegen():
        compiled = torch.compile(form, backend="xductor", options=CHECKED, dynamic=dynamic)
        found, expected = compiled(inputs[0]), form(inputs[1])
        torch.testing.assert_close(found, expected)
        if expected.requires_grad:
            found.float().sum().backward()
            expected.float().sum().backward()
            torch.testing.assert_close(inputs[0].grad, inputs[1].grad)


def _rows_of_input(x: Any) -> Any:
    x[1] = x[0]
    return x + 1


def _input_through_views(x: Any) -> Any:
    x.t()[1:3] = x[:2, :1]
    x[2:].fill_(3.0)
    x[::2] = 1
    return x * 2


def _cache(cache: Any, k: Any) -> Any:
    cache[:, :, 3:4] = k
    return cache.sum(-1)


def _cache_at(cache: Any, k: Any) -> Any:
    cache[:, :, 2].copy_(k[:, :, 0])
    return cache[:, :, :3] * 2


INPUTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "rows": (_rows_of_input, (torch.arange(16.0).view(4, 4),)),
    "through views": (_input_through_views, (torch.arange(16.0).view(4, 4),)),
    "a cache of keys": (_cache, (torch.zeros(1, 2, 8, 4), torch.ones(1, 2, 1, 4))),
    "a place in a cache": (_cache_at, (torch.zeros(1, 2, 8, 4), torch.ones(1, 2, 1, 4))),
}


@pytest.mark.parametrize("form", INPUTS)
def test_into_an_input(form: str) -> None:
    function, example = INPUTS[form]
    ours, theirs = ([x.clone() for x in example] for _ in range(2))
    with without_codegen():
        found = torch.compile(function, backend="xductor", options=CHECKED)(*ours)
    torch.testing.assert_close(found, function(*theirs))
    torch.testing.assert_close(ours, theirs)
