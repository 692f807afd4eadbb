"""Sums of scattered 16-bit floats: values, what stays, and what a GPU computes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.backend.fx.export import to_fx
from xductor.backend.records import stage_records
from xductor.ir import parse_ir
from xductor.transforms import TypedPass
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rows.registry import typed_class

aten = torch.ops.aten
NARROW = (torch.bfloat16, torch.float16)
PASS: TypedPass = typed_class("accumulate_in_float32")()


def _applied(case: Any) -> int:
    """How often the pass applies to graphs of a CPU, where it does not pay."""
    with watching(any_device=True):
        return case.run(PASS)


def _added(x: Any, index: Any, src: Any) -> Any:
    return aten.scatter_add(x, -1, index, src)


def _reduced(x: Any, index: Any, src: Any) -> Any:
    return aten.scatter_reduce(x, -1, index, src, "sum", include_self=False)


def _put(x: Any, index: Any, src: Any) -> Any:
    return aten.index_put(x, [None, index[0]], src, True)


@pytest.mark.parametrize("function", [_added, _reduced, _put])
@pytest.mark.parametrize("seed", range(20))
def test_no_further_from_float64(trace: Any, function: Callable[..., Any], seed: int) -> None:
    chosen = random.Random(seed)
    torch.manual_seed(seed)
    rows, width, terms = chosen.randint(1, 4), chosen.randint(1, 6), chosen.choice((6, 50, 400))
    dtype = chosen.choice(NARROW)
    x, src = torch.randn(rows, width).to(dtype), torch.randn(rows, terms).to(dtype)
    index = torch.randint(width, (rows, terms))
    case = trace(function, x, index, src)
    assert _applied(case) == 1
    found = to_fx(case.module)(x, index, src)
    assert found.dtype == dtype
    wanted = function(x.double(), index, src.double())
    before = (function(x, index, src).double() - wanted).abs().max()
    assert (found.double() - wanted).abs().max() <= before
    torch.testing.assert_close(found, wanted.to(dtype), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("function", [_added, _reduced, _put])
@pytest.mark.parametrize("dtype", NARROW)
def test_what_is_not_finite(
    trace: Any, special: Any, function: Callable[..., Any], dtype: torch.dtype
) -> None:
    """One term for each element: the same as eager, and NaN where that is NaN."""
    x, src = torch.zeros(2, 9, dtype=dtype), special(2, 9, dtype=dtype)
    index = torch.arange(9).repeat(2, 1)
    case = trace(function, x, index, src)
    assert _applied(case) == 1
    torch.testing.assert_close(
        to_fx(case.module)(x, index, src),
        function(x, index, src),
        rtol=0,
        atol=0,
        equal_nan=True,
    )


def test_a_sum_that_overflows_on_its_way(trace: Any) -> None:
    """65504 is the largest number of float16."""
    x, src = torch.zeros(1, 1).half(), torch.tensor([[6e4, 6e4, -6e4]]).half()
    index = torch.zeros(1, 3, dtype=torch.int64)
    case = trace(_added, x, index, src)
    assert _applied(case) == 1
    assert to_fx(case.module)(x, index, src).item() == src[0, 0].item()


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (_added, torch.float32),
        (_added, torch.float64),
        (_added, torch.int16),
        (lambda x, i, s: aten.scatter_reduce(x, -1, i, s, "amax"), torch.bfloat16),
        (lambda x, i, s: aten.scatter_reduce(x, -1, i, s, "mean"), torch.bfloat16),
        (lambda x, i, s: aten.scatter(x, -1, i, s), torch.bfloat16),
        (lambda x, i, s: aten.index_put(x, [None, i[0]], s), torch.bfloat16),
        (lambda x, i, s: aten.index_put(x, [x > 0], s[0, 0], True), torch.bfloat16),
        (lambda x, i, s: _added(x, i[:, :1], s[:, :1]), torch.bfloat16),
    ],
)
def test_what_stays(trace: Any, function: Callable[..., Any], dtype: torch.dtype) -> None:
    x, src = torch.randn(3, 5).to(dtype), torch.randn(3, 40).to(dtype)
    assert _applied(trace(function, x, torch.randint(5, (3, 40)), src)) == 0


@pytest.mark.parametrize(("columns", "applied"), [(1, 1), (3, 1), (4, 0), (64, 0)])
def test_rows_are_added_as_they_are(trace: Any, columns: int, applied: int) -> None:
    def put(x: Any, index: Any, src: Any) -> Any:
        return aten.index_put(x, [index], src, True)

    x, src = torch.randn(8, columns).half(), torch.randn(40, columns).half()
    assert _applied(trace(put, x, torch.randint(8, (40,)), src)) == applied


def test_what_is_written_stays(trace: Any) -> None:
    def written(x: Any, index: Any, src: Any) -> Any:
        return aten.scatter_add_(x, -1, index, src)

    given = torch.randn(3, 5).half(), torch.randint(5, (3, 40)), torch.randn(3, 40).half()
    assert _applied(trace(written, *given, stage="post_grad")) == 0


def test_without_elements(trace: Any) -> None:
    given = torch.zeros(0, 5).half(), torch.zeros(0, 7, dtype=torch.int64), torch.zeros(0, 7).half()
    case = trace(_added, *given)
    assert _applied(case) == 1
    assert to_fx(case.module)(*given).shape == (0, 5)


@pytest.mark.parametrize("function", [_added, _reduced, _put])
@pytest.mark.parametrize(("terms", "applied"), [(40, 1), (2, 0)])
def test_symbolic_sizes(trace: Any, function: Any, terms: int, applied: int) -> None:
    """Sizes as traced tell whether there are terms enough; values are right at any size."""

    def given(rows: int, width: int, terms: int) -> tuple[torch.Tensor, ...]:
        src = torch.randn(rows, terms).half()
        return torch.randn(rows, width).half(), torch.randint(width, (rows, terms)), src

    case = trace(function, *given(3, 5, terms), dynamic=True)
    guards = _guards(case)
    assert _applied(case) == applied
    assert _guards(case) == guards
    for sizes in ((3, 5, terms), (2, 3, 700), (7, 31, 2), (3, 1000, 3), (2, 2, 9)):
        inputs = given(*sizes)
        wanted = function(*(one.double() if one.is_floating_point() else one for one in inputs))
        found = to_fx(case.module)(*inputs)
        torch.testing.assert_close(found, wanted.half(), rtol=1e-2, atol=1e-2)


def _guards(case: Any) -> tuple[Any, ...]:
    env = next(
        one.node.shape_env
        for node in case.gm.graph.nodes
        for one in getattr(node.meta.get("val"), "shape", ())
        if isinstance(one, torch.SymInt)
    )
    return len(env.guards), dict(env.replacements), dict(env.var_to_range)


def test_sizes_that_depend_on_data() -> None:
    graph = """
