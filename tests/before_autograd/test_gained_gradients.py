"""A gradient that a later write gives does not let a value stand for one that has it already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.before_autograd.observation import difference, observe, observe_compiled
from tests.before_autograd.random_programs import Outcome, compare, program
from tests.before_autograd.rewrites import DetachedOfNothing, PreGrad
from xductor.ir import ops

method = ops.method


class CloneOfDetached(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.clone(method.detach(x))

    def replacement(self, x: Tensor) -> Any:
        return method.clone(x)


def _written(x: Tensor, y: Tensor) -> Any:
    z = x.detach()
    z.mul_(y)
    return (x * 2,)


def _written_through_a_view(x: Tensor, y: Tensor) -> Any:
    z = x.detach()
    z.view(-1).mul_(y.view(-1))
    return (x * 2,)


def _written_in_part(x: Tensor, y: Tensor) -> Any:
    z = x.detach()
    z[1:] = y[1:]
    return (x * 2,)


def _clone_written(x: Tensor, y: Tensor) -> Any:
    z = x.detach().clone()
    return (z.add_(y) * 2,)


@pytest.mark.parametrize(
    "function", [_written, _written_through_a_view, _written_in_part, _clone_written]
)
def test_the_value_stays(function: Callable[..., Any]) -> None:
    leaves = [torch.randn(3, 4, requires_grad=True) for _ in range(2)]
    expected = observe(function, leaves)
    found, records = observe_compiled(
        function, leaves, rewrites=[DetachedOfNothing, CloneOfDetached]
    )
    assert not difference(expected, found)
    names = (DetachedOfNothing().name, CloneOfDetached().name)
    assert not any(record.applications(name) for record in records for name in names)


def test_what_requires_no_gradient_may_be_replaced() -> None:
    leaves = [torch.randn(3, 4), torch.randn(3, 4)]
    found, records = observe_compiled(
        lambda x, y: (x.detach() * y,), leaves, rewrites=[DetachedOfNothing]
    )
    assert not difference(observe(lambda x, y: (x.detach() * y,), leaves), found)
    assert sum(record.applications(DetachedOfNothing().name) for record in records) == 1


@pytest.mark.parametrize("seed", [1000094, 1000207])
def test_random_programs_that_gave_other_gradients_once(seed: int) -> None:
    outcome = Outcome()
    compare(program(seed), outcome)
    assert outcome.compared == 1
    assert not outcome.mismatches
