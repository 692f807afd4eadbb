"""`mm_plus_mm`: two products and their sum as one operator, in the IR and in compiled code."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from xductor.transforms.matmul.mm_plus_mm import MmPlusMm
from xductor.transforms.validation.values import validating

SIZES = ((4, 6), (6, 5), (4, 3), (3, 5))
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64)


def _sum(a: Any, b: Any, c: Any, d: Any) -> Any:
    return torch.mm(a, b) + torch.mm(c, d)


def _given(dtype: torch.dtype = torch.float32, sizes: Any = SIZES) -> list[torch.Tensor]:
    return [(torch.randn(one) * 4).to(dtype) for one in sizes]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [SIZES, ((4, 0), (0, 5), (4, 3), (3, 5)), ((1, 1),) * 4])
def test_both_products_become_one_operator(trace: Any, dtype: torch.dtype, sizes: Any) -> None:
    given = _given(dtype, sizes)
    case = trace(_sum, *given)
    with validating():
        assert case.run(MmPlusMm) == 1
    assert case.ops == ["xductor.mm_plus_mm.default"]


@pytest.mark.parametrize("special", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_stays(trace: Any, special: float) -> None:
    given = _given()
    given[0][0, 0] = special
    case = trace(_sum, *given)
    case.run(MmPlusMm)
    found = torch.ops.xductor.mm_plus_mm(*given)
    torch.testing.assert_close(found, _sum(*given), equal_nan=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b, c, d: torch.add(torch.mm(a, b), torch.mm(c, d), alpha=3),
        lambda a, b, c, d: torch.sub(torch.mm(a, b), torch.mm(c, d)),
        lambda a, b, c, d: torch.mm(a, b) + torch.mm(c, d)[:1],
        lambda a, b, c, d: torch.mm(a, b) + torch.mm(c, d).double(),
        lambda a, b, c, d: torch.mm(a, b) + torch.mm(c, d).mul_(2),
        lambda a, b, c, d: (lambda p: (p, p + torch.mm(c, d)))(torch.mm(a, b)),
    ],
)
def test_what_stays(trace: Any, function: Any) -> None:
    assert trace(function, *_given()).run(MmPlusMm) == 0


def test_one_product_twice_stays(trace: Any) -> None:
    """The product is computed once, and read twice."""

    def function(a: Any, b: Any) -> Any:
        product = torch.mm(a, b)
        return product + product

    assert trace(function, *_given()[:2]).run(MmPlusMm) == 0


def test_sizes_that_may_be_any(trace: Any) -> None:
    case = trace(_sum, *_given(), dynamic=True)
    with validating():
        assert case.run(MmPlusMm) == 1


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_it_gives_what_eager_gives(dynamic: bool) -> None:
    torch._dynamo.reset()
    counters.clear()
    options = {"max_autotune_gemm": True, "xductor.on_error": "raise"}
    compiled = torch.compile(_sum, backend="xductor", dynamic=dynamic, options=options)
    for m in (4, 7) if dynamic else (4,):
        given = _given(sizes=((m, 6), (6, 5), (m, 3), (3, 5)))
        torch.testing.assert_close(compiled(*given), _sum(*given))
    applied = {name.rpartition(".")[2]: count for name, count in counters["xductor"].items()}
    assert applied["MmPlusMm"] == 1
