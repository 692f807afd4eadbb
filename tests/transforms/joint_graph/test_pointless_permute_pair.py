"""`pointless_permute_pair`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._inductor.fx_passes import joint_graph
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.transforms.joint_graph.pointless_permute_pair import PointlessPermutePair

aten = torch.ops.aten
PERMUTE = "aten.permute.default"

UNDONE = [
    ([1, 2, 0], [2, 0, 1]),
    ([2, 0, 1], [1, 2, 0]),
    ([1, 0, 2], [1, 0, 2]),
    ([0, 1, 2], [0, 1, 2]),
    ([-2, -1, 0], [2, 0, 1]),
    ([1, 2, 0], [-1, -3, -2]),
    ([0, -1, 1], [-3, 2, -2]),
]


@pytest.mark.parametrize(("first", "second"), UNDONE)
def test_pairs_that_undo_each_other(
    trace: Any, special: Any, first: list[int], second: list[int]
) -> None:
    x = special(2, 3, 4)
    case = trace(lambda x: aten.permute(aten.permute(x, first), second) * 2, x)
    assert case.ops.count(PERMUTE) == 2
    assert case.run(PointlessPermutePair()) == 1
    assert case.ops == ["aten.mul.Tensor"]
    case.check_values(x)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2, 0], [1, 2, 0]),
        ([1, 0, 2], [0, 2, 1]),
        ([-1, -2, -3], [0, 1, 2]),
        ([2, 1, 0], [2, 0, 1]),
    ],
)
def test_other_pairs(trace: Any, special: Any, first: list[int], second: list[int]) -> None:
    case = trace(lambda x: aten.permute(aten.permute(x, first), second) * 2, special(2, 2, 2))
    assert case.run(PointlessPermutePair()) == 0


def test_square_dims_do_not_hide_the_order(trace: Any, special: Any) -> None:
    """The shapes are equal; the values are not."""
    case = trace(lambda x: x.permute(1, 0, 2).permute(0, 2, 1) * 2, special(2, 2, 2))
    assert case.run(PointlessPermutePair()) == 0


@pytest.mark.parametrize("shape", [(0, 3, 4), (1, 1, 1), (2, 1, 0)])
def test_empty_and_size_one(trace: Any, special: Any, shape: tuple[int, ...]) -> None:
    x = special(*shape)
    case = trace(lambda x: x.permute(1, 2, 0).permute(2, 0, 1) * 2, x)
    assert case.run(PointlessPermutePair()) == 1
    case.check_values(x)


def test_no_dims(trace: Any, special: Any) -> None:
    x = special()
    case = trace(lambda x: aten.permute(aten.permute(x, []), []) * 2, x)
    assert case.run(PointlessPermutePair()) == 1
    case.check_values(x)


def test_the_inner_one_stays_for_its_other_users(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = x.permute(1, 0)
        return y.permute(1, 0) * 2, y + 1

    x = special(2, 3)
    case = trace(f, x)
    assert case.run(PointlessPermutePair()) == 1
    assert case.ops.count(PERMUTE) == 1
    case.check_values(x)


def test_outputs_do_not_become_inputs(trace: Any, special: Any) -> None:
    x = special(2, 3)
    case = trace(lambda x: x.permute(1, 0).permute(1, 0), x)
    assert case.run(PointlessPermutePair()) == 0
    case.check_values(x)
    case = trace(lambda x: (x + 1).permute(1, 0).permute(1, 0), x)
    assert case.run(PointlessPermutePair()) == 1
    case.check_values(x)


def test_symbolic_shapes(trace: Any, special: Any) -> None:
    case = trace(lambda x: x.permute(1, 2, 0).permute(2, 0, 1) + 1, special(2, 3, 5), dynamic=True)
    assert case.run(PointlessPermutePair()) == 1
    case.check_values(special(4, 3, 6))


def test_a_write_through_the_pair(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        x.permute(1, 0).permute(1, 0).add_(1)
        return x * 2

    x = special(2, 3)
    case = trace(f, x)
    assert case.run(PointlessPermutePair()) == 1
    case.check_values(x)


def test_parity_with_inductor(trace: Any) -> None:
    def f(x: Any) -> Any:
        y = x.permute(1, 2, 0).permute(2, 0, 1) * x.permute(0, 2, 1).permute(0, 2, 1)
        return y.permute(1, 2, 0).permute(1, 2, 0).permute(1, 2, 0) + y.permute(2, 1, 0).sum()

    x = torch.randn(2, 2, 2)
    case = trace(f, x)
    stock = make_fx(f, tracing_mode="fake")(x)
    joint_graph.early_patterns.apply(stock.graph)
    case.run(PointlessPermutePair())
    assert len(case.ops) == len(
        stock.graph.find_nodes(op="call_function", target=aten.permute.default)
    ) + sum(
        node.op == "call_function" and node.target is not aten.permute.default
        for node in stock.graph.nodes
    )
    case.check_values(x)
