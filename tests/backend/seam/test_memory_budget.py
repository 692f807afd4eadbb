"""Draws under a memory budget: the backward uses the numbers that the forward drew.

Stock's backward draws others (pytorch/pytorch#190758).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._functorch import config as functorch_config
from torch._inductor import config

from xductor.backend.run_as_fx.without_codegen import without_codegen

Noise = Callable[[torch.Tensor], torch.Tensor]

#: What a value is multiplied by: at least zero, and other numbers at each call.
NOISES: dict[str, Noise] = {
    "dropout": lambda h: F.dropout(h, 0.5) * 2,
    "two dropouts": lambda h: F.dropout(F.dropout(h, 0.3) * 3, 0.2),
    "rand": lambda h: h * torch.rand_like(h),
    "randn": lambda h: h * torch.randn(h.shape).abs(),
    "randint": lambda h: h * torch.randint(1, 9, h.shape),
    "bernoulli": lambda h: h * torch.bernoulli(torch.full_like(h, 0.5)),
    "several kinds": lambda h: F.dropout(h * torch.rand_like(h), 0.1) * torch.randint(1, 3, (5,)),
}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    with functorch_config.patch(enable_autograd_cache=False):
        yield
    torch._dynamo.reset()


def _operands() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.linspace(0.1, 1, 24).view(6, 4).requires_grad_()
    return x, torch.linspace(0.1, 1, 20).view(4, 5).requires_grad_()


def _check(noise: Noise, **how: Any) -> None:
    """`y` is `h` times what was drawn, which the gradients tell again."""
    x, w = _operands()

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return noise((x @ w).relu())

    ours = torch.compile(fn, backend="xductor", options={"xductor.on_error": "raise"}, **how)
    y = ours(x, w)
    y.sum().backward()
    drawn = y.detach() / (x @ w).detach()
    assert drawn.unique().numel() > 1
    torch.testing.assert_close(x.grad, drawn @ w.t(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(w.grad, x.t() @ drawn, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("budget", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("what", NOISES)
def test_gradients_are_of_what_was_drawn(what: str, budget: float) -> None:
    with (
        without_codegen(),
        functorch_config.patch(activation_memory_budget=budget),
        config.patch(fallback_random=True),
    ):
        _check(NOISES[what])


@pytest.mark.parametrize(("what", "dynamic"), [("several kinds", False), ("dropout", True)])
def test_the_compilers_generator(what: str, dynamic: bool) -> None:
    """Only generated code makes the same numbers of the same seed."""
    with functorch_config.patch(activation_memory_budget=0.0):
        _check(NOISES[what], dynamic=dynamic)


def test_numbers_are_those_of_eager() -> None:
    x, w = _operands()

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.dropout((x @ w).relu(), 0.5) * 2

    results: list[Any] = []
    for run in (fn, torch.compile(fn, backend="xductor")):
        with (
            functorch_config.patch(activation_memory_budget=0.0),
            config.patch(fallback_random=True),
        ):
            torch.manual_seed(3)
            y = run(x, w)
            results.append([y.detach(), *torch.autograd.grad(y.sum(), (x, w))])
    torch.testing.assert_close(results[1], results[0])
