"""`mkldnn_linear_packing`: which products of float32 are MKL's and which oneDNN's."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest
import torch
from torch import nn
from torch._inductor import config

import xductor
from tests.transforms.onednn.random_packed_models import lowered
from xductor.backend.fx.export import to_fx
from xductor.backend.steps import cpu_libraries, typed_steps
from xductor.ir import entry_graph, print_ir
from xductor.transforms.freezing.constant_fold import ConstantFold
from xductor.transforms.onednn.linear_packing import LinearWeightPacking

pytestmark = pytest.mark.skipif(
    not (torch._C._has_mkldnn and torch._C.has_mkl), reason="without oneDNN or MKL"
)

MKLS, ONEDNNS = "mkl._mkl_linear.default", "mkldnn._linear_pointwise.default"


def _seeded(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes)))


class _Linears(nn.Module):
    """Linears of a frozen model, one after the other."""

    def __init__(self, *sizes: int, bias: bool = True) -> None:
        super().__init__()
        self.weights = [_seeded(n, k) / k**0.5 for k, n in itertools.pairwise(sizes)]
        self.biases = [_seeded(n) if bias else None for n in sizes[1:]]

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        for weight, bias in zip(self.weights, self.biases, strict=True):
            x = nn.functional.linear(x, weight, bias)
        return (x,)


def _packed(model: nn.Module, x: torch.Tensor, *, dynamic: bool = False, **given: Any) -> Any:
    """The frozen graph of a model with its products packed."""
    module = lowered(model, x, dynamic=dynamic)
    ConstantFold().rewrite(module)
    options: dict[str, Any] = {"mkl_is_narrow": True, **given}
    assert LinearWeightPacking(**options).rewrite(module) > 0
    xductor.verify(module, level="types")
    return module


def _calls(module: Any) -> list[str]:
    names = [getattr(op, "name", "") for op in entry_graph(module).block.ops]
    return [name for name in names if name in (MKLS, ONEDNNS)]


@pytest.mark.parametrize("bias", [False, True])
def test_large_products_are_onednns(bias: bool) -> None:
    model, x = _Linears(256, 128, 8, bias=bias), _seeded(64, 256)
    module = _packed(model, x)
    assert _calls(module) == [ONEDNNS, MKLS]
    (found,), (eager,) = to_fx(module)(x), model(x)
    torch.testing.assert_close(found, eager, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rows", [4, 64])
def test_a_bias_that_is_not_contiguous_is_left(rows: int) -> None:
    """A packed call takes it for contiguous, and would read what lies between its elements."""
    model, x = _Linears(256, 128), _seeded(rows, 256)
    for bias in (_seeded(256)[::2], _seeded(1).expand(128)):
        model.biases = [bias]
        module = lowered(model, x)
        ConstantFold().rewrite(module)
        assert LinearWeightPacking(mkl_is_narrow=True).rewrite(module) == 0
        torch.testing.assert_close(to_fx(module)(x)[0], model(x)[0])


@pytest.mark.parametrize(
    "options",
    [{"mkl_is_narrow": False}, {}, {"packs_for_mkl": False}],
    ids=["wide", "narrow", "ahead of time"],
)
def test_facts_of_the_machine_decide(options: dict[str, Any]) -> None:
    module = _packed(_Linears(256, 128), _seeded(64, 256), **options)
    assert _calls(module) == [MKLS if options == {"mkl_is_narrow": False} else ONEDNNS]


def test_small_products_are_mkls() -> None:
    for rows, expected in ((31, MKLS), (32, ONEDNNS)):
        assert _calls(_packed(_Linears(256, 128), _seeded(rows, 256))) == [expected]


def test_a_packed_weight_is_all_that_is_kept() -> None:
    """MKL's product reads the weight as it was, too, for another number of rows."""
    text = print_ir(_packed(_Linears(256, 128, bias=False), _seeded(64, 256)))
    assert text.count("fx.get_attr") == 1


def test_symbolic_rows_are_onednns() -> None:
    model = _Linears(256, 8)
    module = _packed(model, _seeded(5, 256), dynamic=True)
    assert _calls(module) == [ONEDNNS]
    for rows in (2, 64):
        x = _seeded(rows, 256)
        arguments = [rows, x] if len(entry_graph(module).block.args) > 1 else [x]
        (found,), (eager,) = to_fx(module)(*arguments), model(x)
        torch.testing.assert_close(found, eager, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -0.0])
def test_special_values(bad: float) -> None:
    model, x = _Linears(256, 128), _seeded(64, 256)
    x[3, 5], model.weights[0][7, 9] = bad, bad
    module = _packed(model, x)
    assert _calls(module) == [ONEDNNS]
    (found,), (eager,) = to_fx(module)(x), model(x)
    torch.testing.assert_close(found, eager, rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("seed", range(12))
def test_random_sizes(seed: int) -> None:
    chance = random.Random(seed)
    sizes = [chance.choice((1, 2, 48, 128, 257, 512)) for _ in range(chance.choice((2, 3)))]
    rows = chance.choice((1, 3, 32, 100))
    model, x = _Linears(*sizes, bias=chance.random() < 0.5), _seeded(rows, sizes[0])
    if chance.random() < 0.3:
        x = _seeded(sizes[0], rows).t()
    module = _packed(model, x)
    products = [rows * k * n for k, n in itertools.pairwise(sizes)]
    assert _calls(module) == [ONEDNNS if one >= 1 << 20 else MKLS for one in products]
    (found,), (eager,) = to_fx(module)(x), model(x)
    torch.testing.assert_close(found, eager, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("narrow", [True, False])
def test_generated_code(monkeypatch: pytest.MonkeyPatch, narrow: bool) -> None:
    from torch._inductor.utils import run_and_get_code

    monkeypatch.setattr(cpu_libraries, "mkl_is_narrow", lambda: narrow)
    assert typed_steps.CONFIG_OPTIONS["mkl_is_narrow"]() is narrow
    torch._dynamo.reset()
    model, x = nn.Linear(256, 128).eval(), _seeded(64, 256)
    with torch.no_grad(), config.patch(freezing=True):
        options: Any = {"xductor.on_error": "raise"}
        compiled = torch.compile(model, backend="xductor", options=options)
        found, code = run_and_get_code(compiled, x)
        torch.testing.assert_close(found, model(x), rtol=1e-4, atol=1e-5)
    assert xductor.last_compile().count("mkldnn_linear_packing") == 1
    text = "".join(code)
    assert (f"{ONEDNNS}(" in text, f"{MKLS}(" in text) == (narrow, not narrow)
