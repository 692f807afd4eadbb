"""`onednn_linear`: which products oneDNN computes, and that they are as exact as ATen's."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

import xductor
from xductor.backend.steps import cpu_libraries, typed_steps
from xductor.transforms.onednn.onednn_linear import ONEDNN_LINEAR, has_large_products
from xductor.transforms.rewriting.declared_pass import pass_of
from xductor.transforms.rewriting.driver import watching

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="without oneDNN")

aten = torch.ops.aten
ONEDNN_MM = "xductor.onednn_mm.default"
_SLOW_MKL: dict[str, Any] = {"mkl_is_narrow": True, "copies_bias": True}
_BFLOAT16 = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="without bfloat16"
)


def _linear(case: Any, **options: Any) -> int:
    return case.run(pass_of(*ONEDNN_LINEAR)(**{**_SLOW_MKL, **options}))


def _random(*sizes: int) -> torch.Tensor:
    seed = sum(place * size for place, size in enumerate(sizes, 1))
    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed))


def _is_as_exact(case: Any, function: Any, *inputs: torch.Tensor) -> None:
    """About as far from float64 as eager: MKL adds up parts of long sums, oneDNN does not."""
    from xductor.backend.fx.export import to_fx

    exact = function(*(one.double() for one in inputs))
    found, eager = to_fx(case.module)(*inputs), function(*inputs)
    assert (found.dtype, found.stride()) == (eager.dtype, eager.stride())
    ours, theirs = ((one.double() - exact).norm() for one in (found, eager))
    assert ours <= 3 * theirs


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (lambda x, w: aten.mm(x, w.t()), ((64, 256), (128, 256))),
        (lambda x, w: aten.mm(x, w), ((64, 256), (256, 128))),
        (lambda x, w: aten.mm(x.t(), w), ((512, 128), (512, 256))),
        (lambda x, w: aten.mm(x[:, :256], w), ((128, 300), (256, 256))),
        (lambda x, w: aten.mm(x, w.t()), ((1, 2048), (1024, 2048))),
        (lambda x, w, b: aten.addmm(b, x, w.t()), ((64, 256), (128, 256), (128,))),
        (lambda x, w, b: aten.addmm(b, x, w), ((64, 256), (256, 128), (128,))),
    ],
)
def test_large_products_of_float32(trace: Any, function: Any, sizes: Any) -> None:
    inputs = [_random(*one) for one in sizes]
    case = trace(function, *inputs, stage="post_grad")
    assert _linear(case) == 1
    assert ONEDNN_MM in case.ops
    _is_as_exact(case, function, *inputs)


@_BFLOAT16
@pytest.mark.parametrize("rows", [1, 3, 64])
def test_a_bias_in_bfloat16(trace: Any, rows: int) -> None:
    def function(x: Any, w: Any, b: Any) -> Any:
        return aten.addmm(b, x, w.t())

    inputs = [_random(*one).bfloat16() for one in ((rows, 256), (128, 256), (128,))]
    case = trace(function, *inputs, stage="post_grad")
    assert _linear(case) == 1
    _is_as_exact(case, function, *inputs)


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (lambda x, w: aten.mm(x, w.t()), ((64, 128), (128, 128))),
        (lambda x, w: aten.mm(x, w), ((1, 2048), (2048, 2048))),
        (lambda x, w: aten.mm(x.t(), w), ((256, 128), (256, 128))),
        (lambda x, w: aten.mm(x, w[:, :128]), ((64, 256), (256, 130))),
        (lambda x, w, b: aten.addmm(b, x, w, alpha=2), ((64, 256), (256, 128), (128,))),
        (lambda x, w, b: aten.addmm(b, x, w), ((64, 256), (256, 128), (64, 128))),
        (lambda x, w, b: aten.addmm(b, x, w), ((64, 256), (256, 128), (1,))),
        (lambda x, w, b: aten.addmm(b[::2], x, w), ((64, 256), (256, 128), (256,))),
    ],
)
def test_what_stays(trace: Any, function: Any, sizes: Any) -> None:
    case = trace(function, *(_random(*one) for one in sizes), stage="post_grad")
    assert _linear(case) == 0


def test_other_processors(trace: Any) -> None:
    """MKL's kernels are as wide as oneDNN's there, or nothing was measured."""

    def function(x: Any, w: Any, y: Any, v: Any, b: Any) -> Any:
        return aten.mm(x, w), aten.addmm(b, y, v)

    sizes = ((64, 256), (256, 128))
    given = [*(_random(*one) for one in sizes), *(_random(*one).bfloat16() for one in sizes)]
    inputs = [*given, _random(128).bfloat16()]
    for options, expected in (
        ({}, [ONEDNN_MM, ONEDNN_MM]),
        ({"mkl_is_narrow": False}, ["aten.mm.default", ONEDNN_MM]),
        ({"copies_bias": False}, [ONEDNN_MM, "aten.addmm.default"]),
    ):
        case = trace(function, *inputs, stage="post_grad")
        _linear(case, **options)
        assert case.ops == expected


def test_symbolic_sizes_stay(trace: Any) -> None:
    inputs = (_random(64, 256), _random(256, 128))
    case = trace(lambda x, w: aten.mm(x, w), *inputs, dynamic=True, stage="post_grad")
    assert _linear(case) == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinities(trace: Any, bad: float) -> None:
    def function(x: Any, w: Any, b: Any) -> Any:
        return aten.addmm(b, x, w)

    x, w, b = _random(64, 256), _random(256, 128), _random(128)
    x[3, 5], w[7, 9], b[11] = bad, bad, bad
    case = trace(function, x, w, b, stage="post_grad")
    assert _linear(case) == 1
    from xductor.backend.fx.export import to_fx

    found, eager = to_fx(case.module)(x, w, b), function(x, w, b)
    torch.testing.assert_close(found, eager, rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("sizes", [(0, 3, 2), (2, 0, 3), (3, 2, 0), (1, 1, 1), (5, 1, 2)])
def test_any_sizes_are_right(trace: Any, sizes: tuple[int, int, int]) -> None:
    """Also those that do not pay. oneDNN has no sums of nothing."""
    m, k, n = sizes
    inputs = (_random(m, k), _random(n, k), _random(n))
    case = trace(lambda x, w, b: aten.addmm(b, x, w.t()), *inputs, stage="post_grad")
    with watching(even_unprofitable=True):
        assert _linear(case) == (k > 0)
    _is_as_exact(case, lambda x, w, b: aten.addmm(b, x, w.t()), *inputs)


@pytest.mark.parametrize(
    ("features", "narrow", "copies"),
    [
        (("avx512_f", "avx_vnni", "sse4a", "avx512_bf16"), True, True),
        (("avx512_f", "sse4a", "avx512_bf16"), False, True),
        (("avx512_f", "avx_vnni", "avx512_bf16", "amx_tile"), False, False),
        ((), False, False),
    ],
)
def test_what_the_processor_tells(
    monkeypatch: Any, features: tuple[str, ...], narrow: bool, copies: bool
) -> None:
    known = dict.fromkeys(features, True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    asks_anew = cpu_libraries._cpu_has.__wrapped__
    monkeypatch.setattr(cpu_libraries, "_cpu_has", asks_anew)
    monkeypatch.setattr(cpu_libraries, "has_mkl", lambda: True)
    monkeypatch.setattr(cpu_libraries, "has_acl", lambda: False)
    monkeypatch.setattr(cpu_libraries, "packed_dtypes", lambda: ("float32", "bfloat16"))
    assert typed_steps.CONFIG_OPTIONS["mkl_is_narrow"]() is narrow
    assert typed_steps.CONFIG_OPTIONS["copies_bias"]() is copies


def _products(dtype: torch.dtype, *sizes: Any) -> torch.fx.Graph:
    """A graph with one `addmm` of a dtype for each (rows, inner, columns)."""
    graph = torch.fx.Graph()

    def given(*shape: int) -> torch.fx.Node:
        node = graph.placeholder("x")
        node.meta["val"] = torch.empty(shape, dtype=dtype)
        return node

    for m, k, n in sizes:
        args = (given(n), given(m, k), given(k, n))
        product = graph.call_function(torch.ops.aten.addmm.default, args)
        product.meta["val"] = torch.empty((m, n), dtype=dtype)
    return graph


@pytest.mark.parametrize(
    ("dtype", "sizes", "options", "large"),
    [
        (torch.float32, [(4, 4, 4), (128, 128, 128)], (True, False), True),
        (torch.float32, [(4, 4, 4), (128, 128, 128)], (False, True), False),
        (torch.float32, [(4, 4, 4)], (True, True), False),
        (torch.float64, [(128, 128, 128)], (True, True), False),
        (torch.bfloat16, [(64, 64, 64)], (False, True), True),
        (torch.bfloat16, [(64, 64, 64)], (True, False), False),
        (torch.bfloat16, [(4, 4, 4), (1024, 1024, 1024)], (True, True), False),
        (torch.float32, [], (True, True), False),
    ],
)
def test_large_products_are_found_without_lowering(
    dtype: torch.dtype, sizes: list[Any], options: tuple[bool, bool], large: bool
) -> None:
    graph = _products(dtype, *sizes)
    assert has_large_products(graph, *options) is large
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.addmm.default):
        node.kwargs = dict(zip(("self", "mat1", "mat2"), node.args, strict=True))
        node.args = ()
    assert has_large_products(graph, *options) is large
    for node in graph.nodes:  # what records no value may be anything
        node.meta.clear()
    assert has_large_products(graph, *options) is bool(sizes)


def _training_step(model: Any, call: Any, x: torch.Tensor) -> list[Any]:
    model.zero_grad()
    out = call(x)
    out.square().sum().backward()
    return [out.detach(), *(one.grad.clone() for one in model.parameters())]


@pytest.mark.parametrize("numerics", ["default", "strict"])
def test_generated_code(monkeypatch: Any, numerics: str) -> None:
    """Forward and backward call oneDNN on weights as they lie, but not with `strict` numerics."""
    from torch._inductor.utils import run_and_get_code

    for option in _SLOW_MKL:
        monkeypatch.setattr(cpu_libraries, option, lambda: True)
    torch._dynamo.reset()
    model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.Linear(128, 128, bias=False))
    x = _random(512, 128)
    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.numerics": numerics}
    compiled = torch.compile(model, backend="xductor", options=options)
    found, code = run_and_get_code(lambda: _training_step(model, compiled, x))
    for ours, eager in zip(found, _training_step(model, model, x), strict=True):
        torch.testing.assert_close(ours, eager, rtol=1e-4, atol=1e-3)
    calls = "".join(code).count("mkldnn._linear_pointwise.default(")
    assert calls == xductor.last_compile().count("onednn_linear") == 5 * (numerics == "default")


@pytest.mark.parametrize("seed", range(25))
def test_random_products(trace: Any, seed: int) -> None:
    """Sizes and layouts by chance, whether it pays or not."""
    chance = random.Random(seed)
    m, k, n = (chance.choice((1, 2, 3, 16, 33, 64)) for _ in "mkn")
    x = _random(k, m).t() if chance.random() < 0.3 else _random(m, k + 1)[:, :k]
    w = _random(n, k).t() if chance.random() < 0.5 else _random(k, n)
    inputs = [x, w, *([_random(n)] if chance.random() < 0.5 else [])]

    def function(x: Any, w: Any, *bias: Any) -> Any:
        return aten.addmm(*bias, x, w) if bias else aten.mm(x, w)

    case = trace(function, *inputs, stage="post_grad")
    with watching(even_unprofitable=True):
        assert _linear(case) == 1
    _is_as_exact(case, function, *inputs)
