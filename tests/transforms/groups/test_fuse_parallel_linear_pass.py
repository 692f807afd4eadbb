"""`fuse_parallel_linear_pass`: spellings, values, gradients, and what is not joined."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

import xductor
from tests.before_autograd.captured import graph_module
from tests.transforms.groups.test_before_autograd import _captured, check, count
from tests.transforms.groups.test_before_autograd import tensor as made
from xductor.transforms.groups.fuse_parallel_linear_pass import FuseParallelLinearPass

aten = torch.ops.aten


def tensor(*shape: int) -> torch.Tensor:
    return made(*shape, dtype=torch.float64)


JOIN = FuseParallelLinearPass()
x, q, k, v = tensor(4, 32, 8), tensor(6, 8), tensor(2, 8), tensor(3, 8)
qt, kt, a, b = tensor(8, 6), tensor(8, 2), tensor(6), tensor(2)

SPELLINGS: dict[str, tuple[Any, tuple[torch.Tensor, ...]]] = {
    "functions": (lambda x, q, k, v: [F.linear(x, one) * 2 for one in (q, k, v)], (x, q, k, v)),
    "with biases": (lambda x, q, k, a, b: [F.linear(x, q, a).exp(), F.linear(x, k, bias=b) + 1],
                    (x, q, k, a, b)),
    "one without": (lambda x, q, k, a: [F.linear(x, q, a).exp(), F.linear(x, k) + 1], (x, q, k, a)),
    "operators": (lambda x, q, k: [aten.linear(x, q).exp(), aten.linear(x, k, None) + 1],
                  (x, q, k)),
    "matmuls": (lambda x, q, k: [(x @ q).exp(), torch.matmul(x, k) + 1, x.matmul(k).sum(0)],
                (x, qt, kt)),
    "transposed": (lambda x, q, k, v: [(x @ q.t()).exp(), F.linear(x, k) + 1, x @ v.T + 1],
                   (x, q, k, v)),
    "of matrices": (lambda x, q, k: [x.mm(q).exp(), torch.mm(x, mat2=k) + 1], (x[0], qt, kt)),
    "addmm": (lambda x, q, k, a, b: [torch.addmm(a, x, q).exp(), b.addmm(x, k, beta=1) + 1],
              (x[0], qt, kt, a, b)),
    "addmm of transposes": (
        lambda x, q, k, a: [torch.addmm(a, x, q.mT).exp(), F.linear(x, k) + 1], (x[0], q, k, a)),
    "far apart": (lambda x, q, k: F.linear(x.tanh().exp(), q).sum() + F.linear(x, k).exp().sum()
                  + F.linear(x, q).sin().cos().tan().exp().sum(), (x, q, k)),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("asks", [True, False])
def test_every_spelling(name: str, asks: bool) -> None:
    function, inputs = SPELLINGS[name]
    given = [one.detach().requires_grad_(asks) for one in inputs]
    module = check(JOIN, function, 1, *given)
    products = [count(module, f"{one}.default") for one in ("linear", "matmul", "mm", "addmm")]
    assert sum(products) == 1 + (name == "far apart")


def test_parts_have_storage_of_their_own_where_somebody_can_tell() -> None:
    module = check(
        JOIN,
        lambda x, q, k, v: (F.linear(x, q), F.linear(x, k).view(-1) + 1, F.linear(x, v).exp()),
        1,
        *(x, q, k, v),
    )
    assert count(module, "clone.default") == 2


def test_one_weight_twice_and_parts_of_one() -> None:
    def function(x: torch.Tensor, q: torch.Tensor) -> Any:
        return F.linear(x, q).exp(), F.linear(x, q[:2]) + 1, F.linear(x, q[2:5]) * 2, F.linear(x, q)

    check(JOIN, function, 1, x, q)


def test_what_depends_on_another() -> None:
    """A weight that is made of another product's result is in no group with it."""

    def function(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> Any:
        first = F.linear(x, q)
        weight = first[0, :3, :].mean(1, keepdim=True) * torch.ones(8)
        return first.exp(), F.linear(x, weight) + 1, F.linear(x, k) * 2

    module = check(JOIN, function, 1, x, q, k)
    assert count(module, "linear.default") == 2


def test_what_stays() -> None:
    """Other inputs; a weight that is a vector; complex numbers; a factor; a bias for each row."""
    check(JOIN, lambda x, q, k: (F.linear(x, q).exp(), F.linear(x + 1, k)), 0, x, q, k)
    check(JOIN, lambda x, q: (F.linear(x, q[0]).exp(), F.linear(x, q[1])), 0, x, q)
    complex_ = [one.to(torch.complex128).detach() for one in (x, q, k)]
    check(JOIN, lambda x, q, k: (F.linear(x, q).exp(), F.linear(x, k)), 0, *complex_)
    check(
        JOIN,
        lambda x, q, k, a: (torch.addmm(a, x, q, alpha=2).exp(), torch.mm(x, k) + 1),
        0,
        *(x[0], qt, kt, a),
    )
    check(
        JOIN,
        lambda x, q, k: (torch.addmm(x[:, :1], x, q).exp(), torch.mm(x, k) + 1),
        0,
        *(x[0], qt, kt),
    )


def test_weights_of_which_some_are_frozen() -> None:
    """A gradient of a frozen weight is not computed for the sake of another's."""
    frozen = [one.detach() for one in (q, v)]
    module = check(
        JOIN,
        lambda x, q, k, v: [F.linear(x, one).exp() for one in (q, k, v)],
        1,
        *(x, frozen[0], k, frozen[1]),
    )
    assert count(module, "linear.default") == 2


def test_biases_of_which_some_are_frozen() -> None:
    module = check(
        JOIN,
        lambda x, q, k, a, b: (F.linear(x, q, a).exp(), F.linear(x, k, b) + 1),
        0,
        *(x, q, k, a.detach(), b),
    )
    assert count(module, "linear.default") == 2


def test_writes_and_modes_between() -> None:
    def written(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> Any:
        x = x * 2
        first = F.linear(x, q).exp()
        with torch.no_grad():
            x.mul_(2)
        return first, F.linear(x, k) + 1

    def result_written(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> Any:
        return F.linear(x, q).add_(1), F.linear(x, k).exp()

    def without_grad(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> Any:
        with torch.no_grad():
            first = F.linear(x, q)
        return first.exp(), F.linear(x, k) + 1

    plain = [one.detach() for one in (x, q, k)]
    check(JOIN, written, 0, *plain)
    check(JOIN, result_written, 0, x, q, k)
    check(JOIN, without_grad, 0, x, q, k)


def test_autocast() -> None:
    """Under it products are of 16 bits; those outside are of 32, and are in another group."""

    def function(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            first = [F.linear(x, q).float() + 1, (x @ k.t()).float() * 2]
        return *first, F.linear(x, v).exp(), F.linear(x, q) + 1

    narrow = [one.detach().float().requires_grad_() for one in (x, q, k, v)]
    gm, inputs = _captured(function, narrow)
    module = xductor.from_fx(gm, stage="pre_grad")
    assert JOIN.rewrite(module) == 2
    xductor.verify(module, level="types")
    for one, other in zip(xductor.to_fx(module)(*inputs), gm(*inputs), strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-2)


def test_symbolic_sizes() -> None:
    gm = graph_module(
        lambda x, q, k: (F.linear(x, q).exp(), F.linear(x, k) + 1), x, q, k, dynamic=True
    )
    module = xductor.from_fx(gm, stage="pre_grad")
    assert JOIN.rewrite(module) == 1
    xductor.verify(module, level="types")


@pytest.mark.parametrize(
    ("rows", "widths", "asks", "left"),
    [
        (8, (8, 8), False, 2),  # the weights are larger than the input
        (64, (8, 8), False, 1),
        (24, (8, 8), False, 2),  # an input of 192 numbers is not read, and 256 are moved
        (64, (8, 64, 8), False, 2),  # the wide one alone is more than it saves
        (64, (4, 4), True, 1),
        (64, (8, 8), True, 2),  # gradients of results are put together, for one input less
        (64, (8, 8, 8), True, 1),
    ],
)
def test_it_is_done_where_it_pays(
    rows: int, widths: tuple[int, ...], asks: bool, left: int
) -> None:
    inputs = [tensor(rows, 8), *[tensor(width, 8) for width in widths]]
    given = [one.detach().requires_grad_(asks) for one in inputs]

    def function(x: torch.Tensor, *weights: torch.Tensor) -> Any:
        return [F.linear(x, one).exp() for one in weights]

    module = check(JOIN, function, int(left < len(widths)), *given)
    assert count(module, "linear.default") == left


def test_weights_cost_nothing_where_they_are_frozen() -> None:
    inputs = [tensor(one, 8).detach() for one in (3, 32, 16)]

    def function(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> Any:
        return F.linear(x, q).exp(), F.linear(x, k) + 1

    check(JOIN, function, 0, *inputs)
    check(FuseParallelLinearPass(freezing=True), function, 1, *inputs)
