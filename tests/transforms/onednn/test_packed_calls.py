"""What is computed with packed calls: beside Inductor's counts, with NaN, users' entries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed
from torch._dynamo.utils import counters
from torch._inductor import config
from torch._inductor.fx_passes import post_grad
from torch._inductor.pattern_matcher import CallFunction, Ignored, register_graph_pattern

import xductor
from tests.backend.pipelines.frozen_graphs import packing
from tests.corpus.capture import StageCall, passes_only, stage_calls
from tests.specimens import onednn_specimens as specimens
from xductor.backend.fx.export import to_fx
from xductor.backend.steps import user_patterns
from xductor.ir import entry_graph, print_ir
from xductor.transforms.onednn.binary_fusion import MkldnnBinaryFusion
from xductor.transforms.onednn.unary_fusion import MkldnnUnaryFusion

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")

SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 3.0, -3.0, 1e30, -1e30, 0.5]


@pytest.mark.parametrize("call", ["convolution", "linear"])
@pytest.mark.parametrize("what", [*specimens.ACTIVATIONS])
def test_by_default_nothing_hides_nan(call: str, what: str) -> None:
    """Special values pass a convolution or linear by one; what is fused gives what eager does."""
    activation, packed = specimens.ACTIVATIONS[what], specimens.CALLS[call][0]
    finite = what in specimens.UNSURE_OF_INFINITY
    given = [one for one in SPECIAL if not (finite and math.isinf(one))]
    x, weight = torch.tensor(given).view(-1, 1), torch.ones(1, 1)
    if call == "convolution":
        x, weight = x.view(1, 1, 1, -1), weight.view(1, 1, 1, 1)
    module = specimens.lowered(lambda x, w: (activation(packed(x, w)),), x, weight)
    fused = MkldnnUnaryFusion().rewrite(module)
    assert fused == (what not in specimens.HIDING)
    (found,) = to_fx(module)(x, weight)
    torch.testing.assert_close(found, activation(x), equal_nan=True)


def test_a_sum_keeps_nan_where_its_relu_would_not() -> None:
    x, weight = torch.tensor(SPECIAL).view(1, 1, 1, -1), torch.ones(1, 1, 1, 1)
    other = torch.zeros_like(x)

    def model(x: Any, other: Any, w: Any) -> Any:
        return (torch.relu(specimens.convolution(x, w) + other),)

    for policy, ops in (("default", 2), ("fast", 1)):
        module = specimens.lowered(model, x, other, weight)
        assert MkldnnBinaryFusion(policy=policy).rewrite(module) == 1  # type: ignore[arg-type]
        assert len(list(entry_graph(module).block.ops)) == ops + 1
        (found,) = to_fx(module)(x, other, weight)
        assert found.isnan().any() == (policy == "default")


# ------------------------------------------------------------ beside Inductor


class Residual(nn.Module):
    """A block of a residual network."""

    def __init__(self, activation: Callable[[Any], Any], channels: int = 4) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.activation = activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.activation(self.norm(self.first(x)))
        return self.activation(self.second(y) + x)


class Upward(nn.Module):
    """The way up of a U-net."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 4, 2, stride=2)
        self.out = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(self.up(x))
        beside = nn.functional.interpolate(x, scale_factor=2.0)
        return nn.functional.gelu(self.out(torch.cat([y, beside], 1)))


def mobile() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(4, 4, 3, groups=4), nn.ReLU6(), nn.Conv2d(4, 8, 1), nn.Hardswish(),
        nn.Conv2d(8, 4, 1), nn.Hardsigmoid(),
    )  # fmt: skip


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8), nn.Tanh())


IMAGE, ROWS = (2, 4, 8, 8), (2, 3, 8)
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], bool]] = {
    "residual, relu": (
        lambda: nn.Sequential(Residual(torch.relu), Residual(torch.relu)),
        IMAGE,
        False,
    ),
    "residual, silu": (lambda: nn.Sequential(*[Residual(nn.functional.silu)] * 2), IMAGE, False),
    "mobile": (mobile, IMAGE, False),
    "U-net": (Upward, IMAGE, False),
    "linears": (perceptron, ROWS, False),
    "linears of symbolic rows": (perceptron, ROWS, True),
}
COUNTED = {
    f"mkldnn_{name}_matcher_count"
    for name in (
        "conv_weight_pack",
        "linear_weight_pack",
        "reshape_linear_reshape",
        "unary_fusion",
        "conv_binary_unary_fusion",
    )
}


class _Seen(Exception):
    """The post-grad stage is done."""


def _stop(call: StageCall) -> None:
    if call.stage == "post_grad":
        raise _Seen


@pytest.fixture(autouse=True)
def packs() -> Iterator[None]:
    with packing(True):
        yield
    torch._dynamo.reset()


def counts_of_stock(model: nn.Module, x: torch.Tensor, dynamic: bool) -> dict[str, int]:
    torch._dynamo.reset()
    counters.clear()
    with (
        torch.no_grad(),
        config.patch(freezing=True),
        passes_only(),
        stage_calls(lambda call: None, _stop),
        pytest.raises(BackendCompilerFailed),
    ):
        torch.compile(model, dynamic=dynamic)(x)
    return {name: counters["inductor"][name] for name in COUNTED}


