"""Results that share memory in eager share it in generated code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.fx.shared_results import _outwards, keep_results_shared

Function = Callable[[Any], Any]


def _written(x: Any) -> Any:
    y = x * 2
    part = y.t()[::2]
    part.copy_(y.t()[2:5] * 1)
    return y, part


def _of(compute: Function, *views: Function) -> Function:
    def function(x: Any) -> Any:
        y = compute(x)
        return tuple([view(y) for view in views])

    return function


SHARED: dict[str, Function] = {
    "transposed back, and rows": _of(lambda x: x.t() * 2, lambda y: y.t(), lambda y: y[::2]),
    "transposed thrice": _of(lambda x: x.t() + 1, lambda y: y.t(), lambda y: y.t().t()[::2]),
    "of three dims": _of(
        lambda x: x.view(2, 3, 6).permute(2, 0, 1).exp(),
        lambda y: y.permute(1, 2, 0),
        lambda y: y[1:3],
    ),
}
CONTIGUOUS: dict[str, Function] = {
    "itself and its transpose": _of(lambda x: x * 2, lambda y: y, lambda y: y.t()),
    "rows": _of(lambda x: x.exp(), lambda y: y[1:], lambda y: y[:2]),
    "one view": _of(lambda x: x.t() * 2, lambda y: y.t()),
    "of an input": _of(lambda x: x, lambda y: y.t(), lambda y: y[1:]),
}


def _sharing(tensors: Any) -> list[int]:
    storages = [one.untyped_storage().data_ptr() for one in tensors]
    return [storages.index(one) for one in storages]


@pytest.mark.parametrize("dynamic", [False, True])
def test_generated_code(dynamic: bool) -> None:
    functions = [*SHARED.values(), *CONTIGUOUS.values(), _written]

    def function(*inputs: Any) -> Any:
        return [one for f, x in zip(functions, inputs, strict=True) for one in f(x)]

    inputs = [torch.arange(36.0).view(6, 6) + place for place in range(len(functions))]
    torch._dynamo.reset()
    options: Any = {"xductor.on_error": "raise", "fx_graph_cache": False, "cpp.simdlen": 1}
    with torch.no_grad():
        expected = function(*inputs)
        found = torch.compile(function, backend="xductor", options=options, dynamic=dynamic)(
            *inputs
        )
    torch.testing.assert_close(found, expected)
    assert _sharing([*inputs, *found]) == _sharing([*inputs, *expected])
    assert [one.stride() for one in found] == [one.stride() for one in expected]


def _put_in_memory(function: Function, mode: Any = "fake") -> int:
    gm = make_fx(function, tracing_mode=mode)(torch.ones(6, 6))
    count = keep_results_shared(gm.graph)
    gm.graph.lint()
    return count


@pytest.mark.parametrize("name", SHARED)
def test_put_in_memory(name: str) -> None:
    assert _put_in_memory(SHARED[name]) == 1


@pytest.mark.parametrize("name", CONTIGUOUS)
def test_left_alone(name: str) -> None:
    assert _put_in_memory(CONTIGUOUS[name]) == 0


@pytest.mark.parametrize("name", SHARED)
def test_symbolic_sizes(name: str) -> None:
    assert _put_in_memory(SHARED[name], "symbolic") == 1


@pytest.mark.parametrize("name", CONTIGUOUS)
def test_symbolic_sizes_left_alone(name: str) -> None:
    assert _put_in_memory(CONTIGUOUS[name], "symbolic") == 0


def test_strides_with_gaps_have_no_order() -> None:
    assert _outwards((4, 3), (6, 2)) is None
    assert _outwards((4, 3), (3, 1)) == [1, 0]
    assert _outwards((4, 1, 3), (1, 7, 4)) is None
    assert _outwards((4, 1, 3), (1, 4, 4)) == [0, 1, 2]
