"""`addmm`: when mm and add become one, and that nobody can tell but by smaller errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

from xductor.ir import parse_ir
from xductor.transforms.matmul.addmm import Addmm
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.validation.validate import validate
from xductor.transforms.validation.values import validating

aten = torch.ops.aten
A, B, C = torch.randn(4, 6), torch.randn(6, 5), torch.randn(5)


@pytest.mark.parametrize(
    ("function", "factors"),
    [
        (lambda c, a, b: torch.add(c, torch.mm(a, b)), ""),
        (lambda c, a, b: torch.add(torch.mm(a, b), c), ""),
        (lambda c, a, b: torch.add(c, torch.mm(a, b), alpha=2), "alpha = 2"),
        (lambda c, a, b: torch.add(torch.mm(a, b), c, alpha=3), "beta = 3"),
        (lambda c, a, b: torch.add(torch.mm(a, b), c, alpha=-0.5), "beta = -0.5"),
    ],
)
def test_the_factor_stays_with_its_operand(trace: Any, function: Any, factors: str) -> None:
    case = trace(function, C, A, B)
    with validating():
        assert case.run(Addmm) == 1
    assert case.ops == ["aten.addmm.default"]
    assert factors in case.text
    _close(case, function, C, A, B)


@pytest.mark.parametrize("sizes", [(), (1,), (5,), (1, 5), (4, 1), (4, 5), (1, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int64])
def test_what_is_added_may_be_broadcast(
    trace: Any, sizes: tuple[int, ...], dtype: torch.dtype
) -> None:
    def function(c: Any, a: Any, b: Any) -> Any:
        return torch.add(c, torch.mm(a, b))

    given = [(torch.randn(one) * 4).to(dtype) for one in (sizes, (4, 6), (6, 5))]
    case = trace(function, *given)
    with validating():
        assert case.run(Addmm) == 1
    _close(case, function, *given)


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda c, a, b: torch.add(c, torch.mm(a, b)), (torch.randn(3, 4, 5), A, B)),
        (lambda c, a, b: torch.add(c, torch.mm(a, b)), (torch.randn(7, 5), A[:1], B)),
        (lambda c, a, b: torch.add(c, torch.mm(a, b)), (torch.randn(4, 7), A, B[:, :1])),
        (lambda c, a, b: torch.add(c, torch.mm(a, b)), (C.double(), A, B)),
        (lambda c, a, b: torch.add(c, torch.mm(a, b)), (torch.tensor(2), A, B)),
        (lambda c, a, b: torch.add(c, torch.mm(a, b)), (C, A.bfloat16(), B.bfloat16())),
        (lambda c, a, b: torch.add(c, torch.mm(a, b), alpha=0), (C, A, B)),
        (lambda c, a, b: torch.add(torch.mm(a, b), c, alpha=0.0), (C, A, B)),
        (lambda c, a, b: torch.add(torch.mm(a, b), 2.0), (C, A, B)),
    ],
)
def test_what_stays(trace: Any, function: Any, inputs: Any) -> None:
    case = trace(function, *inputs)
    assert case.run(Addmm) == 0


def test_a_product_that_others_read_stays(trace: Any) -> None:
    def function(c: Any, a: Any, b: Any) -> Any:
        product = torch.mm(a, b)
        return product.sin(), c + product

    assert trace(function, C, A, B).run(Addmm) == 0


GRAPH = """
fx.graph @forward stage(post_grad) symbols({symbols}) (
    %c : !fx.tensor<f32[{c}], {device}>,
    %a : !fx.tensor<f32[4, 6], {device}>,
    %b : !fx.tensor<f32[6, 5], {device}>) {{
  %p = aten.mm.default %a, %b : !fx.tensor<f32[4, 5], {device}>
  %s = aten.add.Tensor %c, %p : !fx.tensor<f32[4, 5], {device}>
  %r = aten.{user}.default %s : !fx.tensor<f32[{out}], {device}>
  fx.output (%r)
}}
"""


def _applied(c: str = "5", device: str = "cpu", user: str = "relu", symbols: str = "") -> int:
    out = "" if user == "sum" else "4, 5"
    module = parse_ir(GRAPH.format(c=c, device=device, user=user, symbols=symbols, out=out))
    return RewritePass.of([Addmm]).rewrite(module)


def test_on_a_gpu_it_pays_where_the_add_would_not_fuse() -> None:
    assert _applied() == 1
    assert _applied(device="cuda:0") == 0
    assert _applied(device="cuda:0", user="sum") == 1
    with watching(even_unprofitable=True):
        assert _applied(device="cuda:0") == 1


def test_a_size_that_is_not_known_to_fit_stays() -> None:
    told: list[str] = []
    with watching(report=lambda one, op, error: told.append(str(error))):
        assert _applied(c="s0", symbols="s0 : int [1, int_oo]") == 0
    assert "not known whether" in told[0]


def test_under_strict_numerics_only_integers_are_taken(trace: Any) -> None:
    def function(c: Any, a: Any, b: Any) -> Any:
        return c + torch.mm(a, b)

    for given, applied in (((C, A, B), 0), ((C.long(), A.long(), B.long()), 1)):
        assert RewritePass.of([Addmm], "strict").rewrite(trace(function, *given).module) == applied


def test_it_is_validated() -> None:
    found = validate(Addmm, instances=30, rounds=3)
    assert found.status == "validated", str(found)
    assert found.errors.count > 500
    assert found.errors.after < 0.9 * found.errors.before


def _close(case: Any, function: Any, *inputs: torch.Tensor) -> None:
    from xductor.backend.fx.export import to_fx

    found, wanted = to_fx(case.module)(*inputs), function(*inputs)
    found = found[0] if isinstance(found, tuple) else found
    assert found.dtype == wanted.dtype
    narrow = wanted.is_floating_point() and wanted.dtype.itemsize == 2
    slack = torch.finfo(wanted.dtype).eps if narrow else 0.0  # `validating` asks for more of these
    found, wanted = found.double(), wanted.double()
    torch.testing.assert_close(found, wanted, rtol=2 * slack or 1e-5, atol=8 * slack or 1e-5)


def test_factors_that_may_be_nothing_as_float32_stay(trace: Any) -> None:
    """A kernel does not read what is multiplied by 0, and so loses its NaN."""
    for factor, applied in ((1e-40, 0), (-1e-60, 0), (1e-20, 1)):
        case = trace(partial(_scaled, factor), C, A, B)
        assert case.run(Addmm) == applied


def _scaled(factor: float, c: Any, a: Any, b: Any) -> Any:
    return torch.add(c, torch.mm(a, b), alpha=factor)
