"""Programs that look like what oneDNN computes in 8 bits, and are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn

from tests.specimens.int8_models import Int8Layer, bounds, decomposed, down, up
from tests.transforms.quantized.int8_passes import run_passes

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")

F = torch.nn.functional
Made = tuple[nn.Module, torch.Tensor]
PIXELS, ROWS = (2, 4, 5, 4), (3, 8)


def conv(after: Any = lambda y, x: y, layer: nn.Module | None = None, **how: Any) -> Made:
    torch.manual_seed(0)
    layer = nn.Conv2d(4, 4, 3, padding=1) if layer is None else layer
    x = torch.randn(PIXELS).contiguous(memory_format=torch.channels_last)
    return Int8Layer(layer, after, **how), x


def linear(after: Any = lambda y, x: y, sizes: tuple[int, ...] = ROWS, **how: Any) -> Made:
    torch.manual_seed(0)
    return Int8Layer(nn.Linear(8, 8), after, **how), torch.randn(sizes)


def _transposed(x: Any, weight: Any, bias: Any) -> Any:
    return F.conv_transpose2d(x, weight, bias, 1, 1)


def _cast_twice(x: Any, weight: Any, bias: Any) -> Any:
    cast = torch.ops.prims.convert_element_type
    return F.conv2d(cast(cast(x, torch.bfloat16), torch.float32), weight, bias)


def _given_weight(x: Any, weight: Any, bias: Any) -> Any:
    return F.linear(x, weight * x[:1].sum(), bias)


def _per_tensor(x: Any, weight: Any, bias: Any) -> Any:
    narrow = down(weight, 0.01, 0, torch.int8)
    return F.linear(x, up(narrow, 0.01, 0), bias)


def _wide_scales(x: Any, weight: Any, bias: Any) -> Any:
    return F.linear(x, weight.double().float(), bias)


#: What is not packed.
NOT_PACKED: Mapping[str, Callable[[], Made]] = {
    "a transposed convolution": lambda: conv(call=_transposed),
    "scales of the inputs of a convolution": lambda: conv(axis=1),
    "zero points of the weight of a convolution": lambda: conv(zero=3),
    "int8 data of a convolution": lambda: conv(narrow=torch.int8),
    "a convolution of data with a computed scale": lambda: conv(by_tensors=True),
    "float16": lambda: conv(dtype=torch.float16),
    "a cast to bfloat16 and back": lambda: conv(call=_cast_twice),
    "data that was not quantised": lambda: conv(call=lambda x, w, b: F.conv2d(x * 2, w, b)),
    "scales of the columns of a linear": lambda: linear(axis=1),
    "zero points of the weight of a linear": lambda: linear(zero=-5),
    "a weight that is not turned": lambda: linear(call=lambda x, w, b: torch.addmm(b, x, w)),
    "a weight that is computed": lambda: linear(call=_given_weight),
    "a weight of one scale": lambda: linear(call=_per_tensor),
    "a weight that is widened": lambda: linear(call=_wide_scales),
    "a factor of the product": lambda: linear(
        call=lambda x, w, b: torch.addmm(b, x, w.t(), alpha=2)
    ),
    "a factor of the bias": lambda: linear(call=lambda x, w, b: torch.addmm(b, x, w.t(), beta=2)),
    "a bias that is a matrix": lambda: linear(
        call=lambda x, w, b: torch.addmm(x * 2, x, w.t()), sizes=(8, 8)
    ),
    "rows that are put together": lambda: linear(
        call=lambda x, w, b: F.linear(x.reshape(3, 8), w, b), sizes=(6, 4)
    ),
    "one matrix for all batches": lambda: linear(
        call=lambda x, w, b: torch.bmm(x.expand(2, 3, 8), w.t().expand(2, 8, 8)), sizes=(1, 3, 8)
    ),
    "rows of the weight for columns": lambda: linear(
        call=lambda x, w, b: torch.mm(x, w.t().contiguous().t())
    ),
}


@pytest.mark.parametrize("name", NOT_PACKED)
def test_not_packed(name: str) -> None:
    model, x = NOT_PACKED[name]()
    packed, fused, _ = run_passes(model, x)
    assert (packed, fused) == (0, 0)


def _like(x: Any, narrow: torch.dtype = torch.uint8) -> Any:
    """What was quantised with another scale, of the sizes of `x`."""
    return decomposed.dequantize_per_tensor(
        down(x * 0.5, 0.03, 5, narrow), 0.03, 5, *bounds(narrow)
    )


def _by_tensors(y: Any) -> Any:
    scale = y.detach().abs().amax() / 100
    return decomposed.quantize_per_tensor.tensor(
        y, scale, torch.zeros((), dtype=torch.int64), 0, 255, torch.uint8
    )


def _of_channels(y: Any) -> Any:
    scales, zeros = torch.full((4,), 0.1), torch.zeros(4, dtype=torch.int64)
    return decomposed.quantize_per_channel(y, scales, zeros, 1, *bounds(torch.uint8))


#: What is packed, and computes nothing else.
NOT_FUSED: Mapping[str, Callable[[], Made]] = {
    "another reader of the result": lambda: conv(lambda y, x: (down(y), y)),
    "another reader of the activation": lambda: conv(lambda y, x: (y, torch.relu(y) * 2)),
    "a sum with what was not quantised": lambda: conv(lambda y, x: down(y + torch.sin(x))),
    "a sum with another dtype of 8 bits": lambda: conv(lambda y, x: down(y + _like(x, torch.int8))),
    "a sum of one row": lambda: conv(lambda y, x: down(y + _like(x)[:1])),
    "a sum of one channel": lambda: conv(lambda y, x: down(y + _like(x)[:, :1])),
    "a sum with a factor": lambda: conv(lambda y, x: down(torch.add(y, _like(x), alpha=2))),
    "a difference": lambda: conv(lambda y, x: down(y - _like(x))),
    "a product": lambda: conv(lambda y, x: down(y * _like(x))),
    "a sum with itself": lambda: conv(lambda y, x: down(y + y)),
    "a sum with a number": lambda: conv(lambda y, x: down(y + 1.5)),
    "a float sum with what is read elsewhere": lambda: conv(lambda y, x: (y + x, torch.sin(x))),
    "a sum over one dim": lambda: (
        Int8Layer(nn.Conv1d(4, 4, 3, padding=1), lambda y, x: down(y + _like(x))),
        torch.randn(2, 4, 7),
    ),
    "an activation that oneDNN has not here": lambda: conv(lambda y, x: down(torch.tanh(y))),
    "gelu of a convolution": lambda: conv(lambda y, x: down(F.gelu(y))),
    "silu of a linear": lambda: linear(lambda y, x: down(F.silu(y))),
    "a step that is computed": lambda: conv(lambda y, x: _by_tensors(y)),
    "steps of channels": lambda: conv(lambda y, x: _of_channels(y)),
    "a sum of a row and a linear": lambda: linear(lambda y, x: y + x[:1]),
    "a sum of a linear with a factor": lambda: linear(lambda y, x: torch.add(x, y, alpha=3)),
    "a sum of a linear and a number": lambda: linear(lambda y, x: y + 2),
    "two readers of a linear": lambda: linear(lambda y, x: (torch.relu(y), y)),
    "a view in between": lambda: linear(lambda y, x: down(y.reshape(8, 3))),
    "relu of what may be NaN": lambda: linear(lambda y, x: torch.relu(y), by_tensors=True),
}


@pytest.mark.parametrize("name", NOT_FUSED)
def test_not_fused(name: str) -> None:
    model, x = NOT_FUSED[name]()
    packed, fused, _ = run_passes(model, x)
    assert (packed, fused) == (1, 0)


def test_relu_of_what_may_be_nan_stays_behind_a_sum() -> None:
    model, x = linear(lambda y, x: torch.relu(y + torch.log(x)))
    for policy, has_relu in (("default", True), ("fast", False)):
        if policy == "fast":
            model.after = lambda y, x: torch.relu(y + torch.sin(x))
        packed, fused, names = run_passes(model, x, policy=policy)
        assert (packed, fused) == (1, 1)
        assert ("aten.relu.default" in names) == has_relu


def test_a_sum_that_is_no_vector_is_no_bias() -> None:
    model, x = linear(
        call=lambda x, w, b: torch.bmm(x, w.t().expand(2, 8, 8)) + torch.sin(x), sizes=(2, 3, 8)
    )
    packed, fused, names = run_passes(model, x)
    assert (packed, fused) == (1, 1)
    assert "xductor.qlinear_binary.default" in names


def test_symbolic_sizes_of_one_channel() -> None:
    model, x = Int8Layer(nn.Conv2d(1, 4, 3)), torch.randn(2, 1, 6, 5)
    assert run_passes(model, x)[0] == 1
    assert run_passes(model, x, dynamic=True)[0] == 0


@pytest.mark.parametrize("scale", [float("inf"), float("nan"), 0.0, -0.5])
def test_scales_that_are_none(scale: float) -> None:
    def call(x: Any, weight: Any, bias: Any) -> Any:
        narrow = torch.ones(3, 8, dtype=torch.uint8) + (x > 0).to(torch.uint8)
        return F.linear(up(narrow, scale, 1), weight, bias)

    assert run_passes(*linear(call=call))[:2] == (0, 0)


def test_scales_of_the_weight_that_are_not_finite() -> None:
    model, x = linear()
    model.scales[2] = float("inf")
    assert run_passes(model, x)[:2] == (0, 0)
