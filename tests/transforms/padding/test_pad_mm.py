"""`pad_mm`, `pad_bmm`, `pad_addmm`: what is padded, by how much, and that nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
import torch

from xductor.ir import TensorType, entry_graph
from xductor.transforms.padding.padding import deciding_padding
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rows.registry import typed_class

aten = torch.ops.aten


@pytest.fixture
def _always() -> Iterator[None]:
    with deciding_padding(lambda *_: True), watching(any_device=True):
        yield


def _shapes(case: Any, name: str) -> list[list[Any]]:
    return [
        [list(cast(TensorType, operand.type).shape) for operand in op.operands]
        for op in entry_graph(case.module).block.ops
        if op.name == name
    ]


@pytest.mark.usefixtures("_always")
@pytest.mark.parametrize(
    ("dtype", "m", "k", "n", "padded"),
    [
        (torch.float32, 6, 5, 7, [[8, 8], [8, 8]]),
        (torch.float32, 8, 5, 4, [[8, 8], [8, 4]]),
        (torch.float32, 8, 4, 7, [[8, 4], [4, 8]]),
        (torch.float32, 5, 4, 8, [[8, 4], [4, 8]]),
        (torch.bfloat16, 12, 8, 9, [[16, 8], [8, 16]]),
        (torch.float16, 8, 12, 8, [[8, 16], [16, 8]]),
    ],
)
def test_sizes_are_rounded_up(
    trace: Any, dtype: torch.dtype, m: int, k: int, n: int, padded: list[list[int]]
) -> None:
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
    case = trace(lambda a, b: aten.mm(a, b).relu(), a, b)
    assert case.run(typed_class("pad_mm")()) == 1
    assert _shapes(case, "aten.mm.default") == [padded]
    _close(case, lambda a, b: aten.mm(a, b).relu(), a, b)


def _close(case: Any, fn: Callable[..., Any], *inputs: torch.Tensor) -> None:
    from xductor.backend.fx.export import to_fx

    found, wanted = to_fx(case.module)(*inputs), fn(*inputs)
    found = found[0] if isinstance(found, tuple) else found
    torch.testing.assert_close(found, wanted, equal_nan=True)
    assert found.stride() == wanted.stride()


@pytest.mark.usefixtures("_always")
@pytest.mark.parametrize(
    ("m", "k", "n", "dtype"),
    [
        (8, 4, 8, torch.float32),
        (1, 1, 1, torch.float32),
        (6, 0, 7, torch.float32),
        (0, 5, 7, torch.float32),
        (6, 5, 7, torch.float64),
        (6, 5, 7, torch.int64),
    ],
    ids=["aligned", "ones", "empty-k", "empty-m", "double", "integers"],
)
def test_these_stay(trace: Any, m: int, k: int, n: int, dtype: torch.dtype) -> None:
    a, b = torch.zeros(m, k, dtype=dtype), torch.zeros(k, n, dtype=dtype)
    assert trace(lambda a, b: aten.mm(a, b), a, b).run(typed_class("pad_mm")()) == 0


def test_nothing_is_padded_where_it_does_not_pay(trace: Any) -> None:
    a, b = torch.randn(6, 5), torch.randn(5, 7)
    case = trace(lambda a, b: aten.mm(a, b), a, b)
    assert case.run(typed_class("pad_mm")()) == 0, "nobody has a GPU here"
    with deciding_padding(lambda *_: False), watching(any_device=True):
        assert case.run(typed_class("pad_mm")()) == 0


def test_the_policy_has_a_say(trace: Any) -> None:
    assert _admitting(trace) == ["default", "fast"]


def _admitting(trace: Any) -> list[str]:
    fired: list[str] = []
    with deciding_padding(lambda *_: True), watching(any_device=True):
        for policy in ("strict", "default", "fast"):
            case = trace(lambda a, b: aten.mm(a, b), torch.randn(6, 5), torch.randn(5, 7))
            options: dict[str, Any] = {"policy": policy}
            if case.run(typed_class("pad_mm")(**options)):
                fired.append(policy)
    return fired


@pytest.mark.usefixtures("_always")
@pytest.mark.parametrize(
    "user",
    [lambda y: y.view(-1), lambda y: y.as_strided((3,), (2,)), lambda y: y],
    ids=["view", "as_strided", "returned"],
)
def test_rows_stay_together_where_somebody_can_see(trace: Any, user: Callable[..., Any]) -> None:
    a, b = torch.randn(6, 5), torch.randn(5, 7)
    case = trace(lambda a, b: user(aten.mm(a, b)), a, b)
    assert case.run(typed_class("pad_mm")()) == 1
    assert "aten.clone.default" in case.ops
    _close(case, lambda a, b: user(aten.mm(a, b)), a, b)


@pytest.mark.usefixtures("_always")
@pytest.mark.parametrize("shape", [(7,), (1,), (6, 7), (1, 7), (6, 1)])
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0.5, 2), (0, 1)])
def test_addmm(trace: Any, shape: tuple[int, ...], beta: float, alpha: float) -> None:
    bias, a, b = torch.randn(shape), torch.randn(6, 5), torch.randn(5, 7)
    if beta == 0:
        bias = torch.full(shape, float("nan"))

    def fn(bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return aten.addmm(bias, a, b, beta=beta, alpha=alpha).relu()

    case = trace(fn, bias, a, b)
    assert case.run(typed_class("pad_addmm")()) == 1
    _close(case, fn, bias, a, b)


@pytest.mark.usefixtures("_always")
def test_bmm(trace: Any) -> None:
    a, b = torch.randn(3, 6, 5), torch.randn(3, 5, 7)
    a[0, 0, 0], a[1, 1, 1], a[2, 2, 2] = float("inf"), float("nan"), -0.0
    case = trace(lambda a, b: aten.bmm(a, b).relu(), a, b)
    assert case.run(typed_class("pad_bmm")()) == 1
    assert _shapes(case, "aten.bmm.default") == [[[3, 8, 8], [3, 8, 8]]]
    _close(case, lambda a, b: aten.bmm(a, b).relu(), a, b)


TEXT = """
fx.graph @forward stage(joint) symbols(s0 : int positive [2, int_oo] hint 6) (%a : !fx.tensor<f32[s0, 5], cpu>, %b : !fx.tensor<f32[5, 7], cpu>) {
  %mm = aten.mm.default %a, %b : !fx.tensor<f32[s0, 7], cpu>
  %relu = aten.relu.default %mm : !fx.tensor<f32[s0, 7], cpu>
  fx.output (%relu,)
}
"""  # noqa: E501


@pytest.mark.usefixtures("_always")
def test_symbolic_sizes_stay_and_static_ones_are_padded(parse: Any) -> None:
    case = parse(TEXT)
    assert case.run(typed_class("pad_mm")()) == 1
    ((left, right),) = _shapes(case, "aten.mm.default")
    assert [str(size) for size in left] == ["s0", "8"]
    assert right == [8, 8]
