"""Where Inductor's table of decompositions goes against eager, ours does not."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch._functorch import config as functorch_config

import xductor
from xductor.backend.config import versions
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.seam import dispatch


@pytest.fixture(autouse=True)
def _graphs_only() -> Iterator[None]:
    torch._dynamo.reset()
    counters.clear()
    with without_codegen(), functorch_config.patch(enable_autograd_cache=False):
        yield
    torch._dynamo.reset()


def _ours(fn: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    return torch.compile(fn, backend="xductor", options={"xductor.on_error": "raise"})


def _operands(columns: int = 4, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return (torch.randn(1, 3).to(dtype), torch.randn(3, columns).to(dtype))


@pytest.mark.parametrize("columns", [4, 1], ids=["row", "dot"])
@pytest.mark.parametrize("alpha", [1, 2])
def test_a_bias_times_zero_is_not_read(columns: int, alpha: int) -> None:
    a, b = _operands(columns)
    bias = torch.full((columns,), float("nan"))

    def fn(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.addmm(x, a, b, beta=0, alpha=alpha)

    torch.testing.assert_close(_ours(fn)(bias, a, b), fn(bias, a, b))


def test_in_place_and_its_gradients() -> None:
    a, b = (t.requires_grad_() for t in _operands())

    def fn(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (x * 1).addmm_(a, b, beta=0)

    def gradients(run: Callable[..., torch.Tensor]) -> tuple[torch.Tensor, ...]:
        bias = torch.full((1, 4), float("inf"), requires_grad=True)
        out = run(bias, a, b)
        return (out.detach(), *torch.autograd.grad(out.sum(), (bias, a, b)))

    torch.testing.assert_close(gradients(_ours(fn)), gradients(fn))


def test_installed_too() -> None:
    a, b = _operands()
    bias = torch.full((4,), float("nan"))
    with xductor.installed({"xductor.on_error": "raise"}):
        out = torch.compile(lambda x, a, b: torch.addmm(x, a, b, beta=0))(bias, a, b)
    torch.testing.assert_close(out, a @ b)


def test_other_factors_are_decomposed_as_stock_does() -> None:
    a, b = _operands()
    bias = torch.tensor([1.0, float("nan"), float("inf"), -0.0])
    out = _ours(lambda x, a, b: torch.addmm(x, a, b, beta=2))(bias, a, b)
    torch.testing.assert_close(out, torch.addmm(bias, a, b, beta=2), equal_nan=True)
    assert counters["inductor"]["decompose_addmm"] == 1


SMALL = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("length", [0, 1, 2, 40])
def test_products_of_integers_keep_their_dtype(dtype: torch.dtype, length: int) -> None:
    """As in eager, they wrap (pytorch/pytorch#191308)."""
    a = torch.full((1, length), 100, dtype=torch.int64).to(dtype)
    b = torch.full((length, 1), 3, dtype=torch.int64).to(dtype)
    wide = torch.full((length, 4), 3, dtype=torch.int64).to(dtype)
    batch = (a.expand(3, 1, length), b.expand(3, length, 1))

    def fn(a: torch.Tensor, b: torch.Tensor, wide: torch.Tensor) -> list[torch.Tensor]:
        bias = b.sum().to(dtype).reshape(1)
        return [
            a @ b,
            torch.matmul(*batch),
            a[0] @ b[:, 0],
            torch.addmm(bias, a, b),
            torch.addmm(bias, a, b, beta=2, alpha=3),
            torch.addmm(bias, a, b, beta=0),
            torch.addmm(bias, a, wide),
            (a @ b) + 1,
            torch.bmm(batch[0], wide.expand(3, length, 4)),
            torch.bmm(wide.t().expand(3, 4, length), batch[1]),
        ]

    run: Any = fn
    torch.testing.assert_close(_ours(run)(a, b, wide), run(a, b, wide), rtol=0, atol=0)


def test_a_complex_weight_of_lerp() -> None:
    x = torch.randn(3, 4, dtype=torch.complex64)
    torch.testing.assert_close(
        _ours(lambda x: torch.lerp(x, x * 2, 0.4j))(x), torch.lerp(x, x * 2, 0.4j)
    )
    torch.testing.assert_close(
        _ours(lambda x: torch.lerp(x, x * 2, 0.4))(x), torch.lerp(x, x * 2, 0.4)
    )


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int64, torch.float32])
@pytest.mark.parametrize(("start", "end"), [(4.3, 0), (0, 50), (100, 3), (7, 7)])
def test_a_range_of_integers(dtype: torch.dtype, start: float, end: float) -> None:
    def fn(x: torch.Tensor) -> list[torch.Tensor]:
        return [x + torch.linspace(start, end, 5, dtype=dtype), x + torch.linspace(start, end, 2)]

    run: Any = fn
    x = torch.zeros(1)
    torch.testing.assert_close(_ours(run)(x), run(x))


def test_stock_compiles_keep_their_table() -> None:
    from torch._inductor.decomposition import select_decomp_table

    compile_fx: Any = versions.compile_fx_module()

    dispatch.attach()
    assert (
        compile_fx.select_decomp_table()[torch.ops.aten.addmm.default]
        is select_decomp_table()[torch.ops.aten.addmm.default]
    )


def test_the_table_can_be_part_of_a_cache_key() -> None:
    """Inductor pickles the function that gives the table: by name, the same in each process."""
    dispatch.attach()
    table = versions.compile_fx_module().select_decomp_table
    assert pickle.loads(pickle.dumps(table)) is table
