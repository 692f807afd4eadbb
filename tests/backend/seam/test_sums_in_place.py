"""Sums behind int8 linears and convolutions leave inputs of the caller and constants alone."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # the operators of PT2E
from torch import nn
from torch._dynamo.utils import counters
from torch._inductor import config

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")

decomposed = torch.ops.quantized_decomposed
ROWS, SIZE = 8, 32


def _steps(x: torch.Tensor) -> torch.Tensor:
    """To eight bits and back."""
    given = 0.05, 128, 0, 255, torch.uint8
    return decomposed.dequantize_per_tensor(decomposed.quantize_per_tensor(x, *given), *given)


class Quantised(nn.Module):
    """A linear as PT2E writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (SIZE, SIZE), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(SIZE) / 100)
        self.register_buffer("zeros", torch.zeros(SIZE, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        given = self.weight, self.scales, self.zeros, 0, -128, 127, torch.int8
        return nn.functional.linear(_steps(x), decomposed.dequantize_per_channel(*given))


class Sums(nn.Module):
    """What is added to: an input, a view of one, a constant, or something computed."""

    def __init__(self, to: str) -> None:
        super().__init__()
        self.linear = Quantised()
        self.place = to
        self.register_buffer("constant", torch.randn(ROWS, SIZE))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        added = {
            "input": y,
            "view": y.view(SIZE, ROWS).view(ROWS, SIZE),
            "constant": self.constant,
            "computed": torch.sin(y) * 2,
        }[self.place]
        return self.linear(x) + added


def _linear_runs(
    to: str, *, dynamic: bool = False
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    inputs = torch.randn(ROWS, SIZE), torch.randn(ROWS, SIZE)
    return _runs(Sums(to), inputs, "qlinear_unary_matcher_count", dynamic)


def _runs(
    model: nn.Module, inputs: tuple[torch.Tensor, ...], counter: str, dynamic: bool
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Two runs of frozen code, and of eager; the inputs and the constant are looked at."""
    torch._dynamo.reset()
    counters.clear()
    model.eval()
    held = [one.clone() for one in (*inputs, model.constant)]
    options: dict[str, Any] = {"xductor.on_error": "raise"}
    with torch.no_grad(), config.patch(freezing=True), warnings.catch_warnings(action="ignore"):
        compiled = torch.compile(model, backend="xductor", options=options, dynamic=dynamic)
        found = [compiled(*inputs) for _ in range(2)]
        wanted = [model(*inputs)] * 2
    assert counters["inductor"][counter] == 1
    for now, before in zip((*inputs, model.constant), held, strict=True):
        assert torch.equal(now, before)
    return found, wanted


@pytest.mark.slow
@pytest.mark.parametrize("to", ["input", "view", "constant", "computed"])
def test_what_is_added_to_stays(to: str) -> None:
    found, wanted = _linear_runs(to)
    torch.testing.assert_close(found, wanted)


@pytest.mark.slow
def test_with_dynamic_shapes() -> None:
    found, wanted = _linear_runs("input", dynamic=True)
    torch.testing.assert_close(found, wanted)


class ConvolutionSums(nn.Module):
    """A convolution as PT2E writes it, whose sum reads an input or a constant of eight bits."""

    def __init__(self, to: str) -> None:
        super().__init__()
        self.place = to
        self.register_buffer("weight", torch.randint(-127, 128, (16, 16, 3, 3), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(16) / 1000)
        self.register_buffer("zeros", torch.zeros(16, dtype=torch.int64))
        self.register_buffer("constant", _bytes())

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        given = self.weight, self.scales, self.zeros, 0, -128, 127, torch.int8
        weight = decomposed.dequantize_per_channel(*given)
        added = decomposed.dequantize_per_tensor(
            {"input": y, "constant": self.constant, "computed": y // 2}[self.place],
            *(0.05, 128, 0, 255, torch.uint8),
        )
        result = torch.relu(nn.functional.conv2d(_steps(x), weight, None, 1, 1) + added)
        return decomposed.quantize_per_tensor(result, 0.05, 0, 0, 255, torch.uint8)


def _bytes() -> torch.Tensor:
    drawn = torch.randint(0, 256, (1, 16, 8, 8), dtype=torch.uint8)
    return drawn.to(memory_format=torch.channels_last)


@pytest.mark.slow
@pytest.mark.parametrize("to", ["input", "constant", "computed"])
def test_what_a_convolution_adds_to_stays(to: str) -> None:
    inputs = torch.randn(1, 16, 8, 8), _bytes()
    found, wanted = _runs(ConvolutionSums(to), inputs, "qconv_unary_matcher_count", False)
    for ours, eager in zip(found, wanted, strict=True):  # a half may be rounded either way
        assert (ours.int() - eager.int()).abs().max() <= 1
