"""Generated code of what code generation gets wrong where ops write too early or too often."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

Program = Callable[[Any, Any], Any]


def _put(x: Any, v: Any) -> None:
    x.index_put_((torch.tensor([0, 3]),), v)


def _diagonal(x: Any, v: Any) -> Any:
    y = torch.diagonal_scatter(x, x.diagonal())
    x.fill_(2)
    return y


def _slice(x: Any, v: Any) -> Any:
    y = torch.slice_scatter(x, v, 0, 1, 3)
    x.zero_()
    return y


def _select(x: Any, v: Any) -> Any:
    y = torch.select_scatter(x, v[0], 1, 2)
    x.mul_(0)
    return y


def _returned(x: Any, v: Any) -> Any:
    y = x.index_put((torch.tensor([0, 3]),), v)
    x.copy_(y)
    return y


def _int16(x: Any, v: Any) -> Any:
    y = x.view(torch.int16) * 2
    y.sub_(-4)
    x[:, 1:3] = 2
    return y


def _float64(x: Any, v: Any) -> Any:
    y = x.view(torch.float64) + 1
    x.copy_(x.flip(0))
    return y


def _complex(x: Any, v: Any) -> Any:
    y = torch.view_as_complex(x.view(4, 2, 2)) + 1
    x.add_(1)
    return torch.view_as_real(y)


def _own(x: Any, v: Any) -> Any:
    z = x + 1
    y = z.view(torch.int16) * 2
    z[1:3] = v
    return y, z @ x


def _flip(x: Any, v: Any) -> Any:
    _put(x, x[:2] * 3)
    x.add_(x.flip(0))
    return x.sum()


def _roll(x: Any, v: Any) -> Any:
    _put(x, v)
    x.mul_(x.roll(1, 0))
    return x.sum()


def _transposed(x: Any, v: Any) -> Any:
    x[1:3] = v
    x.add_(x.t().clone())
    return x.sum()


def _put_twice(x: Any, v: Any) -> Any:
    _put(x, v)
    x.index_put_((torch.tensor([1, 2]),), x[2:] * 2)
    return x.sum()


def _of_its_own(x: Any, v: Any) -> Any:
    z = x.exp()
    z.index_put_((torch.tensor([0, 3]),), v)
    z.index_put_((torch.tensor([2, 1]),), z[1:3] + 1)
    return z


KINDS: dict[str, list[Program]] = {
    "the result outlives a later write": [_diagonal, _slice, _select, _returned],
    "read through another dtype": [_int16, _float64, _complex, _own],
    "read elsewhere between two writes": [_flip, _roll, _transposed, _put_twice, _of_its_own],
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("kind", KINDS)
def test_as_eager(kind: str, dynamic: bool) -> None:
    """All of a kind in one graph, each of an input of its own: code is generated once."""
    programs = KINDS[kind]

    def program(v: Any, *inputs: Any) -> Any:
        return [one(x, v) for one, x in zip(programs, inputs, strict=True)]

    x = torch.arange(16.0).view(4, 4) / 7
    inputs = [x[:2] + 0.5, *(x + number for number in range(len(programs)))]
    copies = copy.deepcopy(inputs)
    options: Any = {"xductor.on_error": "raise"}
    with torch.no_grad():
        compiled = torch.compile(program, backend="xductor", dynamic=dynamic, options=options)
        found = compiled(*inputs)
        expected = program(*copies)
    torch.testing.assert_close((found, inputs), (expected, copies))
