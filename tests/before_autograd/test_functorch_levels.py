"""Calls within levels of functorch, which no pass can run again, are respelled all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._inductor import config
from torch.func import grad, jvp, vmap

from tests.before_autograd.observation import difference, observe, observe_compiled

Function = Callable[[Tensor, Tensor], Any]


def _joined(a: Tensor, b: Tensor) -> Tensor:
    return torch.sum(torch.cat([a, b], axis=0).sin(), axis=-1, keepdims=True)  # type: ignore[call-overload]


PROGRAMS: dict[str, Function] = {
    "vmap": lambda x, y: vmap(_joined)(x, y),
    "vmap of vmap": lambda x, y: vmap(vmap(lambda a, b: torch.stack([a, b], axis=0).sum(0)))(x, y),  # type: ignore[call-overload]
    "grad": lambda x, y: grad(lambda a: _joined(a, y).sum())(x),
    "vmap of grad": lambda x, y: vmap(grad(lambda a, b: _joined(a, b)[0]))(x, y),
    "jvp": lambda x, y: jvp(lambda a: _joined(a, a), (x,), (y,)),
    "split": lambda x, y: vmap(lambda a, b: torch.cat(a.split(3)) + b.squeeze(-1))(x, y),
}


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_respelled_within_levels(name: str, trains: bool) -> None:
    """By the pass that always runs and by the optional one, which respell some calls twice."""
    leaves = [torch.randn(4, 6).requires_grad_(trains) for _ in range(2)]
    program = PROGRAMS[name]
    with config.patch(pre_grad_fusion_options={"normalization_pass": {}}):
        found, records = observe_compiled(program, leaves)
    assert not difference(observe(program, leaves), found)
    counts = [record.counts() for record in records if record.stage == "pre_grad"]
    respelled = ("numpy_compat_normalization", "normalization_pass")
    assert sum(count.get(one, 0) for count in counts for one in respelled) > 0
