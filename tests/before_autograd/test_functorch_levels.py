"""Calls within levels of functorch, which no pass can run again, are respelled all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
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
    "grad of a loss": lambda x, y: vmap(grad(lambda a, b: F.mse_loss(torch.tanh(a @ b), b.sum())))(
        x, y
    ),
    "jvp of grad, and a cat": lambda x, y: (
        *jvp(grad(lambda a: F.softmax(a.cos(), -1).square().sum()), (x,), (y,)),
        torch.cat([x, y], axis=0).sum(-1),  # type: ignore[call-overload]
    ),
    "split": lambda x, y: vmap(lambda a, b: torch.cat(a.split(3)) + b.squeeze(-1))(x, y),
}


def _respelled(name: str, trains: bool, passes: tuple[str, ...], **flags: Any) -> int:
    """How many calls the passes respell, once results and gradients are those of eager."""
    leaves = [torch.randn(4, 6).requires_grad_(trains) for _ in range(2)]
    program = PROGRAMS[name]
    with config.patch(**flags):
        found, records = observe_compiled(program, leaves)
    assert not difference(observe(program, leaves), found)
    counts = [record.counts() for record in records if record.stage == "pre_grad"]
    return sum(count.get(one, 0) for count in counts for one in passes)


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "grad of a loss"])
def test_respelled_within_levels(name: str, trains: bool) -> None:
    """By the pass that always runs and by the optional one, which respell some calls twice."""
    passes = ("numpy_compat_normalization", "normalization_pass")
    assert _respelled(name, trains, passes, pre_grad_fusion_options={"normalization_pass": {}}) > 0


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_are_named_within_levels(name: str, trains: bool) -> None:
    assert _respelled(name, trains, ("normalize_node_kwargs_pass",), is_predispatch=True) > 0


def test_what_stands_below_forward_derivatives_is_rewritten() -> None:
    """Switches of forward derivatives do not hide the modes of what stands below."""

    def program(x: Tensor, y: Tensor) -> Any:
        tangent: Tensor = jvp(torch.sin, (x,), (y,))[1]
        return torch.cat([piece.relu() for piece in (tangent + x).split(3, 1)], 1) * 2

    leaves = [torch.randn(4, 6).requires_grad_() for _ in range(2)]
    with config.patch(pre_grad_fusion_options={"batch_relu": {"min_fuse_set_size": 2}}):
        found, records = observe_compiled(program, leaves)
    assert not difference(observe(program, leaves), found)
    assert sum(one.applications("batch_relu") for one in records if one.stage == "pre_grad") == 1
