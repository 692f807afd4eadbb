"""`linear_dynamic_fp16`: products with weights rounded to float16, in the IR and frozen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters

import xductor
from tests.specimens.fp16_product_specimens import PRODUCTS, rounded
from tests.specimens.freezing_specimens import held
from xductor.backend.fx.export import to_fx
from xductor.ir import entry_graph, verify
from xductor.transforms.onednn.fp16_linear_packing import LinearDynamicFp16

LINEAR, WITH_RELU = (f"onednn.linear_{one}dynamic_fp16.default" for one in ("", "relu_"))
WEIGHT, BIAS, X = torch.randn(5, 8), torch.randn(5), torch.randn(6, 8)

aten = torch.ops.aten
round_to = torch.ops.quantized_decomposed.convert_element_type.no_fuse
Program = Callable[..., Any]


def packed(
    program: Program, *constants: Tensor, x: Tensor = X, policy: Any = "default"
) -> tuple[int, list[str]]:
    """How often the pass applied, and the ops after it; values are compared with the program's."""
    module = held(lambda x, *kept: (program(x, *kept),), constants, x)
    before = [one.clone() for one in constants]
    count = LinearDynamicFp16(policy=policy).rewrite(module)
    verify(module, "types")
    found, wanted = to_fx(module)(x)[0], program(x, *constants)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-4, equal_nan=True)
    pairs = zip(before, constants, strict=True)
    assert all(torch.equal(old.nan_to_num(), new.nan_to_num()) for old, new in pairs)
    return count, [op.name for op in entry_graph(module).block.ops]


@pytest.mark.parametrize("what", PRODUCTS)
def test_products(what: str) -> None:
    function, sizes = PRODUCTS[what]
    count, names = packed(function, WEIGHT, BIAS, x=torch.randn(sizes))
    assert count == 1
    assert LINEAR in names
    assert not [one for one in names if "no_fuse" in one or "mm" in one]


@pytest.mark.parametrize("what", PRODUCTS)
def test_a_relu_only_under_fast(what: str) -> None:
    function, sizes = PRODUCTS[what]

    def program(x: Any, weight: Any, bias: Any) -> Any:
        return torch.relu(function(x, weight, bias))

    x = torch.randn(sizes)
    assert LINEAR in packed(program, WEIGHT, BIAS, x=x)[1]
    assert WITH_RELU in packed(program, WEIGHT, BIAS, x=x, policy="fast")[1]


def test_nan_and_infinite_data() -> None:
    inf = float("inf")
    for one in (float("nan"), inf, -inf, 1e30, -0.0):
        x = X.clone()
        x[1, 2] = one

        def program(x: Any, weight: Any, bias: Any) -> Any:
            return torch.relu(torch.addmm(bias, x, rounded(weight)))

        assert packed(program, WEIGHT, BIAS, x=x)[0] == 1


@pytest.mark.parametrize("number", [1e6, -65520.0, float("inf"), float("nan")])
def test_numbers_beyond_float16_stay(number: float) -> None:
    """oneDNN would take the largest number, and write it to the weight."""
    weight = WEIGHT.clone()
    weight[0, 0] = number
    assert packed(lambda x, w: torch.mm(x, rounded(w)), weight)[0] == 0


def test_small_numbers_and_the_largest() -> None:
    weight = WEIGHT.clone()
    weight[0, :6] = torch.tensor([65504.0, 65519.0, 1e-6, 3e-8, 1e-9, -0.0])
    assert packed(lambda x, w: torch.mm(x, rounded(w)), weight)[0] == 1


def _turned(weight: Any, first: torch.dtype, second: torch.dtype) -> Any:
    return aten.permute.default(round_to(round_to(weight, first), second), [1, 0])


HALF, FULL, BF16 = torch.float16, torch.float32, torch.bfloat16

STAYS: dict[str, Program] = {
    "a weight that is computed": lambda x, w, b: torch.mm(x, rounded(w + 1)),
    "another rounding": lambda x, w, b: torch.mm(x, _turned(w, BF16, FULL)),
    "one rounding": lambda x, w, b: torch.mm(
        x.half(), aten.permute.default(round_to(w, HALF), [1, 0])
    ),
    "float64": lambda x, w, b: torch.mm(x.double(), _turned(w, HALF, torch.float64)),
    "a weight that is read elsewhere": lambda x, w, b: (
        lambda columns: torch.mm(x, columns) + columns.sum()
    )(rounded(w)),
    "a weight that is not turned": lambda x, w, b: torch.mm(
        x[:, :5], round_to(round_to(w, HALF), FULL)
    ),
    "factors": lambda x, w, b: torch.addmm(b, x, rounded(w), alpha=2),
    "a bias of all elements": lambda x, w, b: torch.addmm(x[:, :5], x, rounded(w)),
    "a plain cast": lambda x, w, b: torch.mm(x, w.half().float().t()),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_stays(what: str) -> None:
    module = held(lambda x, *kept: (STAYS[what](x, *kept),), (WEIGHT, BIAS), X)
    assert LinearDynamicFp16(policy="fast").rewrite(module) == 0


def test_a_bias_that_is_not_read() -> None:
    nan = torch.full((5,), float("nan"))
    assert packed(lambda x, w, b: torch.addmm(b, x, rounded(w), beta=0), WEIGHT, nan)[0] == 1


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 5, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        for one in (self.first, self.second):
            weight = round_to(round_to(one.weight, HALF), FULL)
            x = torch.relu(nn.functional.linear(x, weight, one.bias))
        return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [False, True])
def test_frozen_models(dynamic: bool) -> None:
    torch._dynamo.reset()
    counters.clear()
    model, x = Model().eval(), torch.randn(3, 4, 8)
    if dynamic:
        torch._dynamo.mark_dynamic(x, 0)
    held = {name: value.clone() for name, value in model.state_dict().items()}
    compiled = torch.compile(model, backend="xductor", options={"xductor.on_error": "raise"})
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-5)
    assert xductor.last_compile().count("linear_dynamic_fp16") == 2
    assert counters["inductor"]["qlinear_weight_prepack_matcher_count"] == 2
    assert all(torch.equal(held[name], value) for name, value in model.state_dict().items())
