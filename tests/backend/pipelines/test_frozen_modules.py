"""Freezing leaves the user's module alone: its tensors, their aliases and its state dict."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import nn
from torch._inductor import config

import xductor
from tests.corpus.capture import passes_only
from tests.held_state import HeldState

F = nn.functional
OPTIONS: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}


@contextmanager
def frozen_quietly() -> Iterator[None]:
    """Freezing is on, and says nothing about what it leaves to Inductor."""
    with config.patch(freezing=True), warnings.catch_warnings(action="ignore"):
        yield


def frozen(model: nn.Module, *inputs: torch.Tensor, times: int = 2, dynamic: bool = False) -> None:
    """Compile and run a model; its results are eager's, and it is what it was."""
    torch._dynamo.reset()
    state = HeldState(model)
    with torch.no_grad(), frozen_quietly():
        compiled = torch.compile(model, backend="xductor", options=OPTIONS, dynamic=dynamic)
        for _ in range(times):
            given = [one.clone() for one in inputs]
            found = compiled(*given)
            torch.testing.assert_close(found, model(*inputs), rtol=1e-4, atol=1e-5)
            assert all(map(torch.equal, given, inputs))
    assert state.changes() == []


class Tied(nn.Module):
    """An embedding that is the head too, and a layer under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(12, 16)
        self.layer = nn.Linear(16, 16)
        self.again = self.layer
        self.head = nn.Linear(16, 12, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.gelu(self.again(F.relu(self.layer(self.embedding(x))))))


class Views(nn.Module):
    """Parameters and buffers that are views of each other, and one that lies in every element."""

    def __init__(self) -> None:
        super().__init__()
        whole = torch.randn(3, 16, 16)
        self.whole = nn.Parameter(whole)
        self.first = nn.Parameter(whole[0])
        self.register_buffer("turned", whole[1].t())
        self.register_buffer("thin", whole[2][::2])
        self.register_buffer("wide", torch.randn(1).expand(16))
        self.register_buffer("hidden", whole[0, 0], persistent=False)
        self.plain = whole[1, 1]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.linear(x, self.first, self.hidden) * self.wide + self.plain
        y = F.relu(y @ self.turned) - y @ self.whole[1]
        return F.linear(F.silu(y), self.thin)


class Convolutions(nn.Module):
    """Weights in channels-last order, one of them used twice, with arithmetic to fold."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(4, 4, 3, padding=1).to(memory_format=torch.channels_last)
        self.norm, self.other = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.transposed = nn.ConvTranspose2d(4, 4, 2, groups=2)
        self.register_buffer("scale", torch.rand(4, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norm(self.layer(x)))
        y = self.other(self.layer(y)) + x
        return self.transposed(y) * self.scale + self.scale


class Returns(nn.Module):
    """Gives away its parameters, views of them, and what is computed of them alone."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 16))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x @ self.weight, self.weight[0], self.weight * 2, self.weight.t()


class Odd(nn.Module):
    """NaN, infinities and zeros of both signs in what is folded."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 4)
        self.register_buffer("odd", torch.tensor([float("nan"), float("inf"), 0.0, -0.0]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.layer(x).nan_to_num() + self.odd.nan_to_num(), self.layer(x) * self.odd


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor]]] = {
    "tied": (Tied, lambda: torch.randint(0, 12, (3, 5))),
    "views": (Views, lambda: torch.randn(5, 16)),
    "convolutions": (Convolutions, lambda: torch.randn(2, 4, 6, 6)),
    "returned": (Returns, lambda: torch.randn(5, 16)),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_module_is_what_it_was(name: str, dynamic: bool) -> None:
    make, given = MODELS[name]
    with passes_only():
        frozen(make().eval(), given(), dynamic=dynamic)
    assert xductor.last_compile().count("constant_fold") + (name == "returned") > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tied", "views", "convolutions"])
def test_generated_code_leaves_it_alone_too(name: str) -> None:
    make, given = MODELS[name]
    frozen(make().eval(), given())


def test_odd_numbers() -> None:
    model, x = Odd().eval(), torch.randn(3, 16)
    state = HeldState(model)
    torch._dynamo.reset()
    with torch.no_grad(), passes_only(), frozen_quietly():
        found = torch.compile(model, backend="xductor", options=OPTIONS)(x)
        torch.testing.assert_close(found, model(x), equal_nan=True)
    assert state.changes() == []


def test_a_weight_that_changes_between_compiles_is_read_anew() -> None:
    """The constants of one compile are no memo of another."""
    model, x = nn.Sequential(nn.Linear(16, 16), nn.GELU()).eval(), torch.randn(3, 16)
    for _ in range(2):
        with passes_only():
            frozen(model, x)
        with torch.no_grad():
            model[0].weight.mul_(2)


def test_what_a_model_writes_is_no_constant() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("count", torch.zeros(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return self.layer(x) + self.count

    torch._dynamo.reset()
    model, x = Counts().eval(), torch.randn(2, 4)
    with torch.no_grad(), passes_only(), frozen_quietly():
        compiled = torch.compile(model, backend="xductor", options=OPTIONS)
        for times in range(1, 4):
            torch.testing.assert_close(compiled(x), model.layer(x) + times)
    assert model.count.tolist() == [3.0] * 4
