"""`concat_linear_int8_woq`: a product with several int8 weights that stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

import xductor
from xductor.backend.fx.export import to_fx
from xductor.transforms.post_grad.view_to_reshape import ViewToReshape
from xductor.transforms.quantized.concat_linear_int8_woq import ConcatLinearInt8Woq
from xductor.transforms.quantized.operators import WEIGHT_INT8PACK_MM

BF16 = torch.bfloat16


def _wide(weight: Any) -> Any:
    return torch.ops.prims.convert_element_type.default(weight, BF16)


def _given(*sizes: int, columns: tuple[int, ...] = (3, 5, 8)) -> tuple[Any, ...]:
    weights = [torch.randint(-128, 128, (n, sizes[-1]), dtype=torch.int8) for n in columns]
    return torch.randn(sizes).to(BF16), torch.rand(sum(columns)).to(BF16), *weights


def _turned_first(x: Any, scales: Any, *weights: Any) -> Any:
    return torch.mm(x, torch.cat([_wide(one.permute(1, 0)) for one in weights], 1)) * scales


def _widened_first(x: Any, scales: Any, *weights: Any) -> Any:
    return scales * torch.mm(x, torch.cat([_wide(one).permute(1, 0) for one in weights], 1))


def _reshaped(x: Any, scales: Any, *weights: Any) -> Any:
    columns = torch.cat([_wide(one.permute(1, 0)) for one in weights], 1)
    product = torch.mm(x.reshape(-1, x.shape[-1]), columns)
    return product.reshape(*x.shape[:-1], columns.shape[1]) * scales


@pytest.mark.parametrize(
    ("function", "sizes", "columns"),
    [
        (_turned_first, (4, 64), (3, 5, 8)),
        (_turned_first, (1, 32), (1,)),
        (_widened_first, (6, 32), (16, 16)),
        (_reshaped, (2, 3, 64), (2, 1, 4, 7)),
    ],
)
def test_the_weights_are_read_as_int8(
    trace: Any, function: Any, sizes: tuple[int, ...], columns: tuple[int, ...]
) -> None:
    given = _given(*sizes, columns=columns)
    case = trace(function, *given, stage="post_grad")
    ViewToReshape().rewrite(case.module)
    assert case.run(ConcatLinearInt8Woq) == 1
    x, scales, *weights = given
    wanted = (x.double() @ torch.cat(weights).double().t()) * scales.double()
    found = to_fx(case.module)(*given).double()
    torch.testing.assert_close(found, wanted, rtol=2**-7, atol=1.0)
    assert WEIGHT_INT8PACK_MM in case.ops
    assert "aten.mm.default" not in case.ops


def _one_is_read_elsewhere(x: Any, scales: Any, *weights: Any) -> Any:
    wide = [_wide(one.permute(1, 0)) for one in weights]
    return torch.mm(x, torch.cat(wide, 1)) * scales, wide[0].sum()


STAYS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "short rows": (_turned_first, _given(4, 48)),
    "float32": (
        lambda x, scales, *weights: (
            torch.mm(x.float(), torch.cat([one.permute(1, 0).float() for one in weights], 1))
            * scales.float()
        ),
        _given(4, 64),
    ),
    "scales of rows": (
        lambda x, scales, *weights: _turned_first(x, scales[:4, None], *weights),
        _given(4, 64),
    ),
    "joined along the rows": (
        lambda x, scales, *weights: (
            torch.mm(x, torch.cat([_wide(one.permute(1, 0)) for one in weights], 0)) * scales[:4]
        ),
        (
            torch.randn(4, 128).to(BF16),
            torch.rand(8).to(BF16),
            *[torch.ones(4, 64, dtype=torch.int8) for _ in range(2)],
        ),
    ),
    "one weight is uint8": (
        lambda x, scales, *weights: _turned_first(x, scales, weights[0].byte(), *weights[1:]),
        _given(4, 64),
    ),
    "one is read elsewhere": (_one_is_read_elsewhere, _given(4, 64)),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_stays(what: str, trace: Any) -> None:
    function, given = STAYS[what]
    assert trace(function, *given, stage="post_grad").run(ConcatLinearInt8Woq) == 0


class Joined(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        _, self.scales, *weights = (torch.nn.Buffer(one) for one in _given(4, 64))
        self.weights = torch.nn.ParameterList(
            [torch.nn.Parameter(one, requires_grad=False) for one in weights]
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _turned_first(x, self.scales, *self.weights)


@pytest.mark.filterwarnings("ignore")
def test_frozen() -> None:
    torch._dynamo.reset()
    counters.clear()
    model, x = Joined().eval(), torch.randn(4, 64).to(BF16)
    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        found = torch.compile(model, backend="xductor", options=options)(x)
    wanted = x.double() @ torch.cat([one.t() for one in model.weights], 1).double() * model.scales
    torch.testing.assert_close(found.double(), wanted, rtol=2**-7, atol=1.0)
    assert xductor.last_compile().count("concat_linear_int8_woq") == 1
    assert counters["inductor"]["woq_matcher_count"] == 1
