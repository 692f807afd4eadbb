"""`fuse_split_linear_add_pass`: spellings, values, gradients, and what is not joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import xductor
from tests.before_autograd.captured import graph_module
from tests.transforms.groups.test_before_autograd import check, count
from tests.transforms.groups.test_before_autograd import tensor as made
from xductor.transforms.matmul.fuse_split_linear_add_pass import FuseSplitLinearAddPass

ONE = FuseSplitLinearAddPass()


def tensor(*shape: int) -> torch.Tensor:
    return made(*shape, dtype=torch.float64)


x, u, v, w = tensor(4, 20, 6), tensor(3, 1), tensor(3, 2), tensor(3, 3)
a, b = tensor(3), tensor(3) + 1


def _products(x: torch.Tensor, u: Any, v: Any, w: Any) -> list[torch.Tensor]:
    one, two, three = x.split([1, 2, 3], -1)
    return [F.linear(one, u), F.linear(two, v), F.linear(three, w)]


def _sliced(x: torch.Tensor, u: Any, v: Any, w: Any) -> torch.Tensor:
    return F.linear(x[..., :1], u) + (F.linear(x[..., 1:3], v) + F.linear(x[..., 3:], w))


def _narrowed(x: torch.Tensor, u: Any, v: Any, w: Any) -> torch.Tensor:
    last = torch.matmul(torch.narrow(x, 2, 3, 3), w.t())
    return torch.add(last, F.linear(x.narrow(-1, 1, 2), v)).add(x.select(2, 0).unsqueeze(2) @ u.T)


def _biased(x: torch.Tensor, u: Any, v: Any, w: Any, a: Any, b: Any) -> torch.Tensor:
    one, two, three = torch.split(x, [1, 2, 3], dim=2)
    return sum([F.linear(one, u, a), F.linear(two, v), F.linear(three, w, bias=b)])  # type: ignore[return-value]


SPELLINGS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], int]] = {
    "split": (lambda *given: sum(_products(*given)) * 2, (x, u, v, w), 1),
    "slices": (_sliced, (x, u, v, w), 1),
    "narrow, select and transposes": (_narrowed, (x, u, v, w), 1),
    "biases": (_biased, (x, u, v, w, a, b), 1),
    "chunks": (
        lambda x, v, w: sum(F.linear(one, w) for one in x.chunk(2, -1)) + F.linear(x[..., 1:3], v),
        (x, v, w), 2),
    "columns": (
        lambda x, v, w, b: x[:, 2:5] @ w + torch.addmm(b, x[:, :2], v.t()), (x[0], v, w, b), 1),
    "one column": (
        lambda x, u, v: x[..., :1] @ u.T + x[..., 1:3] @ v.T, (x, u, v), 1),
    "another term": (lambda x, u, v, w: _sliced(x, u, v, w) + x[..., :3] + 1.5, (x, u, v, w), 1),
    "in another order": (
        lambda *given: (made := _products(*given))[2] + made[0] + made[1], (x, u, v, w), 1),
    "a part of it": (
        lambda x, u, v, w: F.linear(x[..., 1:3], v) + F.linear(x[..., 3:], w), (x, u, v, w), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("asks", [True, False])
def test_every_spelling(name: str, asks: bool) -> None:
    function, inputs, left = SPELLINGS[name]
    given = [one.detach().requires_grad_(asks) for one in inputs]
    module = check(ONE, lambda *given: function(*given) * 1, 1, *given)
    products = [count(module, f"{one}.default") for one in ("linear", "matmul", "addmm")]
    assert sum(products) == left


def test_sixteen_bits_are_rounded_less_often() -> None:
    given = [made(*one.shape, dtype=torch.bfloat16) for one in (x, u, v, w, a, b)]
    check(ONE, lambda *given: _biased(*given) * 1, 1, *given)


def test_symbolic_sizes() -> None:
    gm = graph_module(lambda *given: sum(_products(*given)), x, u, v, w, dynamic=True)
    module = xductor.from_fx(gm, stage="pre_grad")
    ONE.rewrite(module)
    xductor.verify(module, level="types")


STAYS: dict[str, Callable[..., Any]] = {
    "another reader": lambda x, u, v, w: (
        (made := _products(x, u, v, w))[0] + made[1] * 1.0 + made[2].sin() + made[0].exp()
    ),
    "of two tensors": lambda x, u, v, w: F.linear(x[..., :1], u) + F.linear(x.sin()[..., 1:3], v),
    "not beside each other": lambda x, u, v, w: F.linear(x[..., :1], u) + F.linear(x[..., 3:], w),
    "a factor": lambda x, u, v, w: torch.add(
        F.linear(x[..., :1], u), F.linear(x[..., 1:3], v), alpha=2
    ),
    "other rows": lambda x, u, v, w: F.linear(x[:1, :, :1], u) + F.linear(x[..., 1:3], v),
    "one piece twice": lambda x, u, v, w: F.linear(x[..., 1:3], v) + F.linear(x[..., 1:3], v * 2),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name: str) -> None:
    check(ONE, STAYS[name], 0, x, u, v, w)


def test_integers_and_frozen_weights_stay() -> None:
    whole = [(one * 4).long().detach() for one in (x, u, v, w)]
    check(ONE, _sliced, 0, *whole)
    module = check(ONE, _sliced, 1, x, u.detach(), v, w)
    assert count(module, "linear.default") == 2


def test_writes_and_modes() -> None:
    def written(x: torch.Tensor, u: Any, v: Any) -> Any:
        x = x * 2
        first = F.linear(x[..., :1], u)
        with torch.no_grad():
            x.mul_(3)
        return first + F.linear(x[..., 1:3], v)

    def cut_without_grad(x: torch.Tensor, u: Any, v: Any) -> Any:
        y = x * 2
        with torch.no_grad():
            one = y[..., :1]
        return F.linear(one, u) + F.linear(y[..., 1:3], v)

    def sum_written(x: torch.Tensor, u: Any, v: Any) -> Any:
        return (F.linear(x[..., :1], u) + F.linear(x[..., 1:3], v)).add_(1)

    plain = [one.detach() for one in (x, u, v)]
    check(ONE, written, 0, *plain)
    check(ONE, cut_without_grad, 0, x, u, v)
    check(ONE, sum_written, 1, x, u, v)


def test_it_is_done_where_it_pays() -> None:
    given = [one.detach() for one in (x[:1, :3], u, v, w)]
    check(ONE, _sliced, 1, *given)
    few = [x[0, :1].detach(), *[torch.cat([one.detach()] * 9) for one in (u, v, w)]]
    check(ONE, _sliced, 0, *few)
    check(FuseSplitLinearAddPass(freezing=True), _sliced, 1, *few)