fx.graph @forward stage(post_grad) symbols(u0 : int unbacked size_like [0, int_oo]%s) (
    %%x : !fx.tensor<bf16[3, 5], cpu>, %%i : !fx.tensor<i64[3, u0], cpu>,
    %%y : !fx.tensor<bf16[3, u0], cpu>) {
  %%a = aten.scatter_add.default %%x, 1, %%i, %%y : !fx.tensor<bf16[3, 5], cpu>
  fx.output (%%a)
}
"""
    for hint, applied in (("", 0), (" hint 64", 1), (" hint 2", 0)):
        with watching(any_device=True):
            assert PASS.rewrite(parse_ir(graph % hint)) == applied


def test_it_does_not_pay_on_a_cpu(trace: Any) -> None:
    given = torch.randn(3, 5).half(), torch.randint(5, (3, 40)), torch.randn(3, 40).half()
    assert trace(_added, *given).run(PASS) == 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", NARROW)
def test_the_backward_of_a_gather_on_a_gpu(dtype: torch.dtype) -> None:
    """Clamped indices: most terms are added to the first and the last element."""
    place = torch.arange(128, device="cuda")
    index = ((place[:, None] - place) + 8).clamp(0, 15).expand(4, 128, 128)
    x = torch.randn(4, 128, 16, device="cuda", dtype=dtype, requires_grad=True)
    weight = torch.randn(4, 128, 128, device="cuda", dtype=dtype)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return (x.gather(-1, index) * weight).sum()

    torch._dynamo.reset()
    with stage_records.record() as records:
        torch.compile(loss, backend="xductor", options={"xductor.on_error": "raise"})(x).backward()
    assert sum(record.applications("accumulate_in_float32") for record in records) == 1
    assert x.grad is not None
    wanted = torch.zeros(4, 128, 16, device="cuda").scatter_add(-1, index, weight.float())
    torch.testing.assert_close(x.grad, wanted.to(dtype), rtol=1e-2, atol=1e-2)
