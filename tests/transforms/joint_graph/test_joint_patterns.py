"""bmm_to_mm, scatter_upon_const_tensor, the softmax and the randperm patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes import joint_graph
from torch._inductor.virtualized import V
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rows.registry import typed_class

aten, prims = torch.ops.aten, torch.ops.prims
INF, NAN = float("inf"), float("nan")

Function = Callable[..., Any]


def _traced(function: Function, *inputs: Any, dynamic: bool = False) -> Any:
    mode = "symbolic" if dynamic else "fake"
    return make_fx(function, select_decomp_table(), tracing_mode=mode)(*inputs)


def _apply(name: str, function: Function, *inputs: Any, dynamic: bool = False) -> tuple[int, Any]:
    """How often a pass applies under `fast`, and the graph that it leaves."""
    module = from_fx(_traced(function, *inputs, dynamic=dynamic), "joint")
    one: Any = typed_class(name)
    with watching(any_device=True):
        return one("fast").rewrite(module), module


def _ops(module: Any) -> Counter[str]:
    return Counter(op.name for op in entry_graph(module).block.ops if op.name != "fx.output")


def _stock_ops(function: Function, *inputs: Any) -> Counter[str]:
    """The calls that Inductor's own tables leave."""
    gm = _traced(function, *inputs)
    mode = next(n.meta["val"].fake_mode for n in gm.graph.nodes if "val" in n.meta)
    joint_graph.lazy_init(torch.device("cpu"))
    with V.set_fake_mode(mode), mode:
        for table in joint_graph.pass_patterns:
            table.apply(gm.graph)
    gm.graph.eliminate_dead_code()
    return Counter(str(n.target) for n in gm.graph.nodes if n.op == "call_function")


def _same(module: Any, function: Function, *inputs: Any, exact: bool = True) -> None:
    torch.manual_seed(0)
    found = to_fx(module)(*inputs)
    torch.manual_seed(0)
    wanted = function(*inputs)
    for a, b in zip(_flat(found), _flat(wanted), strict=True):
        limits: dict[str, Any] = {"rtol": 0.0, "atol": 0.0} if exact else {}
        torch.testing.assert_close(a, b, equal_nan=True, **limits)


