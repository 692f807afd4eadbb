"""What PT2E quantised is computed in 8 bits, with what follows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn

from tests.specimens.int8_models import (
    CONVOLUTIONS,
    LINEARS,
    SCALE,
    ZERO,
    Int8Layer,
    decomposed,
    down,
    up,
)
from tests.specimens.int8_specimens import CONVOLUTION_ACTIVATIONS, ENDS, LINEAR_ACTIVATIONS, SUMS
from tests.transforms.onednn.random_packed_models import lowered
from tests.transforms.quantized.int8_passes import run_passes
from xductor.ir import entry_graph
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps
from xductor.transforms.quantized.qconv_packing import QconvWeightPrepack
from xductor.transforms.quantized.qconv_post_ops import QconvPostOps

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")

F = torch.nn.functional
QCONV = "xductor.qconv.default"
QCONV_SUM = "xductor.qconv_binary.default"
QLINEAR, QLINEAR_SUM = "onednn.qlinear_pointwise.default", "xductor.qlinear_binary.default"
DTYPES = (torch.float32, torch.bfloat16)


def image(*sizes: int) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(sizes).contiguous(memory_format=torch.channels_last)


#: What PyTorch traces with the sizes of the example, and is not packed for others.
_ONE_CHANNEL = "conv of one channel"


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str, dtype: torch.dtype, dynamic: bool) -> None:
    dynamic = dynamic and name != _ONE_CHANNEL
    make, sizes = CONVOLUTIONS[name]
    torch.manual_seed(0)
    x = image(*sizes) if len(sizes) == 4 else torch.randn(sizes)
    packed, fused, names = run_passes(
        Int8Layer(make(), lambda y, x: down(torch.relu(y)), dtype=dtype), x, dynamic=dynamic
    )
    assert (packed, fused) == (1, 1)
    assert QCONV in names


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LINEARS)
def test_linears(name: str, dtype: torch.dtype, dynamic: bool) -> None:
    make, sizes = LINEARS[name]
    torch.manual_seed(0)
    model = make(after=lambda y, x: down(torch.relu(y)), dtype=dtype)
    packed, fused, names = run_passes(model, torch.randn(sizes), dynamic=dynamic)
    assert (packed, fused) == (1, 1)
    assert not any("reshape" in one or "permute" in one or "expand" in one for one in names)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("what", CONVOLUTION_ACTIVATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_activations_of_convolutions(dtype: torch.dtype, what: str, end: str) -> None:
    act, quantise = CONVOLUTION_ACTIVATIONS[what], ENDS[end]
    torch.manual_seed(0)
    model = Int8Layer(nn.Conv2d(4, 6, 3), lambda y, x: quantise(act(y)), dtype=dtype)
    _, fused, names = run_passes(model, image(2, 4, 6, 5))
    assert fused == ((what, end) != ("nothing", "as it is"))
    assert _arithmetic(names) == (1 if end == "seven bits" else 0)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("what", LINEAR_ACTIVATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_activations_of_linears(dtype: torch.dtype, what: str, end: str) -> None:
    act, quantise = LINEAR_ACTIVATIONS[what], ENDS[end]
    torch.manual_seed(0)
    model = Int8Layer(nn.Linear(8, 6), lambda y, x: quantise(act(y)), dtype=dtype)
    _, fused, names = run_passes(model, torch.randn(2, 3, 8))
    assert fused == ((what, end) != ("nothing", "as it is"))
    assert _arithmetic(names) == (1 if end == "seven bits" else 0)


def _arithmetic(names: list[str]) -> int:
    """How many ops are left that compute something of a result."""
    return sum(one.startswith(("aten.", "prims.")) and "sym_size" not in one for one in names)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("what", SUMS)
def test_sums_of_convolutions(what: str, end: str) -> None:
    add, quantise = SUMS[what], ENDS[end]
    narrow = torch.int8 if end == "int8" else torch.uint8
    torch.manual_seed(0)

    def after(y: Any, x: Any) -> Any:
        return quantise(add(y, up(down(x * 0.5, 0.03, 5, narrow), 0.03, 5)))

    _, fused, names = run_passes(Int8Layer(nn.Conv2d(4, 4, 3, padding=1), after), image(2, 4, 6, 5))
    assert fused == 1
    assert QCONV_SUM in names
    assert "aten.add.Tensor" not in names


@pytest.mark.parametrize("dtypes", [(a, b) for a in DTYPES for b in DTYPES])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("what", SUMS)
def test_sums_of_linears(what: str, end: str, dtypes: Any) -> None:
    add, quantise = SUMS[what], ENDS[end]
    dtype, beside = dtypes
    torch.manual_seed(0)
    model = Int8Layer(
        nn.Linear(8, 8),
        lambda y, x: quantise(add(y, torch.sin(x).to(beside))),
        dtype=dtype,
    )
    tolerance = 2e-2 if torch.bfloat16 in dtypes else 1e-5  # of a result that is rounded to it
    _, fused, names = run_passes(model, torch.randn(2, 3, 8), tolerance=tolerance)
    assert fused == 1
    assert QLINEAR_SUM in names
    assert "aten.add.Tensor" not in names
    is_left = what == "relu of a sum" and end == "as it is"
    assert ("aten.relu.default" in names) == is_left


class Block(nn.Module):
    """Two convolutions and a shortcut: what is added is what the first one reads."""

    def __init__(self, returns: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = Int8Layer(nn.Conv2d(4, 4, 3, padding=1))
        self.second = Int8Layer(nn.Conv2d(4, 4, 3, padding=1))
        self.returns = returns

    def forward(self, x: torch.Tensor) -> Any:
        narrow = down(torch.sin(x))
        data = up(narrow)
        inner = torch.relu(_convolved(self.first, data))
        outer = _convolved(self.second, up(down(inner)))
        y = down(torch.relu(outer + data))
        return (y, narrow) if self.returns else (y,)


def _convolved(layer: Int8Layer, data: Any) -> Any:
    held = (layer.weight, layer.scales, layer.zeros, 0, -128, 127, torch.int8)
    weight = decomposed.dequantize_per_channel(*held)
    return F.conv2d(data, weight, layer.bias, 1, 1)


@pytest.mark.parametrize("returns", [False, True])
def test_a_block_dequantises_nothing_and_adds_in_place(returns: bool) -> None:
    packed, fused, names = run_passes(Block(returns), image(2, 4, 6, 5))
    assert (packed, fused) == (2, 2)
    assert names.count(QCONV) == names.count(QCONV_SUM) == 1
    assert not any("dequantize" in one for one in names)
    module = lowered(Block(returns), image(2, 4, 6, 5))
    for one in (QconvWeightPrepack(), QconvPostOps(), ReinplaceInplaceableOps()):
        one.rewrite(module)
    in_place = any(
        op.name == "xductor.qconv_binary_.default" for op in entry_graph(module).block.ops
    )
    assert in_place == (not returns)  # what is returned is not written to


def test_convolutions_that_read_one_another() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.one = Int8Layer(nn.Conv2d(4, 4, 1))

        def forward(self, x: torch.Tensor) -> Any:
            data = up(down(x))
            weight = decomposed.dequantize_per_channel(
                self.one.weight, self.one.scales, self.one.zeros, 0, -128, 127, torch.int8
            )
            y = F.conv2d(data, weight, self.one.bias)
            z = F.conv2d(up(down(y)), weight, self.one.bias)
            return (down(z + up(down(y))),)

    packed, fused, names = run_passes(Both(), image(1, 4, 3, 3))
    assert packed == 2
    assert names.count("fx.get_attr") <= 7
    assert fused >= 1


class _Held(nn.Module):
    """Scale and zero point that the module holds, as some flows write them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one = Int8Layer(nn.Conv2d(4, 4, 1))
        self.register_buffer("scale", torch.tensor(SCALE))
        self.register_buffer("zero", torch.tensor(ZERO))

    def forward(self, x: torch.Tensor) -> Any:
        given = (self.scale, self.zero, 0, 255, torch.uint8)
        narrow = decomposed.quantize_per_tensor.tensor(x, *given)
        data = decomposed.dequantize_per_tensor.tensor(narrow, *given)
        held = (self.one.weight, self.one.scales, self.one.zeros, 0, -128, 127, torch.int8)
        return (F.conv2d(data, decomposed.dequantize_per_channel(*held), self.one.bias),)


def test_numbers_that_the_module_holds() -> None:
    assert run_passes(_Held(), image(2, 4, 3, 3))[0] == 1


#: Data of odd sizes, and what it holds.
ODD: Mapping[str, Callable[[], torch.Tensor]] = {
    "NaN and infinities": lambda: torch.tensor([float("nan"), float("inf"), -float("inf")] * 8),
    "zeros": lambda: torch.tensor([0.0, -0.0] * 12),
    "beyond the range": lambda: torch.linspace(-1e5, 1e5, 24),
    "halves of steps": lambda: (torch.arange(24) - 7.5) * SCALE,
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("rows", [2, 3])
def test_odd_data(name: str, rows: int) -> None:
    torch.manual_seed(0)
    x = ODD[name]().view(3, 8)[:rows]
    for after in (lambda y, x: down(y), lambda y, x: y):
        packed, _, _ = run_passes(Int8Layer(nn.Linear(8, 3), after), x)
        assert packed == 1
