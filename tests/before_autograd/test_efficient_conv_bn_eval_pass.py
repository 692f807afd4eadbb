"""`efficient_conv_bn_eval_pass`: which norms go into a weight, and with what values."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._inductor import config

import xductor
from xductor.backend.run_as_fx.without_codegen import without_codegen

nn = torch.nn

LAYERS = {
    "linear": (lambda: nn.Linear(4, 6), (5, 4)),
    "conv1d": (lambda: nn.Conv1d(4, 6, 2), (2, 4, 5)),
    "conv2d": (lambda: nn.Conv2d(4, 6, 2, stride=2, padding=1, groups=2), (2, 4, 5, 5)),
    "conv3d": (lambda: nn.Conv3d(4, 6, 2, bias=False), (2, 4, 3, 3, 3)),
    "conv_transpose1d": (lambda: nn.ConvTranspose1d(4, 6, 2), (2, 4, 5)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(4, 6, 2, groups=2, bias=False), (2, 4, 3, 3)),
    "conv_transpose3d": (lambda: nn.ConvTranspose3d(4, 6, 2, groups=2), (2, 4, 3, 3, 3)),
}


class Normed(nn.Module):
    """A layer and a norm in evaluation whose statistics are those of some training."""

    def __init__(self, layer: nn.Module, *, affine: bool = True) -> None:
        super().__init__()
        self.layer = layer
        self.register_buffer("mean", torch.randn(6))
        self.register_buffer("var", torch.rand(6) + 0.5)
        self.scale = nn.Parameter(torch.randn(6)) if affine else None
        self.shift = nn.Parameter(torch.randn(6)) if affine else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        return F.batch_norm(y, self.mean, self.var, self.scale, self.shift, eps=1e-3)


def compiled(function: Any, *inputs: Any, **options: Any) -> tuple[Any, int]:
    """What a compile without code generation gives, and how many norms went into weights."""
    torch._dynamo.reset()
    given = {"xductor.on_error": "raise", **options}
    with without_codegen(), config.patch(efficient_conv_bn_eval_fx_passes=True):
        found = torch.compile(function, backend="xductor", options=given)(*inputs)
    return found, xductor.last_compile().count("efficient_conv_bn_eval_pass")


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_values_and_gradients(name: str, affine: bool) -> None:
    make, sizes = LAYERS[name]
    module, x = Normed(make(), affine=affine), torch.randn(sizes, requires_grad=True)
    found, count = compiled(module, x)
    assert count == 1
    expected = module(x)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    leaves = [x, *module.parameters()]
    ours, theirs = (torch.autograd.grad(y.square().sum(), leaves) for y in (found, expected))
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)


W, B, M, V = torch.randn(4, 3, 3, 3), torch.randn(4), torch.randn(4), torch.rand(4) + 0.5
X = torch.randn(2, 3, 5, 5)

SPELLINGS = [
    lambda x: F.batch_norm(F.conv2d(x, W, bias=B, stride=2, padding=1), M, V),
    lambda x: F.batch_norm(F.conv2d(x, weight=W, bias=B), running_mean=M, running_var=V),
    lambda x: F.batch_norm(input=torch.conv2d(x, W), running_mean=M, running_var=V, weight=B),
    lambda x: F.batch_norm(F.conv2d(input=x, weight=W, padding="same"), M, V, None, B, False),
    lambda x: torch.ops.aten.batch_norm(
        torch.conv2d(x, W, B), B, None, M, V, False, 0.1, 1e-5, True
    ),
]


@pytest.mark.parametrize("number", range(len(SPELLINGS)))
def test_spellings(number: int) -> None:
    found, count = compiled(SPELLINGS[number], X)
    assert count == (number != 3)  # padding by name is another operator
    torch.testing.assert_close(found, SPELLINGS[number](X), atol=1e-5, rtol=1e-4)


NOT = [
    lambda x: F.batch_norm(F.conv2d(x, W), M.clone(), V.clone(), training=True),
    lambda x: (y := F.conv2d(x, W), F.batch_norm(y, M, V)),
    lambda x: F.batch_norm(F.conv2d(x, W).relu(), M, V),
    lambda x: F.batch_norm(F.linear(x, W[:3, 0].reshape(3, 9)[:, :5]), M[:3], V[:3]),
]


@pytest.mark.parametrize("number", range(len(NOT)))
def test_what_stays(number: int) -> None:
    found, count = compiled(NOT[number], X)
    assert count == 0
    torch.testing.assert_close(found, NOT[number](X))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_weights_are_computed_in_float32_under_fast_alone(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    module = Normed(nn.Conv2d(64, 6, 3)).to(dtype)
    x = torch.randn(8, 64, 6, 6).to(dtype)
    assert compiled(module, x)[1] == 0
    found, count = compiled(module, x, **{"xductor.numerics": "fast"})
    assert count == 1
    exact = copy.deepcopy(module).double()(x.double())
    assert found.dtype is dtype
    assert _error(found, exact) < _error(_folded_in_16_bits(module, x), exact)


def _folded_in_16_bits(module: Normed, x: torch.Tensor) -> torch.Tensor:
    factor = module.scale * torch.rsqrt(module.var + 1e-3)
    shift = module.shift + factor * (module.layer.bias - module.mean)
    return F.conv2d(x, module.layer.weight * factor[:, None, None, None], shift)


def _error(found: torch.Tensor, exact: torch.Tensor) -> float:
    """The root of the mean square of a tensor's errors."""
    return (found.double() - exact).square().mean().sqrt().item()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), -0.0])
def test_special_inputs(number: float) -> None:
    x = X.clone()
    x[0, 1, 2, 2] = number
    found, count = compiled(SPELLINGS[0], x)
    assert count == 1
    torch.testing.assert_close(found, SPELLINGS[0](x), atol=1e-5, rtol=1e-4, equal_nan=True)
