"""`smooth_quant_linear`: products of int8, scaled by rows and columns, in the IR and frozen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters

import xductor
from tests.specimens.freezing_specimens import held
from tests.specimens.int8_product_specimens import ORDERS, SCALES
from xductor.backend.fx.export import to_fx
from xductor.ir import entry_graph, verify
from xductor.transforms.onednn.smooth_quant_packing import SmoothQuantLinear

QLINEAR = "onednn.qlinear_pointwise.default"
WEIGHT = torch.randint(-128, 128, (8, 5), dtype=torch.int8, generator=torch.Generator())
ROWS, COLUMNS, BIAS = torch.rand(6, 1), torch.rand(5), torch.randn(5)
X = torch.randint(-128, 128, (6, 8), dtype=torch.int8)

Program = Callable[..., Any]


def wide(x: Any, weight: Any, dtype: torch.dtype = torch.float32) -> Any:
    return torch.ops.prims.convert_element_type.default(torch._int_mm(x, weight), dtype)


def packed(program: Program, *constants: Tensor, x: Tensor = X) -> tuple[int, list[str]]:
    """How often the pass applied, and the ops after it; values are compared with the program's."""
    module = held(lambda x, *kept: (program(x, *kept),), constants, x)
    count = SmoothQuantLinear().rewrite(module)
    verify(module, "types")
    found, wanted = to_fx(module)(x)[0], program(x, *constants)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-3)
    return count, [op.name for op in entry_graph(module).block.ops]


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("order", ORDERS)
def test_scales_in_any_order(order: str, scales: str) -> None:
    rows, columns = (torch.rand(one) for one in SCALES[scales])

    def program(x: Any, weight: Any, rows: Any, columns: Any) -> Any:
        return ORDERS[order](wide(x, weight), rows, columns)

    count, names = packed(program, WEIGHT, rows, columns)
    assert count == 1
    assert QLINEAR in names
    assert "aten._int_mm.default" not in names


def test_expanded_scales_of_rows() -> None:
    """As graphs of symbolic sizes have them."""

    def program(x: Any, weight: Any, rows: Any, columns: Any) -> Any:
        return wide(x, weight) * torch.ops.aten.expand.default(rows, [6, 5]) * columns

    assert packed(program, WEIGHT, ROWS, COLUMNS)[0] == 1


@pytest.mark.parametrize("reshaped", [False, True])
def test_one_number_for_all_rows_takes_the_bias(reshaped: bool) -> None:
    def program(x: Any, weight: Any, number: Any, columns: Any, bias: Any) -> Any:
        y = wide(x, weight) * number * columns
        y = torch.ops.aten.reshape.default(y, [2, 3, 5]) if reshaped else y
        return bias + y

    count, names = packed(program, WEIGHT, torch.rand(1), COLUMNS, BIAS)
    assert count == 1
    assert "aten.add.Tensor" not in names


def test_scales_of_rows_leave_the_bias() -> None:
    def program(x: Any, weight: Any, rows: Any, columns: Any, bias: Any) -> Any:
        return wide(x, weight) * rows * columns + bias

    count, names = packed(program, WEIGHT, ROWS, COLUMNS, BIAS)
    assert count == 1
    assert "aten.add.Tensor" in names


def test_large_sums() -> None:
    """The least number times itself, in each place."""
    weight, x = (torch.full(one, -128, dtype=torch.int8) for one in ((512, 5), (6, 512)))

    def program(x: Any, weight: Any, rows: Any, columns: Any) -> Any:
        return wide(x, weight) * rows * columns

    assert packed(program, weight, ROWS, COLUMNS, x=x)[0] == 1


def test_other_factors_stay_behind() -> None:
    """Scales of columns twice, and factors of each element."""

    def program(x: Any, weight: Any, columns: Any, each: Any) -> Any:
        return wide(x, weight) * columns * each * columns

    assert packed(program, WEIGHT, COLUMNS, torch.rand(6, 5))[0] == 1


STAYS: dict[str, tuple[Program, tuple[Tensor, ...]]] = {
    "scales of rows alone": (lambda x, w, r: wide(x, w) * r, (WEIGHT, ROWS)),
    "scales of each element": (lambda x, w, e: wide(x, w) * e, (WEIGHT, torch.rand(6, 5))),
    "a number": (lambda x, w, c: wide(x, w) * 2.0, (WEIGHT, COLUMNS)),
    "integers": (lambda x, w: torch._int_mm(x, w) * 2, (WEIGHT,)),
    "a weight that is computed": (lambda x, w, c: wide(x, w + 1) * c, (WEIGHT, COLUMNS)),
    "float64": (
        lambda x, w, c: wide(x, w, torch.float64) * c,
        (WEIGHT, COLUMNS.double()),
    ),
    "scales of another dtype": (lambda x, w, c: wide(x, w) * c, (WEIGHT, COLUMNS.double())),
    "a larger result": (
        lambda x, w, c, e: wide(x, w) * e * c,
        (WEIGHT, COLUMNS, torch.rand(2, 6, 5)),
    ),
    "a product that is read elsewhere": (
        lambda x, w, c: (lambda y: y.float() * c + y.sum())(torch._int_mm(x, w)),
        (WEIGHT, COLUMNS),
    ),
    "a cast that is read elsewhere": (
        lambda x, w, c: (lambda y: y * c + y.sum())(wide(x, w)),
        (WEIGHT, COLUMNS),
    ),
    "a sum": (lambda x, w, c: wide(x, w) + c, (WEIGHT, COLUMNS)),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_stays(what: str) -> None:
    program, constants = STAYS[what]
    assert packed(program, *constants)[0] == 0


def test_a_product_read_twice_keeps_its_bias_out() -> None:
    def program(x: Any, weight: Any, number: Any, columns: Any, bias: Any) -> Any:
        y = wide(x, weight) * number * columns
        return y + bias + y.sum()

    count, names = packed(program, WEIGHT, torch.rand(1), COLUMNS, BIAS)
    assert count == 1
    assert "aten.add.Tensor" in names


class Linear(nn.Module):
    """As smooth quantisation leaves a linear: numbers of 8 bits by dynamic scales of rows."""

    def __init__(self, order: str, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Buffer(WEIGHT.t().contiguous().t())
        self.scales, self.bias = (nn.Buffer(one.to(dtype)) for one in (COLUMNS, BIAS))
        self.order, self.dtype = order, dtype

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, 8)
        rows = flat.abs().amax(-1, keepdim=True) / 127
        narrow = torch.round(flat / rows).to(torch.int8)
        y = ORDERS[self.order](torch._int_mm(narrow, self.weight).to(self.dtype), rows, self.scales)
        return y.reshape(*x.shape[:-1], 5) + self.bias


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_frozen_models(order: str, dynamic: bool) -> None:
    """Inductor takes the scales of the rows for those of the columns, if they come second."""
    torch._dynamo.reset()
    counters.clear()
    model, x = Linear(order, torch.float32).eval(), torch.randn(4, 7, 8)
    held = {name: value.clone() for name, value in model.state_dict().items()}
    if dynamic:
        torch._dynamo.mark_dynamic(x, 0)
    compiled = torch.compile(model, backend="xductor", options={"xductor.on_error": "raise"})
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-4)
    assert xductor.last_compile().count("smooth_quant_linear") == 1
    assert counters["inductor"]["qlinear_weight_prepack_matcher_count"] == 1
    assert all(torch.equal(held[name], value) for name, value in model.state_dict().items())
