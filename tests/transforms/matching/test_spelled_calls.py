"""Patterns of Python's calls that spell out a list: dims, and sizes given one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.before_autograd.captured import captured
from xductor.ir import ops
from xductor.transforms import EXACT, Rewrite, Tensor
from xductor.transforms.rewriting.declared_pass import pass_of

Written = Callable[[Any], Any]

SAME: dict[str, tuple[Written, Written]] = {
    "a dim": (lambda x: ops.method.sum(x, -1), lambda x: x.sum(-1)),
    "dims": (lambda x: ops.method.sum(x, [-1]), lambda x: x.sum(-1)),
    "a mean": (lambda x: ops.method.mean(x, -1), lambda x: x.mean([-1])),
    "an order": (lambda x: ops.method.permute(x, 1, 0), lambda x: x.permute(1, 0)),
    "sizes": (lambda x: ops.method.view(x, 4, 3), lambda x: x.view(4, 3)),
    "a function": (lambda x: ops.pyfn.torch.sum(x, -1), lambda x: torch.sum(x, (-1,))),
}
OTHER: dict[str, tuple[Written, Written]] = {
    "another dim": (lambda x: ops.method.sum(x, -1), lambda x: x.sum(0)),
    "more dims": (lambda x: ops.method.sum(x, -1), lambda x: x.sum((0, -1))),
    "another order": (lambda x: ops.method.permute(x, 1, 0), lambda x: x.permute(0, 1)),
    "other sizes": (lambda x: ops.method.view(x, 4, 3), lambda x: x.view(2, 6)),
}


def _applied(pattern: Written, function: Written) -> int:
    class Spelled(Rewrite):
        stage = "pre_grad"
        numerics = EXACT
        once = True

        def pattern(self, x: Tensor) -> Any:
            return pattern(x)

        def replacement(self, x: Tensor) -> Any:
            return pattern(x)

    return pass_of(Spelled)().rewrite(captured(function, torch.randn(3, 4)))


@pytest.mark.parametrize("name", SAME)
def test_is_found(name: str) -> None:
    assert _applied(*SAME[name]) == 1


@pytest.mark.parametrize("name", OTHER)
def test_is_another_call(name: str) -> None:
    assert _applied(*OTHER[name]) == 0
