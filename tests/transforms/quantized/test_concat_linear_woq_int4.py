"""`concat_linear_woq_int4`: which products with packed int4 weights become one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import xductor
from tests.transforms.quantized.joined_products import joined
from xductor.transforms.quantized.concat_linear_woq_int4 import ConcatLinearWoqInt4

aten = torch.ops.aten
PRODUCT = "aten._weight_int4pack_mm_for_cpu.default"
BF16 = torch.bfloat16


def packed(
    rows: int, inner: int = 64, group: int = 32, dtype: torch.dtype = BF16
) -> tuple[torch.Tensor, torch.Tensor]:
    """A packed weight, and its scales and zero points."""
    weight = torch.randint(0, 16, (rows, inner), dtype=torch.int32)
    scales = torch.rand(inner // group, rows, 2).to(dtype)
    return aten._convert_weight_to_int4pack_for_cpu(weight, 1), scales


def product(x: Any, weight: Any, scales: Any, group: int = 32) -> Any:
    return aten._weight_int4pack_mm_for_cpu(x, weight, group, scales)


def each(one: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, *constants: Any) -> Any:
        pairs = zip(constants[::2], constants[1::2], strict=True)
        return tuple(one(x, *pair).relu() for pair in pairs)

    return run


def fused(
    program: Callable[..., Any],
    *constants: torch.Tensor,
    dynamic: bool = False,
    enabled: bool = True,
) -> tuple[int, list[str]]:
    """How many groups became one product, and the names of the ops after it."""
    x = torch.randn(4, 64).to(constants[1].dtype)
    one = ConcatLinearWoqInt4(enable_concat_linear=enabled)
    return joined(one, program, constants, x, dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [BF16, torch.float32])
@pytest.mark.parametrize("rows", [(64, 64), (64, 128, 192)])
def test_the_joined_weight_is_a_constant(
    rows: tuple[int, ...], dtype: torch.dtype, dynamic: bool
) -> None:
    constants = [tensor for one in rows for tensor in packed(one, dtype=dtype)]
    count, names = fused(each(product), *constants, dynamic=dynamic)
    assert count == 1
    assert names.count(PRODUCT) == 1
    assert names.count("fx.get_attr") == 2
    assert "aten.cat.default" not in names


def test_others_that_read_the_tensor_do_not_matter() -> None:
    def program(x: Any, *constants: Any) -> Any:
        return (*each(product)(x, *constants), x.relu())

    assert fused(program, *packed(64), *packed(128))[0] == 1


@pytest.mark.parametrize("rows", [(64,), (16, 48), (32, 64)])
def test_one_product_or_part_of_a_block_stays(rows: tuple[int, ...]) -> None:
    constants = [tensor for one in rows for tensor in packed(one)]
    assert fused(each(product), *constants)[0] == 0


def test_groups_of_other_sizes_stay() -> None:
    def program(x: Any, *constants: Any) -> Any:
        first, second = constants[:2], constants[2:]
        return product(x, *first).relu(), product(x, *second, group=64).relu()

    assert fused(program, *packed(64), *packed(64, group=64))[0] == 0


def test_another_tensor_stays() -> None:
    def program(x: Any, *constants: Any) -> Any:
        return product(x, *constants[:2]).relu(), product(x + 1, *constants[2:]).relu()

    assert fused(program, *packed(64), *packed(64))[0] == 0


def test_a_weight_that_is_read_twice_stays() -> None:
    def program(x: Any, *constants: Any) -> Any:
        return product(x, *constants).relu(), product(x, *constants).sin()

    assert fused(program, *packed(64))[0] == 0


def test_not_unless_it_is_asked_for() -> None:
    assert fused(each(product), *packed(64), *packed(64), enabled=False)[0] == 0


class _Linears(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name in ("gate", "up"):
            weight, scales = packed(64)
            self.register_buffer(f"{name}_weight", weight)
            self.register_buffer(f"{name}_scales", scales)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = product(x, self.gate_weight, self.gate_scales)
        return torch.nn.functional.silu(gate) * product(x, self.up_weight, self.up_scales)


def test_frozen_and_compiled() -> None:
    torch._dynamo.reset()
    model, x = _Linears().eval(), torch.randn(3, 64).to(BF16)
    held = {name: value.clone() for name, value in model.state_dict().items()}
    options = {"cpp.enable_concat_linear": True, "xductor.on_error": "raise"}
    compiled = torch.compile(model, backend="xductor", options=options)
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        torch.testing.assert_close(compiled(x), model(x), rtol=2e-2, atol=2e-2)
    assert xductor.last_compile().count("concat_linear_woq_int4") == 1
    assert all(torch.equal(held[name], value) for name, value in model.state_dict().items())
