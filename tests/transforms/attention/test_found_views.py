"""Operands of the fused call are views that the program has made, where nothing else is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.transforms.attention.fused import compare, run_pass
from xductor.ir import TorchOp, entry_graph
from xductor.transforms.attention.replacement import Options

Program = Callable[..., torch.Tensor]


def attention(q: Any, k: Any, v: Any) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(2, 3) * 0.25, -1) @ v


def transposed(q: Any, k: Any, v: Any) -> torch.Tensor:
    return attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))


def permuted_twice(q: Any, k: Any, v: Any) -> torch.Tensor:
    heads = [one.permute(2, 0, 1, 3).transpose(0, 1) for one in (q, k, v)]
    return attention(*heads)


def key_permuted_at_once(q: Any, k: Any, v: Any) -> torch.Tensor:
    weights = torch.softmax(q.transpose(1, 2) @ k.permute(0, 2, 3, 1), -1)
    return weights @ v.transpose(1, 2)


def cloned_before(q: Any, k: Any, v: Any) -> torch.Tensor:
    return attention(*[one.clone().transpose(1, 2) for one in (q, k, v)])


def cloned_behind(q: Any, k: Any, v: Any) -> torch.Tensor:
    return attention(*[one.transpose(1, 2).clone() for one in (q, k, v)])


def base_is_written_before(q: Any, k: Any, v: Any) -> torch.Tensor:
    base = v.sin()
    base.mul_(3)
    return attention(q.transpose(1, 2), k.transpose(1, 2), base.transpose(1, 2))


def base_is_written_behind(q: Any, k: Any, v: Any) -> torch.Tensor:
    base = v.sin()
    heads = base.transpose(1, 2)
    base.mul_(3)
    return attention(q.transpose(1, 2), k.transpose(1, 2), heads)


def view_is_written(q: Any, k: Any, v: Any) -> torch.Tensor:
    heads = k.sin().transpose(1, 2)
    heads.mul_(3)
    return attention(q.transpose(1, 2), heads, v.transpose(1, 2))


def view_has_no_gradient(q: Any, k: Any, v: Any) -> torch.Tensor:
    with torch.no_grad():
        heads = v.transpose(1, 2)
    return attention(q.transpose(1, 2), k.transpose(1, 2), heads)


def view_is_written_behind_it(q: Any, k: Any, v: Any) -> torch.Tensor:
    heads = v.sin().transpose(1, 2)
    with torch.no_grad():
        found = attention(q.transpose(1, 2), k.transpose(1, 2), heads)
    heads.mul_(3)
    return found + heads


PROGRAMS = [
    transposed,
    permuted_twice,
    key_permuted_at_once,
    cloned_before,
    cloned_behind,
    base_is_written_before,
    base_is_written_behind,
    view_is_written,
    view_has_no_gradient,
    view_is_written_behind_it,
]

SHAPES = [(2, 6, 4, 8), (1, 1, 1, 8), (2, 1, 3, 8), (2, 5, 1, 8), (0, 4, 2, 8), (2, 0, 2, 8)]


def inputs(shape: tuple[int, ...] = SHAPES[0]) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(shape) for _ in range(3)]


def operands(program: Program, *, dynamic: bool = False) -> list[TorchOp]:
    """What makes query, key and value of the fused call."""
    found: list[TorchOp] = []

    def backend(gm: torch.fx.GraphModule, given: list[Any]) -> Any:
        outcome = run_pass(gm, given, Options(even_unprofitable=True))
        assert outcome.module is not None
        for op in entry_graph(outcome.module).block.ops:
            if op.name.endswith("scaled_dot_product_attention"):
                found.extend(one.owner for one in list(op.operands)[:3])  # type: ignore[misc]
        return gm

    torch._dynamo.reset()
    torch.compile(program, backend=backend, dynamic=dynamic, fullgraph=True)(*inputs())
    assert len(found) == 3
    return found


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", [transposed, permuted_twice, cloned_behind])
def test_views_of_the_program_are_read(program: Program, dynamic: bool) -> None:
    found = operands(program, dynamic=dynamic)
    assert {op.name for op in found} == {"method.transpose"}
    assert all(op.node.origin is not None for op in found)


@pytest.mark.parametrize("program", [key_permuted_at_once, cloned_before])
def test_other_views_are_made(program: Program) -> None:
    query, key, value = operands(program)
    assert key.node.origin is None
    copied = program is cloned_before
    assert (query.node.origin is None, value.node.origin is None) == (copied, copied)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers_are_those_of_eager(program: Program, grad: bool) -> None:
    for dynamic in (False, True):
        found = compare(program, inputs(), grad=grad, dynamic=dynamic)
        assert found.forward < 1e-5
        assert found.backward is None or found.backward < 1e-5


@pytest.mark.parametrize("program", [transposed, permuted_twice, cloned_behind])
def test_sizes_of_one_and_none(program: Program) -> None:
    def summed(q: Any, k: Any, v: Any) -> torch.Tensor:
        return program(q, k, v).sum(1)  # strides of dims of size one may be others

    for shape in SHAPES:
        found = compare(summed, inputs(shape), grad=True)
        assert found.outcome.count == (0 not in shape)
        assert found.forward < 1e-5
        assert found.backward is not None
        assert found.backward < 1e-5


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -0.0])
def test_values_that_are_no_finite_numbers(number: float) -> None:
    given = inputs()
    given[2][0, 1, 2, 3] = number
    assert compare(transposed, given).forward < 1e-5
    given[1][1, 2, 1, 0] = number
    assert compare(transposed, given).forward < 1e-5
