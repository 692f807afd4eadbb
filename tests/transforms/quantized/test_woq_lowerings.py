"""`woq_lowerings`: int8 weights that are widened and scaled, in the IR and in compiled code."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.utils import counters

from xductor.transforms.post_grad.view_to_reshape import ViewToReshape
from xductor.transforms.quantized.operators import WEIGHT_INT8PACK_MM
from xductor.transforms.quantized.woq_lowerings import WoqBatchedLowerings, WoqLowerings
from xductor.transforms.validation.values import validating

BF16 = torch.bfloat16


def _wide(weight: Any) -> Any:
    return torch.ops.prims.convert_element_type.default(weight, BF16)


def _given(*sizes: int, columns: int = 5) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    weight = torch.randint(-128, 128, (columns, sizes[-1]), dtype=torch.int8)
    return torch.randn(sizes).to(BF16), weight, torch.rand(columns).to(BF16)


def _widened_first(x: Any, weight: Any, scales: Any) -> Any:
    return torch.mm(x, _wide(weight).permute(1, 0)) * scales


def _turned_first(x: Any, weight: Any, scales: Any) -> Any:
    return scales * torch.mm(x, _wide(weight.permute(1, 0)))


def _reshaped(x: Any, weight: Any, scales: Any) -> Any:
    product = torch.mm(x.reshape(-1, x.shape[-1]), _wide(weight).permute(1, 0))
    return product.reshape(*x.shape[:-1], weight.shape[0]) * scales


def _batched(x: Any, weight: Any, scales: Any) -> Any:
    columns = _wide(weight).permute(1, 0)
    return torch.bmm(x, columns.expand(x.shape[0], *columns.shape)) * scales


def _error(found: torch.Tensor, x: Any, weight: Any, scales: Any) -> float:
    """The largest distance from the product in double precision, in parts of the largest."""
    wanted = (x.double() @ weight.double().t()) * scales.double()
    return float((found.double() - wanted).abs().max() / wanted.abs().max())


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (_widened_first, (4, 64)),
        (_turned_first, (1, 32)),
        (_reshaped, (2, 3, 64)),
        (_reshaped, (2, 1, 3, 32)),
    ],
)
def test_the_weight_is_read_as_int8(
    trace: Any, function: Any, sizes: tuple[int, ...], dynamic: bool
) -> None:
    case = trace(function, *_given(*sizes), dynamic=dynamic, stage="post_grad")
    if dynamic:  # the length of a row is no known multiple of anything
        assert case.run(WoqLowerings) == 0
        return
    ViewToReshape().rewrite(case.module)
    with validating():
        assert case.run(WoqLowerings) == 1
    assert WEIGHT_INT8PACK_MM in case.ops
    assert "aten.mm.default" not in case.ops


def test_batches(trace: Any) -> None:
    case = trace(_batched, *_given(2, 3, 64), stage="post_grad")
    with validating():
        assert case.run(WoqBatchedLowerings) == 1
    assert "aten.bmm.default" not in case.ops


def _scaled_by(make: Any) -> Any:
    return lambda x, weight, scales: torch.mm(x, _wide(weight).permute(1, 0)) * make(scales, x)


@pytest.mark.parametrize(
    "function",
    [
        _scaled_by(lambda scales, x: scales[:1]),
        _scaled_by(lambda scales, x: scales.reshape(1, -1)),
        _scaled_by(lambda scales, x: scales[0]),
        _scaled_by(lambda scales, x: x[:, :1]),
        _scaled_by(lambda scales, x: scales.float()),
        lambda x, weight, scales: (lambda product: (product, product * scales))(
            torch.mm(x, _wide(weight).permute(1, 0))
        ),
        lambda x, weight, scales: torch.mm(x, _wide(weight).permute(1, 0)) + scales,
        lambda x, weight, scales: (
            torch.mm(x, _wide(weight.abs().to(torch.int16)).permute(1, 0)) * scales
        ),
        lambda x, weight, scales: torch.mm(x.float(), weight.float().t()) * scales.float(),
        lambda x, weight, scales: (
            torch.mm(x, _wide(weight).permute(1, 0)).t().reshape(4, 5) * scales
        ),
        lambda x, weight, scales: (
            torch.mm(x, _wide(weight).permute(1, 0)).reshape(5, 4) * scales[:4]
        ),
    ],
)
def test_what_stays(trace: Any, function: Any) -> None:
    case = trace(function, *_given(4, 64), stage="post_grad")
    ViewToReshape().rewrite(case.module)
    assert case.run(WoqLowerings) == 0


@pytest.mark.parametrize("inner", [1, 8, 31, 33, 40, 63])
def test_rows_that_are_no_whole_vectors_stay(trace: Any, inner: int) -> None:
    """The kernel would end the process, or read what follows."""
    assert trace(_widened_first, *_given(4, inner), stage="post_grad").run(WoqLowerings) == 0


@pytest.mark.parametrize("inner", [1, 31, 64])
def test_the_operator_takes_operands_that_lie_anywhere(inner: int) -> None:
    x, weight, scales = _given(4, inner)
    shifted = torch.empty(4 * inner + 1, dtype=BF16)[1:].view(4, inner).copy_(x)
    for rows in (x, shifted, x.t().contiguous().t()):
        for vector in (scales, scales.repeat_interleave(2)[::2], scales[:1].expand(5)):
            found = torch.ops.xductor.weight_int8pack_mm(rows, weight, vector)
            assert _error(found, rows, weight, vector) < 2**-8
    turned = weight.t().contiguous().t()
    found = torch.ops.xductor.weight_int8pack_mm(x, turned, scales)
    assert _error(found, x, weight, scales) < 2**-8


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows: int) -> None:
    x, weight, scales = _given(rows, 64)
    found = torch.ops.xductor.weight_int8pack_mm(x, weight, scales)
    assert found.shape == (rows, 5)


def test_what_is_not_finite_stays() -> None:
    x, weight, scales = _given(4, 64)
    x[0, 0], x[1, 1], weight[:, :2] = float("inf"), float("nan"), 1
    found = torch.ops.xductor.weight_int8pack_mm(x, weight, scales)
    assert found[0].isinf().all()
    assert found[1].isnan().all()
    assert found[2:].isfinite().all()


class _Linear(torch.nn.Module):
    def __init__(self, inner: int) -> None:
        super().__init__()
        weight = torch.randint(-128, 128, (48, inner), dtype=torch.int8)
        self.register_buffer("weight", weight)
        self.register_buffer("scales", torch.rand(48).to(BF16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight.to(x.dtype)) * self.scales


@pytest.mark.parametrize(("freezing", "sizes"), [(False, (4, 64)), (True, (2, 3, 64))])
def test_compiled(freezing: bool, sizes: tuple[int, ...]) -> None:
    torch._dynamo.reset()
    counters.clear()
    model = _Linear(sizes[-1]).eval()
    compiled = torch.compile(model, backend="xductor", options={"xductor.on_error": "raise"})
    shifted = torch.randn(2 * 3 * 64 + 1).to(BF16)[1:][: torch.Size(sizes).numel()].view(sizes)
    with torch.no_grad(), torch._inductor.config.patch(freezing=freezing):
        for x in (torch.randn(sizes).to(BF16), shifted):
            rows = x.reshape(-1, sizes[-1])
            found = compiled(x).reshape(rows.shape[0], -1)
            assert _error(found, rows, model.weight, model.scales) < 2**-8
    assert counters["inductor"]["woq_matcher_count"] == 1