def _flat(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


# bmm_to_mm


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_a_batch_of_one(dtype: torch.dtype) -> None:
    a, b = torch.randn(1, 3, 4).to(dtype), torch.randn(1, 4, 2).to(dtype)
    a[0, 0, 0], a[0, 1, 1] = INF, NAN
    applied, module = _apply("bmm_to_mm", torch.bmm, a, b)
    assert applied == 1
    assert "aten.bmm.default" not in _ops(module)
    _same(module, torch.bmm, a, b, exact=False)


def test_bmm_stays() -> None:
    number = torch.randn(1, 2, 2, dtype=torch.complex64)
    assert _apply("bmm_to_mm", torch.bmm, number, number)[0] == 0
    assert _apply("bmm_to_mm", torch.bmm, torch.randn(2, 3, 4), torch.randn(2, 4, 2))[0] == 0
    dynamic = _apply(
        "bmm_to_mm", torch.bmm, torch.randn(5, 3, 4), torch.randn(5, 4, 2), dynamic=True
    )
    assert dynamic[0] == 0
    module = from_fx(_traced(torch.bmm, torch.randn(1, 3, 4), torch.randn(1, 4, 2)), "joint")
    assert typed_class("bmm_to_mm")().rewrite(module) == 0, "it does not pay on a CPU"


@pytest.mark.parametrize("sizes", [(1, 0, 4, 2), (1, 3, 0, 2)])
def test_bmm_of_nothing(sizes: tuple[int, ...]) -> None:
    batch, m, k, n = sizes
    a, b = torch.randn(batch, m, k), torch.randn(batch, k, n)
    applied, module = _apply("bmm_to_mm", torch.bmm, a, b)
    assert applied == 1
    _same(module, torch.bmm, a, b)


# scatter_upon_const_tensor


def _scatter(size: tuple[int, ...], fill: Any, dim: int, value: Any, dtype: Any) -> Function:
    return lambda i: torch.full(size, fill, dtype=dtype).scatter(dim, i, value) * 1


@pytest.mark.parametrize(
    ("fill", "value", "dtype"),
    [
        (0.0, -1.0, torch.float32),
        (-0.0, NAN, torch.float32),
        (INF, -INF, torch.bfloat16),
        (16777217, 1.0, torch.int64),
        (0, 2**60, torch.int64),
        (False, True, torch.bool),
        (0.1, 1 / 3, torch.float64),
    ],
)
@pytest.mark.parametrize("dim", [1, -1])
def test_scatter_into_a_constant(fill: Any, value: Any, dtype: Any, dim: int) -> None:
    function, index = _scatter((2, 3), fill, dim, value, dtype), torch.tensor([[2], [0]])
    applied, module = _apply("scatter_upon_const_tensor", function, index)
    assert applied == 1
    assert not {"aten.scatter.value", "aten.full.default"} & set(_ops(module))
    _same(module, function, index)


def test_scatter_along_the_first_dim_and_of_nothing() -> None:
    for size, index in (((3, 2), torch.tensor([[2, 0]])), ((0, 3), torch.zeros(0, 1).long())):
        dim = 0 if size == (3, 2) else 1
        function = _scatter(size, 1.5, dim, 2.5, torch.float32)
        applied, module = _apply("scatter_upon_const_tensor", function, index)
        assert applied == 1
        _same(module, function, index)


def test_scatter_stays() -> None:
    several = torch.tensor([[0, 1], [1, 2]])
    assert _apply("scatter_upon_const_tensor", _scatter((2, 3), 0.0, 1, 1.0, None), several)[0] == 0
    fewer = torch.tensor([[0]])
    assert _apply("scatter_upon_const_tensor", _scatter((2, 3), 0.0, 1, 1.0, None), fewer)[0] == 0
    off: Any = typed_class("scatter_upon_const_tensor")
    index = torch.tensor([[2], [0]])
    module = from_fx(_traced(_scatter((2, 3), 0.0, 1, 1.0, None), index), "joint")
    assert off("fast", False).rewrite(module) == 0


def test_scatter_with_symbolic_sizes() -> None:
    def function(index: Any) -> Any:
        return torch.full((index.shape[0], 4), 0.0).scatter(1, index, 1.0) * 1

    applied, module = _apply(
        "scatter_upon_const_tensor", function, torch.tensor([[2], [0], [1]]), dynamic=True
    )
    assert applied == 1
    _same(module, function, torch.tensor([[3], [1], [1], [0]]))


def test_scatter_parity() -> None:
    function, index = _scatter((2, 3), 0.0, 1, -1.0, torch.float32), torch.tensor([[2], [0]])
    _, module = _apply("scatter_upon_const_tensor", function, index)
    assert _ops(module) == _stock_ops(function, index)


# mul_softmax_pattern, div_softmax_pattern


def _shifted(scale: Function, dim: Any = 1, keepdim: bool = True, **kwargs: Any) -> Function:
    def run(*inputs: Any) -> Any:
        scaled = scale(*inputs)
        return torch.sub(scaled, scaled.amax(dim, keepdim=keepdim), **kwargs)

    return run


X = torch.tensor([[1.5, -2.0, 3.0, 0.5], [NAN, 1.0, INF, -1.0], [-INF, 2.0, -0.0, 0.0]])
ROWS = torch.tensor([[2.0], [-3.0], [0.5]])
SOFTMAX: dict[str, tuple[str, Function, tuple[Any, ...]]] = {
    "number": ("mul_softmax_pattern", _shifted(lambda x: x * 2.5), (X,)),
    "negative number": ("mul_softmax_pattern", _shifted(lambda x: x * -2.5), (X,)),
    "number first": ("mul_softmax_pattern", _shifted(lambda x: 2.5 * x), (X,)),
    "tensor": ("mul_softmax_pattern", _shifted(lambda x, o: x * o), (X, ROWS)),
    "tensor first": ("mul_softmax_pattern", _shifted(lambda x, o: o * x), (X, ROWS)),
    "no dims": ("mul_softmax_pattern", _shifted(lambda x, o: x * o), (X, torch.tensor(-2.0))),
    "all dims": ("mul_softmax_pattern", _shifted(lambda x: x * 2.0, (0, 1)), (X,)),
    "zero": ("mul_softmax_pattern", _shifted(lambda x, o: x * o), (X, ROWS * 0)),
    "nan": ("mul_softmax_pattern", _shifted(lambda x, o: x * o), (X, ROWS * NAN)),
    "divided": ("div_softmax_pattern", _shifted(lambda x: x / 4), (X,)),
    "divided by a tensor": ("div_softmax_pattern", _shifted(lambda x, o: x / o), (X, ROWS)),
    "divided by zero": ("div_softmax_pattern", _shifted(lambda x, o: x / o), (X, ROWS * 0)),
    "divided by inf": ("div_softmax_pattern", _shifted(lambda x, o: x / o), (X, ROWS * INF)),
    "cast": (
        "mul_softmax_pattern",
        _shifted(lambda x: prims.convert_element_type(x * 2.0, torch.float32)),
        (X.bfloat16(),),
    ),
    "divided and cast": (
        "div_softmax_pattern",
        _shifted(lambda x: prims.convert_element_type(x / 2.0, torch.float32)),
        (X.half(),),
    ),
}


@pytest.mark.parametrize("what", SOFTMAX)
def test_the_maximum_comes_first(what: str) -> None:
    name, function, inputs = SOFTMAX[what]
    applied, module = _apply(name, function, *inputs)
    assert applied == 1
    _same(module, function, *inputs, exact=False)
    assert _ops(module) == _stock_ops(function, *inputs)


def test_softmax_needs_the_fast_policy() -> None:
    module = from_fx(_traced(SOFTMAX["number"][1], X), "joint")
    assert typed_class("mul_softmax_pattern")().rewrite(module) == 0


COLUMNS = torch.tensor([1.0, 2.0, 3.0, 4.0])
NOT_SOFTMAX: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "integers": (_shifted(lambda x: x * 4), (torch.tensor([[2**62, 1], [5, 7]]),)),
    "small integers": (_shifted(lambda x: x * 2), (torch.tensor([[100, 1]], dtype=torch.int8),)),
    "alpha": (_shifted(lambda x: x * 2.5, alpha=2), (X,)),
    "a scale for each column": (_shifted(lambda x, o: x * o), (X, COLUMNS)),
    "a scale for each row, over rows": (_shifted(lambda x, o: x * o, 0), (X, ROWS)),
    "no dims kept": (_shifted(lambda x: x * 2.5, keepdim=False), (X[:, :3],)),
    "no dims named": (_shifted(lambda x, o: x * o, ()), (X, ROWS)),
    "another maximum": (lambda x: x * 2.5 - (x * 3.5).amax(1, keepdim=True), (X,)),
    "the other way round": (lambda x: (x * 2.5).amax(1, keepdim=True) - x * 2.5, (X,)),
    "promoted": (_shifted(lambda x, o: x * o), (X, ROWS.double())),
}


