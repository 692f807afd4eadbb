"""`int8_woq_fusion_pattern`: which products with int8 weights become one, and which must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from tests.transforms.quantized.joined_products import joined
from xductor.transforms.quantized.int8_woq_fusion_pattern import Int8WoqFusionPattern
from xductor.transforms.quantized.operators import WEIGHT_INT8PACK_MM

BF16 = torch.bfloat16
COLUMNS = (5, 3, 8)


def _wide(weight: Any) -> Any:
    return torch.ops.prims.convert_element_type.default(weight, BF16)


def widened_first(x: Any, weight: Any, scales: Any) -> Any:
    return torch.mm(x, _wide(weight).permute(1, 0)) * scales


def turned_first(x: Any, weight: Any, scales: Any) -> Any:
    return scales * torch.mm(x, _wide(weight.permute(1, 0)))


def reshaped(x: Any, weight: Any, scales: Any) -> Any:
    product = torch.mm(x, _wide(weight).permute(1, 0))
    return product.reshape(2, x.shape[0] // 2, weight.shape[0]) * scales


def given(number: int = 3, inner: int = 32) -> list[torch.Tensor]:
    weights = [
        torch.randint(-128, 128, (columns, inner), dtype=torch.int8) for columns in COLUMNS[:number]
    ]
    return [*weights, *[torch.rand(columns).to(BF16) for columns in COLUMNS[:number]]]


def each(product: Callable[..., Any]) -> Callable[..., Any]:
    """What is read of the products of a tensor with each weight."""

    def run(x: Any, *constants: Any) -> Any:
        half = len(constants) // 2
        pairs = zip(constants[:half], constants[half:], strict=True)
        return tuple(product(x, weight, scales).relu() for weight, scales in pairs)

    return run


def fused(
    program: Callable[..., Any], *constants: torch.Tensor, inner: int = 32, dynamic: bool = False
) -> tuple[int, list[str]]:
    """How many groups became one product, and the names of the ops after it."""
    x = torch.randn(4, inner).to(BF16)
    one = Int8WoqFusionPattern(enable_concat_linear=True)
    return joined(one, program, constants, x, dynamic=dynamic, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize(
    ("product", "dynamic"),
    [
        *[(widened_first, False), (widened_first, True), (turned_first, False)],
        *[(turned_first, True), (reshaped, False)],
    ],
)
def test_products_of_one_tensor(product: Callable[..., Any], number: int, dynamic: bool) -> None:
    count, names = fused(each(product), *given(number), dynamic=dynamic)
    assert count == 1
    assert names.count(WEIGHT_INT8PACK_MM) == 1
    assert names.count("aten.cat.default") == 2
    assert "aten.mm.default" not in names


def test_rows_that_the_kernel_does_not_read_stay() -> None:
    assert fused(each(widened_first), *given(inner=40), inner=40)[0] == 0


@pytest.mark.parametrize(
    "program",
    [
        each(lambda x, weight, scales: torch.mm(x, _wide(weight).permute(1, 0)) + scales),
        each(lambda x, weight, scales: torch.mm(x, _wide(weight).permute(1, 0)) * scales[:1]),
        each(lambda x, weight, scales: torch.mm(x, _wide(weight).permute(1, 0)) * 2.0),
        each(lambda x, weight, scales: torch.mm(x + 1, _wide(weight).permute(1, 0)) * scales),
        each(lambda x, weight, scales: torch.mm(x, _wide(weight).permute(1, 0) + 1) * scales),
        lambda x, weight, scales: (
            widened_first(x, weight, scales),
            widened_first(x, weight, scales).relu(),
        ),
        lambda x, weight, scales: (widened_first(x, weight, scales),),
    ],
)
def test_what_stays(program: Callable[..., Any]) -> None:
    weight, _, _, scales, _, _ = given()
    constants = given() if program.__qualname__.startswith("each") else [weight, scales]
    assert fused(program, *constants)[0] == 0


def test_a_product_that_is_read_unscaled_stays() -> None:
    def program(x: Any, *constants: Any) -> Any:
        made = []
        for weight, scales in zip(constants[:3], constants[3:], strict=True):
            product = torch.mm(x, _wide(weight).permute(1, 0))
            made += [product.relu(), (product * scales).relu()]
        return tuple(made)

    assert fused(program, *given())[0] == 0


class _Attention(torch.nn.Module):
    """Three linears of one tensor, with int8 weights."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("q", "k", "v"):
            weight = torch.randint(-128, 128, (32, 64), dtype=torch.int8)
            self.register_buffer(f"{name}_weight", weight)
            self.register_buffer(f"{name}_scales", torch.rand(32).to(BF16) / 128)

    def forward(self, x: torch.Tensor) -> Any:
        return [
            torch.nn.functional.linear(x, getattr(self, f"{name}_weight").to(x.dtype))
            * getattr(self, f"{name}_scales")
            for name in ("q", "k", "v")
        ]


@pytest.mark.parametrize("sizes", [(6, 64), (2, 3, 64)])
def test_frozen_and_compiled_one_kernel_reads_all_weights(sizes: tuple[int, ...]) -> None:
    torch._dynamo.reset()
    counters.clear()
    model, x = _Attention().eval(), torch.randn(sizes).to(BF16)
    options = {"cpp.enable_concat_linear": True, "xductor.on_error": "raise"}
    compiled = torch.compile(model, backend="xductor", options=options)
    held = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        for found, wanted in zip(compiled(x), model(x), strict=True):
            torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)
    assert counters["inductor"]["woq_matcher_count"] == 1
    assert all(torch.equal(held[name], value) for name, value in model.state_dict().items())
