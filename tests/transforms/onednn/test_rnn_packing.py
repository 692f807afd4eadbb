"""`mkldnn_rnn_layer`: recurrent layers whose weights are packed, and those that stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.freezing.random_constant_graphs import Held
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph, verify
from xductor.transforms.onednn.rnn_packing import RnnWeightPacking

LSTM = 2
INNER, HIDDEN = 4, 8
CALL = "aten.mkldnn_rnn_layer.default"


def layer(
    x: Any, *weights: Any, reverse: bool = False, bias: bool = True, train: bool = False
) -> Any:
    start = x.new_zeros(1, x.shape[1], HIDDEN)
    settings = (reverse, [], LSTM, HIDDEN, 1, bias, False, False, train)
    return torch.ops.aten.mkldnn_rnn_layer(x, *weights, start, start, *settings)[:3]


def given(bias: bool = True) -> list[torch.Tensor]:
    inner, hidden = torch.randn(4 * HIDDEN, INNER), torch.randn(4 * HIDDEN, HIDDEN)
    vectors = [torch.randn(4 * HIDDEN) for _ in range(2)]
    return [inner, hidden, *(vectors if bias else [torch.zeros(4 * HIDDEN)] * 2)]


def packed(
    program: Callable[..., Any], constants: list[torch.Tensor], dtype: torch.dtype = torch.float32
) -> int:
    """How many layers were packed; the values are compared."""
    x = torch.randn(5, 3, INNER, dtype=dtype)
    module = Held(program, constants)
    gm = make_fx(module, tracing_mode="fake", _allow_non_fake_inputs=True)(x)
    lowered = from_fx(gm, "post_grad")
    count = RnnWeightPacking().rewrite(lowered)
    verify(lowered, "types")
    calls = [op for op in entry_graph(lowered).block.ops if op.name == CALL]
    are_opaque = [op.argument("weight0").type.data.layout == "_mkldnn" for op in calls]
    assert sum(are_opaque) == count
    for found, wanted in zip(to_fx(lowered)(x), module(x), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
        assert found.stride() == wanted.stride()
    return count


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_a_layer(reverse: bool, bias: bool) -> None:
    def program(x: Any, *weights: Any) -> Any:
        return layer(x, *weights, reverse=reverse, bias=bias)

    assert packed(program, given(bias)) == 1


def test_two_layers_of_the_same_weights_hold_them_once() -> None:
    def program(x: Any, *weights: Any) -> Any:
        return (*layer(x, *weights), *layer(x + 1, *weights))

    assert packed(program, given()) == 2


def test_one_direction_each_way() -> None:
    def program(x: Any, *weights: Any) -> Any:
        return (*layer(x, *weights), *layer(x, *weights, reverse=True))

    assert packed(program, given()) == 2


@pytest.mark.parametrize(
    "program",
    [
        lambda x, *weights: layer(x, weights[0] + x.sum(), *weights[1:]),
        lambda x, *weights: layer(x, weights[0], weights[1] * x.sum(), *weights[2:]),
    ],
)
def test_weights_that_are_computed_stay(program: Callable[..., Any]) -> None:
    assert packed(program, given()) == 0


class Model(nn.Module):
    def __init__(self, **settings: Any) -> None:
        super().__init__()
        width = HIDDEN * (1 + settings.get("bidirectional", False))
        self.layer, self.out = nn.LSTM(INNER, HIDDEN, **settings), nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(x)[0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("settings", "layers"),
    [
        ({}, 1),
        ({"num_layers": 2, "batch_first": True}, 2),
        ({"bidirectional": True, "bias": False}, 2),
    ],
)
@torch._dynamo.config.patch(allow_rnn=True)
def test_frozen_models(settings: dict[str, Any], layers: int) -> None:
    torch._dynamo.reset()
    counters.clear()
    model, x = Model(**settings).eval(), torch.randn(2, 5, INNER)
    held = {name: value.clone() for name, value in model.state_dict().items()}
    compiled = torch.compile(model, backend="xductor", options={"xductor.on_error": "raise"})
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)
    assert counters["inductor"]["mkldnn_rnn_weight_pack_matcher_count"] == layers
    assert all(torch.equal(held[name], value) for name, value in model.state_dict().items())