@pytest.mark.parametrize("name", ["mul_softmax_pattern", "div_softmax_pattern"])
@pytest.mark.parametrize("what", NOT_SOFTMAX)
def test_other_differences_stay(what: str, name: str) -> None:
    function, inputs = NOT_SOFTMAX[what]
    assert _apply(name, function, *inputs)[0] == 0


# randperm_index, randperm_index_add


def _rows(x: Any) -> Any:
    index = torch.randperm(x.shape[0])[:2]
    return x[index], index


def _all_rows(x: Any) -> Any:
    return x[torch.randperm(x.shape[0])] * 2


def _added(x: Any, y: Any) -> Any:
    index = torch.randperm(x.shape[0])[:2]
    return torch.index_add(x, 0, index, y), index


@pytest.mark.parametrize("function", [_rows, _all_rows])
def test_rows_of_a_permutation(function: Function) -> None:
    applied, module = _apply("randperm_index", function, X)
    assert applied == 1
    assert _ops(module)["aten._unsafe_index.Tensor"] == 1
    _same(module, function, X)


@pytest.mark.parametrize("count", [3, 1, 0])
def test_a_permutation_of_fewer_rows(count: int) -> None:
    """Its numbers are in range and distinct all the same."""

    def rows(x: Any) -> Any:
        return x[torch.randperm(count)]

    def some_rows(x: Any) -> Any:
        return x[torch.randperm(count)[:2]]

    def added(x: Any, y: Any) -> Any:
        return torch.index_add(x, 0, torch.randperm(count), y)

    y = torch.tensor([[1.0, NAN], [0.0, INF], [-0.0, 1.0]])[:count]
    many = torch.arange(8.0).reshape(4, 2)
    for name, function, inputs in (
        ("randperm_index", rows, (many,)),
        ("randperm_index", some_rows, (many,)),
        ("randperm_index_add", added, (many, y)),
    ):
        applied, module = _apply(name, function, *inputs)
        assert applied == 1, function.__name__
        _same(module, function, *inputs)


def test_rows_of_a_permutation_of_symbolic_length() -> None:
    applied, module = _apply("randperm_index", _all_rows, X, dynamic=True)
    assert applied == 1
    assert "aten.index.Tensor" not in _ops(module)


def test_adding_to_rows_of_a_permutation() -> None:
    y = torch.tensor([[1.0, NAN, -0.0, INF], [0.0, 2.0, -0.0, 1.0]])
    applied, module = _apply("randperm_index_add", _added, X, y)
    assert applied == 1
    _same(module, _added, X, y)
    assert _ops(module) == _stock_ops(_added, X, y)


def test_other_indices_stay() -> None:
    longer = _apply("randperm_index", lambda x: x[torch.randperm(x.shape[0] + 1)[:2]], X)
    assert longer[0] == 0, "an index may be out of range"
    columns = _apply("randperm_index", lambda x: x[:, torch.randperm(4)], X)
    assert columns[0] == 0
    more = _apply("randperm_index", lambda x: x[torch.randperm(5)], X, dynamic=True)
    assert more[0] == 0, "x may have fewer rows"
    plain = _apply("randperm_index", lambda x, i: x[i], X, torch.tensor([0, 1]))
    assert plain[0] == 0

    def broadcast(x: Any, y: Any) -> Any:
        return torch.index_put(x, [torch.randperm(x.shape[0])], y, accumulate=True)

    assert _apply("randperm_index_add", broadcast, X, torch.ones(4))[0] == 0
