"""`binary_folding`: what goes into weights and biases, and what must not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch

from tests.transforms.freezing.frozen import Frozen, Linear, folded, random_module

nn = torch.nn
X = torch.linspace(-1, 1, 2 * 4 * 5 * 5).view(2, 4, 5, 5)
CHANNELS = torch.linspace(0.5, 2, 4)
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "conv": lambda: nn.Conv2d(4, 4, 3),
    "conv without bias": lambda: nn.Conv2d(4, 4, 3, bias=False),
    "groups": lambda: nn.Conv2d(4, 4, 3, groups=2),
    "transposed": lambda: nn.ConvTranspose2d(4, 4, 3),
    "transposed groups": lambda: nn.ConvTranspose2d(4, 4, 3, groups=2),
}
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "y + c": lambda y, c: y + c,
    "c + y": lambda y, c: c + y,
    "y + 3 c": lambda y, c: torch.add(y, c, alpha=3),
    "c + 3 y": lambda y, c: torch.add(c, y, alpha=3),
    "y - 2 c": lambda y, c: torch.sub(y, c, alpha=2),
    "c - 2 y": lambda y, c: torch.sub(c, y, alpha=2),
    "y * c": lambda y, c: y * c,
    "c * y": lambda y, c: c * y,
    "y / c": lambda y, c: y / c,
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("what", ARITHMETIC)
def test_a_constant_for_each_channel_goes_into_a_convolution(layer: str, what: str) -> None:
    module = Frozen(LAYERS[layer](), ARITHMETIC[what], c=CHANNELS.view(4, 1, 1))
    count, graph = folded(module, X)
    assert count == 1
    _close(graph(X), module(X))


@pytest.mark.parametrize("what", ARITHMETIC)
@pytest.mark.parametrize("sizes", [(), (1,), (4,), (1, 4)])
@pytest.mark.parametrize(
    ("bias", "factors"),
    [(None, {}), (CHANNELS, {"beta": 0.5, "alpha": 2.0}), (CHANNELS * float("nan"), {"beta": 0})],
)
def test_and_into_a_product(
    what: str, sizes: tuple[int, ...], bias: torch.Tensor | None, factors: dict[str, float]
) -> None:
    x, weight = torch.randn(3, 2), torch.randn(2, 4)
    constant = (CHANNELS if 4 in sizes else torch.tensor([1.5])).reshape(sizes)
    module = Frozen(Linear(weight, bias, **factors), ARITHMETIC[what], c=constant)
    count, graph = folded(module, x)
    assert count == 1
    _close(graph(x), module(x))
    assert folded(module, x, enable_linear_binary_folding=False)[0] == 0


def test_a_normalisation_is_folded_whole() -> None:
    def normalised(y: Any, m: Any, s: Any, w: Any, b: Any) -> Any:
        return (y - m) * s * w + b

    constants = {name: CHANNELS.view(4, 1, 1) + place for place, name in enumerate("mswb")}
    module = Frozen(nn.ConvTranspose2d(4, 4, 3, bias=False), normalised, **constants)
    count, graph = folded(module, X)
    assert count == 4
    _close(graph(X), module(X))


def test_a_reshape_that_keeps_the_last_dim_may_stand_between() -> None:
    x, layer = torch.randn(6, 2), Linear(torch.randn(2, 4), CHANNELS, (2, 3, 4))
    module = Frozen(layer, lambda y, c: y * c, c=CHANNELS)
    count, graph = folded(module, x)
    assert count == 1
    _close(graph(x), module(x))
    parted = Frozen(
        Linear(torch.randn(2, 4), CHANNELS, (2, 6, 2)), lambda y, c: y * c, c=CHANNELS[:2]
    )
    assert folded(parted, x)[0] == 0


def test_a_reshape_of_an_input_is_no_product() -> None:
    module = Frozen(nn.Identity(), lambda y, c: y.reshape(2, 3, 4) * c, c=CHANNELS)
    assert folded(module, torch.randn(6, 4))[0] == 0


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("function", "constant"),
    [
        (lambda y, c: y / 0.0, CHANNELS),
        (lambda y, c: y / -0.0, CHANNELS),
        (lambda y, c: y * INF, CHANNELS),
        (lambda y, c: y * NAN, CHANNELS),
        (lambda y, c: y / c, torch.tensor([1.0, 0.0, 2.0, 3.0]).view(4, 1, 1)),
        (lambda y, c: y * c, torch.tensor([1.0, INF, 2.0, 3.0]).view(4, 1, 1)),
        (lambda y, c: y + c, torch.tensor([1.0, NAN, 2.0, 3.0]).view(4, 1, 1)),
        (lambda y, c: c / y, CHANNELS.view(4, 1, 1)),
        (lambda y, c: y * c, torch.ones(4)[:1].view(1, 1, 1).to(torch.int64)),
        (lambda y, c: y * c, CHANNELS.view(4, 1, 1).double()),
        (lambda y, c: y * c, torch.arange(1.0, 4.0).view(1, 1, 3)),
        (lambda y, c: y * c, torch.arange(1.0, 4.0).view(3, 1)),
        (lambda y, c: y * c, torch.ones(2, 1, 1, 1)),
        (lambda y, c: y * c, torch.ones(1, 1, 1, 1, 1)),
        (lambda y, c: (y * c, y), CHANNELS.view(4, 1, 1)),
    ],
)
def test_what_may_not_be_folded(function: Any, constant: torch.Tensor) -> None:
    module = Frozen(nn.Conv2d(4, 4, 3), function, c=constant)
    assert folded(module, X)[0] == 0


def test_a_weight_that_is_no_constant_or_used_twice_stays() -> None:
    layer = nn.Conv2d(4, 4, 3)
    twice = Frozen(lambda x: layer(x) * 2 + layer(x), lambda y, c: y, c=CHANNELS)
    twice.held = layer.requires_grad_(False)
    assert folded(twice, X)[0] == 0

    weight = torch.randn(4, 4)
    given = Frozen(lambda x: torch.mm(weight, x), lambda y, c: y * c, c=CHANNELS)
    assert folded(given, torch.randn(4, 4))[0] == 0


def test_a_hardsigmoid_stays_whole_for_onednn() -> None:
    def clamped(low: float, high: float, number: float = 3) -> Callable[..., Any]:
        return lambda y: torch.clamp_max(torch.clamp_min(y + number, low), high) / 6

    for function, folds in ((clamped(0, 6), 0), (clamped(0, 5), 1), (clamped(0, 6, 2), 1)):
        module = Frozen(nn.Conv2d(4, 4, 3), function)
        count, graph = folded(module, X)
        assert count == folds
        _close(graph(X), module(X))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_weights_are_rounded_once_more_under_fast_alone(dtype: torch.dtype) -> None:
    constant = CHANNELS.view(4, 1, 1).to(dtype)
    module = Frozen(nn.Conv2d(4, 4, 3).to(dtype), lambda y, c: y * c, c=constant)
    assert folded(module, X.to(dtype))[0] == 0
    count, graph = folded(module, X.to(dtype), policy="fast")
    assert count == 1
    torch.testing.assert_close(graph(X.to(dtype)), module(X.to(dtype)), atol=2e-2, rtol=2e-2)


def test_infinite_inputs_give_what_they_gave() -> None:
    module = Frozen(nn.Conv2d(4, 4, 3), lambda y, c: y * c - 1, c=CHANNELS.view(4, 1, 1))
    x = X.clone()
    x[0, 0, 0, 0], x[1, 2, 3, 3], x[1, 1, 0, 4] = INF, NAN, -INF
    count, graph = folded(module, x)
    assert count == 2
    _close(graph(x), module(x))


def test_random_chains() -> None:
    folds = 0
    for seed in range(150):
        module, x = random_module(Random(seed))
        count, graph = folded(module, x)
        folds += count
        torch.testing.assert_close(graph(x), module(x), equal_nan=True, msg=f"seed {seed}")
    assert folds > 150


def _close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, equal_nan=True, atol=1e-5, rtol=1e-5)
    assert found.stride() == expected.stride()
