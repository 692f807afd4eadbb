"""Frozen programs that Inductor gets wrong, or misses, with variants of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch._inductor import config

import xductor
from tests.backend.pipelines.frozen_graphs import calls
from tests.corpus.capture import StageCall, passes_only, stage_calls
from xductor.backend.seam import dispatch

aten = torch.ops.aten
INF, NAN = float("inf"), float("nan")


class Held(nn.Module):
    """A function of a layer, an input and tensors that the module holds."""

    def __init__(self, function: Callable[..., Any], layer: nn.Module, *held: torch.Tensor):
        super().__init__()
        self.function, self.layer = function, layer
        self.held = nn.ParameterList([nn.Parameter(one) for one in held])

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self.layer, x, *self.held)


def channels(count: int, rank: int = 3) -> torch.Tensor:
    return torch.linspace(0.5, 2, count).view(count, *[1] * (rank - 1))


def normed(layer: nn.Module, *norms: nn.Module) -> nn.Module:
    """Layers with batch norms whose statistics are no plain ones."""
    for norm in norms:
        for name, value in norm.named_buffers():
            if name.startswith("running"):
                value.uniform_(0.5, 2)
    return nn.Sequential(layer, *norms)


IMAGE, ROWS = (2, 4, 5, 5), (3, 4)
Variant = tuple[Callable[[], nn.Module], tuple[int, ...]]

#: A factor of what is added to, or subtracted from, a convolution or product.
FACTORS_OF_SUMS: Mapping[str, Variant] = {
    "sub, without a bias": (
        lambda: Held(
            lambda layer, x, b: torch.sub(layer(x), b, alpha=2),
            nn.Conv2d(4, 6, 3, bias=False),
            channels(6),
        ),
        IMAGE,
    ),
    "the result has the factor": (
        lambda: Held(
            lambda layer, x, b: torch.add(b, layer(x), alpha=3), nn.Conv2d(4, 6, 3), channels(6)
        ),
        IMAGE,
    ),
    "transposed, of groups": (
        lambda: Held(
            lambda layer, x, b: torch.add(layer(x), b, alpha=-0.5),
            nn.ConvTranspose2d(4, 6, 2, groups=2),
            channels(6),
        ),
        IMAGE,
    ),
    "a linear": (
        lambda: Held(
            lambda layer, x, b: torch.sub(b, layer(x), alpha=3), nn.Linear(4, 6), channels(6, 1)
        ),
        ROWS,
    ),
}
#: Factors of an addmm with a constant behind it.
FACTORS_OF_PRODUCTS: Mapping[str, Variant] = {
    "divided": (
        lambda: Held(
            lambda _, x, w, b, m: aten.addmm(b, x, w, beta=0.5, alpha=2) / m,
            nn.Identity(),
            torch.randn(4, 5),
            torch.randn(5),
            channels(5, 1),
        ),
        ROWS,
    ),
    "a bias that is not read": (
        lambda: Held(
            lambda _, x, w, b, m: aten.addmm(b, x, w, beta=0, alpha=-1) - m,
            nn.Identity(),
            torch.randn(4, 5),
            torch.full((5,), NAN),
            channels(5, 1),
        ),
        ROWS,
    ),
    "a bias of one row, and a number": (
        lambda: Held(
            lambda _, x, w, b: aten.addmm(b, x, w, beta=3) * 2.5 + 1,
            nn.Identity(),
            torch.randn(4, 5),
            torch.randn(1, 5),
        ),
        ROWS,
    ),
}
#: Transposed convolutions with a constant for each channel.
TRANSPOSED: Mapping[str, Variant] = {
    "groups": (
        lambda: Held(
            lambda layer, x, c: layer(x) * c,
            nn.ConvTranspose2d(4, 4, 3, groups=2),
            channels(4),
        ),
        IMAGE,
    ),
    "three dims, divided": (
        lambda: Held(lambda layer, x, c: layer(x) / c, nn.ConvTranspose3d(2, 2, 2), channels(2, 4)),
        (2, 2, 3, 3, 3),
    ),
    "more channels": (
        lambda: Held(
            lambda layer, x, c: c * layer(x),
            nn.ConvTranspose2d(4, 6, 3, stride=2, bias=False),
            channels(6),
        ),
        IMAGE,
    ),
    "one dim, and a sum": (
        lambda: Held(
            lambda layer, x, c: layer(x) * c + c, nn.ConvTranspose1d(4, 4, 2), channels(4, 2)
        ),
        (2, 4, 6),
    ),
}
#: Transposed convolutions with batch norms.
NORMED: Mapping[str, Variant] = {
    "groups": (
        lambda: normed(nn.ConvTranspose2d(4, 6, 3, groups=2), nn.BatchNorm2d(6)),
        IMAGE,
    ),
    "three dims, not affine": (
        lambda: normed(nn.ConvTranspose3d(2, 3, 2), nn.BatchNorm3d(3, affine=False)),
        (2, 2, 3, 3, 3),
    ),
    "two norms": (
        lambda: normed(
            nn.ConvTranspose1d(4, 4, 3, bias=False), nn.BatchNorm1d(4), nn.BatchNorm1d(4, eps=0.1)
        ),
        (2, 4, 6),
    ),
}
#: Constants by which a weight cannot be scaled.
NOT_FINITE: Mapping[str, Variant] = {
    "by the other 0": (lambda: Held(lambda layer, x: layer(x) / -0.0, nn.Conv2d(4, 4, 3)), IMAGE),
    "infinity": (
        lambda: Held(lambda layer, x: layer(x) * INF, nn.ConvTranspose2d(4, 4, 3)),
        IMAGE,
    ),
    "a channel by 0": (
        lambda: Held(
            lambda layer, x, c: layer(x) / c,
            nn.Conv2d(4, 4, 3, groups=2),
            torch.tensor([1.0, 0.0, -0.0, 2.0]).view(4, 1, 1),
        ),
        IMAGE,
    ),
    "a product": (lambda: Held(lambda layer, x: layer(x) / 0.0, nn.Linear(4, 4)), ROWS),
}
#: Weights that are put together of several.
JOINED: Mapping[str, Variant] = {
    "rows": (
        lambda: Held(
            lambda _, x, a, b: x @ torch.cat([a, b], 0),
            nn.Identity(),
            torch.randn(2, 5),
            torch.randn(2, 5),
        ),
        ROWS,
    ),
    "a linear of parts": (
        lambda: Held(
            lambda _, x, a, b: nn.functional.linear(x, torch.cat([a[:2], b.t(), a[3:]])),
            nn.Identity(),
            torch.randn(5, 4),
            torch.randn(4, 3),
        ),
        ROWS,
    ),
    "a convolution, and its bias": (
        lambda: Held(
            lambda _, x, a, b: nn.functional.conv2d(
                x, torch.cat([a, b]), torch.cat([a.flatten(1).sum(1), b[:, 0, 0, 0]])
            ),
            nn.Identity(),
            torch.randn(3, 4, 2, 2),
            torch.randn(2, 4, 2, 2),
        ),
        IMAGE,
    ),
}

#: The variants of each kind, and whether something is folded into a weight.
KINDS: Mapping[str, tuple[Mapping[str, Variant], bool]] = {
    "a factor of a sum": (FACTORS_OF_SUMS, True),
    "factors of a product": (FACTORS_OF_PRODUCTS, True),
    "transposed": (TRANSPOSED, True),
    "normed": (NORMED, False),
    "not finite": (NOT_FINITE, False),
    "joined": (JOINED, False),
}
ALL = [(kind, name) for kind, (variants, _) in KINDS.items() for name in variants]


def frozen(model: nn.Module, x: torch.Tensor, dynamic: bool) -> tuple[Any, Counter[str]]:
    """What a frozen model gives, twice, and the calls of its graph after all passes."""
    found: list[Counter[str]] = []

    def see(call: StageCall) -> None:
        if call.stage == "post_grad":
            found.append(calls(call.gm))

    dispatch.attach()
    torch._dynamo.reset()
    flags = {"freezing": True, "enable_linear_binary_folding": True}
    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    with torch.no_grad(), config.patch(flags), passes_only(), stage_calls(lambda _: None, see):
        run = torch.compile(model, backend="xductor", dynamic=dynamic, options=options)
        given = [run(x), run(x)]
    return given, found[-1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("kind", "name"), ALL)
def test_values_are_those_of_eager(kind: str, name: str, dynamic: bool) -> None:
    torch.manual_seed(0)
    variants, folds = KINDS[kind]
    make, sizes = variants[name]
    model, x = make().eval(), torch.randn(sizes)
    held = {key: value.clone() for key, value in model.state_dict().items()}
    with torch.no_grad():
        expected = model(x)
    given, called = frozen(model, x, dynamic)
    for one in given:
        torch.testing.assert_close(one, expected, rtol=1e-4, atol=1e-4, equal_nan=True)
    assert (xductor.last_compile().count("binary_folding") > 0) == folds
    if kind == "normed":  # folded before autograd already
        assert xductor.last_compile().count("efficient_conv_bn_eval_pass") > 0
        assert not {"aten.mul.Tensor", "aten.rsqrt.default"} & called.keys()
    if kind == "joined":
        assert called["aten.cat.default"] == 0
    for key, value in model.state_dict().items():
        torch.testing.assert_close(value, held[key], rtol=0, atol=0, equal_nan=True)