def compiled(model: Any, *inputs: Any, dynamic: bool = False, **options: Any) -> Any:
    torch._dynamo.reset()
    counters.clear()
    chosen = {"xductor.on_error": "raise", "xductor.verify": "types", **options}
    with torch.no_grad(), config.patch(freezing=True), passes_only():
        return torch.compile(model, backend="xductor", dynamic=dynamic, options=chosen)(*inputs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_counts_are_those_of_inductor_and_values_those_of_eager(name: str) -> None:
    make, sizes, dynamic = MODELS[name]
    torch.manual_seed(0)
    model, x = make().eval(), torch.randn(sizes)
    theirs = counts_of_stock(model, x, dynamic)
    with torch.no_grad():
        expected = model(x)
    found = compiled(model, x, dynamic=dynamic, **{"xductor.numerics": "fast"})
    ours = {one: counters["inductor"][one] for one in COUNTED}
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert all(ours[one] >= theirs[one] for one in COUNTED), (ours, theirs)
    found = compiled(model, x, dynamic=dynamic)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_sum_in_place() -> None:
    model = nn.Sequential(Residual(torch.tanh), Residual(torch.tanh)).eval()
    x = torch.randn(IMAGE)
    with torch.no_grad():
        expected = model(x)
    torch.testing.assert_close(compiled(model, x), expected, rtol=1e-4, atol=1e-5)
    record = xductor.last_compile()
    assert record.count("mkldnn_binary_fusion") == 2
    assert record.count("reinplace_inplaceable_ops") == 1  # the first one adds an input


@pytest.mark.filterwarnings("ignore")
def test_dtypes_that_this_machine_does_not_compute_with_are_left_alone() -> None:
    model, x = mobile().double().eval(), torch.randn(IMAGE, dtype=torch.float64)
    with torch.no_grad():
        expected = model(x)
    torch.testing.assert_close(compiled(model, x), expected)
    assert xductor.last_compile().count("mkldnn_convolution_packing") == 0


# ------------------------------------------------------------ what users register


@pytest.mark.filterwarnings("ignore")
def test_an_entry_of_the_users_runs_behind_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    compiled(mobile().eval(), torch.randn(IMAGE))  # so that the tables are filled
    table = post_grad.pass_patterns[1]
    op = torch.ops.mkldnn._convolution_pointwise.default
    monkeypatch.setitem(table.patterns, ("call_function", op), [])

    @register_graph_pattern(CallFunction(op, *[Ignored() for _ in range(10)]), pass_dict=table)
    def see(match: Any, *args: Any, **kwargs: Any) -> None:
        seen.append(match.output_node().args[-3])

    compiled(mobile().eval(), torch.randn(IMAGE))
    assert sorted(seen) == ["hardswish", "none", "none"]
    assert xductor.last_compile().count("mkldnn_unary_fusion") == 1


def test_handlers_of_one_name_are_told_apart() -> None:
    post_grad.lazy_init()
    table = post_grad.pass_patterns[1]
    module = "torch._inductor.fx_passes.mkldnn_fusion"
    homes = {
        home
        for entries in table.patterns.values()
        for entry in entries
        for home in user_patterns.entry_homes(entry)
        if home[0] == module
    }
    makers = ("unary", "leaky_relu", "hardtanh", "binary_unary", "binary_unary_maybe_inplace")
    wanted = {(module, f"_register_{one}_fusion_lowering.fn") for one in makers}
    assert wanted <= homes
    rest = user_patterns.without(table, frozenset(wanted))
    assert not any(
        user_patterns.entry_home(entry) == (module, "fn")
        for entries in rest.patterns.values()
        for entry in entries
    )


# ------------------------------------------------------------ packed weights


@pytest.mark.filterwarnings("ignore")
def test_types_say_that_weights_are_packed() -> None:
    texts: list[str] = []

    def see(call: StageCall) -> None:
        if call.stage == "post_grad":
            texts.append(print_ir(xductor.from_fx(call.gm, "post_grad")))

    torch._dynamo.reset()
    with (
        torch.no_grad(),
        config.patch(freezing=True),
        passes_only(),
        stage_calls(see),
        pytest.raises((BackendCompilerFailed, AttributeError)),
    ):
        torch.compile(mobile().eval())(torch.randn(IMAGE))
    assert texts[0].count("layout _mkldnn>") == 3


@pytest.mark.filterwarnings("ignore")
def test_the_users_weights_stay_as_they_are() -> None:
    model, x = mobile().eval(), torch.randn(IMAGE)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    kept = dict(model.state_dict(keep_vars=True))
    for _ in range(2):
        compiled(model, x)
    for name, value in model.state_dict(keep_vars=True).items():
        assert value is kept[name]
        assert torch.equal(value, before[name])


@pytest.mark.filterwarnings("ignore")
@torch._dynamo.config.patch(allow_rnn=True)
def test_recurrent_layers_are_packed_and_what_follows_them() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.out = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.out(self.layer(x)[0])

    model, x = Recurrent().eval(), torch.randn(2, 5, 4)
    with torch.no_grad():
        expected = model(x)
    torch.testing.assert_close(compiled(model, x), expected, rtol=1e-4, atol=1e-5)
    assert counters["inductor"]["mkldnn_rnn_weight_pack_matcher_count"] == 1
    assert counters["inductor"]["mkldnn_linear_weight_pack_matcher_count"] == 1
