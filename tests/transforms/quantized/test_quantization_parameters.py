"""`quantization_parameters`: numbers that are known, and zero points that entries would not see."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.freezing.random_constant_graphs import Held
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms.quantized.quantization_parameters import QuantizationParameters

quantised = torch.ops.quantized_decomposed
INT8 = (-128, 127, torch.int8)
UINT8 = (0, 255, torch.uint8)
X = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -3.0, 300.0]).view(
    2, 4
)


def replaced(
    program: Callable[..., Any],
    *constants: torch.Tensor,
    x: torch.Tensor = X,
    dynamic: bool = False,
) -> tuple[int, list[str]]:
    """How many calls were replaced, and the ops after; values are compared bit for bit."""
    module = Held(program, list(constants))
    mode = "symbolic" if dynamic else "fake"
    gm = make_fx(module, tracing_mode=mode, _allow_non_fake_inputs=True)(x)
    lowered = from_fx(gm, "post_grad")
    before = print_ir(lowered)
    count = QuantizationParameters().rewrite(lowered)
    verify(lowered, "types")
    assert same(parse_ir(print_ir(lowered)), lowered)
    assert (print_ir(lowered) == before) == (count == 0)
    found, wanted = to_fx(lowered)(x), module(x)
    torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
    assert found.stride() == wanted.stride()
    return count, [op.name for op in entry_graph(lowered).block.ops]


def through(x: Any, scale: Any, zero: Any, bounds: Any = UINT8) -> Any:
    narrow = quantised.quantize_per_tensor.tensor(x, scale, zero, *bounds)
    return quantised.dequantize_per_tensor.tensor(narrow, scale, zero, *bounds)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("sizes", [(), (1,), (1, 1)])
@pytest.mark.parametrize("zero", [0, 100, 255, 300, -7])
def test_tensors_that_are_held_become_numbers(
    zero: int, sizes: tuple[int, ...], dynamic: bool
) -> None:
    scale, point = torch.full(sizes, 0.1), torch.full(sizes, zero)
    count, names = replaced(through, scale, point, dynamic=dynamic)
    assert count == 2
    assert "quantized_decomposed.quantize_per_tensor.default" in names
    assert "quantized_decomposed.dequantize_per_tensor.default" in names


@pytest.mark.parametrize(
    "program",
    [
        lambda x, scale, zero: through(x, scale * x.amax().clamp(max=2.0), zero),
        lambda x, scale, zero: through(x, scale, zero + (x[0, 3] > 0)),
        lambda x, scale, zero: x * scale + zero,
        lambda x, scale, zero: quantised.quantize_per_tensor.default(x, 0.5, 3, *UINT8),
    ],
)
def test_what_is_not_known_stays(program: Callable[..., Any]) -> None:
    assert replaced(program, torch.tensor(0.5), torch.tensor(3))[0] == 0


def of_channels(axis: int, **given: Any) -> Callable[..., Any]:
    def program(x: Any, weight: Any, scales: Any, zeros: Any) -> Any:
        wide = quantised.dequantize_per_channel(weight, scales, zeros, axis, *INT8, **given)
        return wide * x.nan_to_num().sum() if "out_dtype" not in given else wide

    return program


def weight(*sizes: int) -> torch.Tensor:
    chance = torch.Generator().manual_seed(0)
    return torch.randint(-128, 128, sizes, dtype=torch.int8, generator=chance)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize(
    ("sizes", "axis"), [((3, 4), 0), ((3, 4), 1), ((2, 3, 2, 2), 1), ((5,), 0)]
)
def test_zero_points_are_subtracted(sizes: tuple[int, ...], axis: int, dtype: torch.dtype) -> None:
    channels = sizes[axis]
    scales, zeros = torch.linspace(0.5, 2, channels), torch.arange(channels).to(dtype) * 100
    count, names = replaced(of_channels(axis), weight(*sizes), scales, zeros)
    assert count == 1
    assert "aten.sub.Tensor" in names
    assert "quantized_decomposed.dequantize_per_channel.default" not in names


def test_another_dtype_of_the_result() -> None:
    scales, zeros = torch.linspace(0.5, 2, 3), torch.arange(3)
    program = of_channels(0, out_dtype=torch.bfloat16)
    assert replaced(program, weight(3, 4), scales, zeros)[0] == 1


def test_zero_points_of_zero_and_none_at_all_stay() -> None:
    scales = torch.linspace(0.5, 2, 3)
    assert replaced(of_channels(0), weight(3, 4), scales, torch.zeros(3, dtype=torch.int64))[0] == 0

    def without(x: Any, weight: Any, scales: Any) -> Any:
        return quantised.dequantize_per_channel(weight, scales, None, 0, *INT8) + x[0, 4]

    x = torch.zeros(1, 5)
    assert replaced(without, weight(3, 4), scales, x=x)[0] == 0


def test_zero_points_that_are_given_in_the_run_stay() -> None:
    def program(x: Any, weight: Any, scales: Any, zeros: Any) -> Any:
        moved = zeros + (x[0, 3] > 0)
        return quantised.dequantize_per_channel(weight, scales, moved, 0, *INT8)

    assert replaced(program, weight(3, 4), torch.ones(3), torch.ones(3, dtype=torch.int64))[0] == 0


def test_random_chains() -> None:
    fired = 0
    for seed in range(40):
        rng = Random(seed)
        steps = [(rng.uniform(0.01, 2), rng.randint(-5, 270), rng.random() < 0.5) for _ in range(3)]
        constants = [torch.tensor(one) for scale, zero, _ in steps for one in (scale, zero)]

        def program(x: Any, *held: Any, steps: Any = steps) -> Any:
            for place, (_, _, is_held) in enumerate(steps):
                scale, zero = held[2 * place : 2 * place + 2]
                x = through(x if is_held else -x, scale if is_held else scale * 1, zero)
            return x

        x = torch.randn(3, 5, generator=torch.Generator().manual_seed(seed)) * 20
        fired += replaced(program, *constants, x=x)[0]
    assert fired > 40
