"""`pointless_view` and `pointless_view_pair`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch._inductor.fx_passes import joint_graph
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.steps.runner import run_typed
from xductor.transforms.joint_graph.pointless_view import PointlessView, PointlessViewPair
from xductor.transforms.rows.registry import typed_class

aten = torch.ops.aten
VIEW = "aten.view.default"


@pytest.mark.parametrize("sizes", [[3, 4], [-1, 4], [3, -1]])
def test_view_to_its_own_shape(trace: Any, special: Any, sizes: list[int]) -> None:
    x = special(3, 4)
    case = trace(lambda x: aten.view(x, sizes) * 2, x)
    assert case.run(PointlessView()) == 1
    assert case.ops == ["aten.mul.Tensor"]
    case.check_values(x)


@pytest.mark.parametrize("sizes", [[4, 3], [12], [1, 3, 4], [-1], [2, 6]])
def test_view_to_another_shape(trace: Any, special: Any, sizes: list[int]) -> None:
    case = trace(lambda x: aten.view(x, sizes) * 2, special(3, 4))
    assert case.run(PointlessView()) == 0


@pytest.mark.parametrize("shape", [(0, 4), (1, 1), ()])
def test_empty_and_size_one(trace: Any, special: Any, shape: tuple[int, ...]) -> None:
    x = special(*shape)
    case = trace(lambda x: aten.view(x, list(shape)) + 1, x)
    assert case.run(PointlessView()) == 1
    case.check_values(x)


def test_not_contiguous(trace: Any, special: Any) -> None:
    x = special(3, 4)
    case = trace(lambda x: aten.view(x.t(), [4, 3]) + 1, x)
    assert case.run(PointlessView()) == 1
    case.check_values(x)


def test_strides_that_a_view_chooses_anew(parse: Any) -> None:
    """Nobody can tell by the numbers, but `as_strided` and a kernel of the user's can."""
    case = parse("""
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[1, 4][9, 1], cpu>) {
          %y = aten.view.default %x, [1, 4] : !fx.tensor<f32[1, 4], cpu>
          %z = aten.neg.default %y : !fx.tensor<f32[1, 4], cpu>
          fx.output (%z)
        }""")
    assert case.run(PointlessView()) == 0


SYMBOLIC = """
    fx.graph @g stage(joint) symbols(s0 : int positive [2, 64], s1 : int positive [2, 64])
        (%n : !fx.symint<s0>, %m : !fx.symint<s1>, %x : !fx.tensor<f32[s0, 4], cpu>) {{
      %y = aten.view.default %x, {sizes} : !fx.tensor<f32[{dims}], cpu>
      %z = aten.neg.default %y : !fx.tensor<f32[{dims}], cpu>
      fx.output (%z)
    }}"""


@pytest.mark.parametrize(
    ("sizes", "dims", "goes"),
    [
        ("[%n, 4]", "s0, 4", True),
        ("[-1, 4]", "s0, 4", True),
        ("[%n, -1]", "s0, 4", True),
        ("[-1, -1]", "s0, 4", False),
        ("[%m, 4]", "s0, 4", False),
        ("[%m, 4]", "s1, 4", False),
        ("[4, %n]", "4, s0", False),
        ("[-1]", "4 * s0", False),
    ],
)
def test_symbolic_sizes(parse: Any, sizes: str, dims: str, goes: bool) -> None:
    assert parse(SYMBOLIC.format(sizes=sizes, dims=dims)).run(PointlessView()) == int(goes)


def test_outputs_do_not_become_inputs(trace: Any, special: Any) -> None:
    x = special(3, 4)
    for function in (
        lambda x: aten.view(x, [3, 4]),
        lambda x: (lambda y: (y, aten.view(y, [3, 4])))(x + 1),
    ):
        case = trace(function, x)
        assert case.run(PointlessView()) == 0
        case.check_values(x)
    # A returned view of a value that nobody else has is that value.
    case = trace(lambda x: aten.view(x + 1, [3, 4]), x)
    assert case.run(PointlessView()) == 1
    case.check_values(x)


def test_writes_through_the_view(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = aten.view(x, [3, 4])
        y.add_(1)
        return x * y

    x = special(3, 4)
    case = trace(f, x)
    assert case.run(PointlessView()) == 1
    case.check_values(x)


PAIRS: dict[str, tuple[Callable[[Any], Any], int, list[str]]] = {
    "there and back": (lambda x: x.view(12).view(3, 4) * 2, 1, ["aten.mul.Tensor"]),
    "an inferred size": (lambda x: aten.view(x.view(2, 6), [-1, 4]) * 2, 1, ["aten.mul.Tensor"]),
    "twice": (
        lambda x: x.view(12).view(3, 4).view(2, 6).view(3, 4) * 2,
        2,
        ["aten.mul.Tensor"],
    ),
    "the inner one is used": (
        lambda x: (lambda y: y.sum() + y.view(3, 4))(x.view(12)),
        1,
        [VIEW, "aten.sum.default", "aten.add.Tensor"],
    ),
    "back to another shape": (
        lambda x: x.view(12).view(4, 3) * 2,
        0,
        [VIEW, VIEW, "aten.mul.Tensor"],
    ),
    "one view": (lambda x: x.view(12) * 2, 0, [VIEW, "aten.mul.Tensor"]),
    "an op between": (
        lambda x: aten.alias(x.view(12)).view(3, 4) * 2,
        0,
        [VIEW, "aten.alias.default", VIEW, "aten.mul.Tensor"],
    ),
    "returned": (lambda x: x.view(12).view(3, 4), 0, [VIEW, VIEW]),
}


@pytest.mark.parametrize("why", PAIRS)
def test_pairs(trace: Any, special: Any, why: str) -> None:
    function, applications, left = PAIRS[why]
    x = special(3, 4)
    case = trace(function, x)
    assert case.run(PointlessViewPair()) == applications
    assert case.ops == left
    case.check_values(x)


def test_pair_of_a_strided_value(trace: Any, special: Any) -> None:
    """Dims that a view splits keep their strides; those of size one may not."""
    x = special(4, 6)
    case = trace(lambda x: aten.view(aten.view(x[:, :2], [2, 2, 2]), [4, 2]) * 2, x)
    assert case.run(PointlessViewPair()) == 1
    case.check_values(x)


@pytest.mark.parametrize("shape", [(0, 4), (1, 1)])
def test_pair_of_empty_and_size_one(trace: Any, special: Any, shape: tuple[int, ...]) -> None:
    x = special(*shape)
    case = trace(lambda x: x.view(*shape, 1).view(*shape) * 2, x)
    assert case.run(PointlessViewPair()) == 1
    case.check_values(x)


def test_symbolic_pair(trace: Any, special: Any) -> None:
    x = special(5, 4)
    case = trace(lambda x: x.view(-1).view(x.shape[0], 4) * 2, x, dynamic=True)
    assert case.run(PointlessViewPair()) == 1
    assert VIEW not in case.ops
    case.check_values(special(7, 4))


def _chain(x: Any) -> Any:
    y = x.view(12).view(3, 4) * aten.view(x, [3, 4])
    return (y.view(2, 6).view(12) + 1).view(3, 4) - x.permute(1, 0).permute(1, 0)


@pytest.mark.parametrize("dynamic", [False, True])
def test_parity_with_inductor(trace: Any, dynamic: bool) -> None:
    """Together the early patterns leave as many nodes as Inductor's do."""
    from xductor.transforms.joint_graph.pointless_permute_pair import PointlessPermutePair

    x = torch.randn(3, 4)
    case = trace(_chain, x, dynamic=dynamic)
    for one in (PointlessView(), PointlessViewPair(), PointlessPermutePair()):
        case.run(one)
    stock = make_fx(_chain, tracing_mode="symbolic" if dynamic else "fake")(x)
    counters.clear()
    joint_graph.early_patterns.apply(stock.graph)
    calls = [node for node in stock.graph.nodes if node.op == "call_function"]
    assert len(case.ops) == len(calls)
    case.check_values(x)


def test_counters_are_inductors(trace: Any) -> None:
    counters.clear()
    stock = make_fx(lambda x: x.view(12).view(3, 4) * 2, tracing_mode="fake")(torch.randn(3, 4))
    joint_graph.early_patterns.apply(stock.graph)
    assert PointlessViewPair.counter == "removed_pointless_view_pair"
    assert counters["inductor"][PointlessViewPair.counter] == 1
    # Inductor also counts the outer view alone, which matches one pattern before the pair does.
    assert counters["inductor"]["pattern_matcher_nodes"] == 3
    assert counters["inductor"]["pattern_matcher_count"] == 2
    counters.clear()
    ours = make_fx(lambda x: x.view(12).view(3, 4) * 2, tracing_mode="fake")(torch.randn(3, 4))
    assert run_typed(ours, [typed_class("pointless_view_pair")()], "joint") == {
        "pointless_view_pair": 1
    }
    assert counters["inductor"] == {
        "pattern_matcher_count": 1,
        "pattern_matcher_nodes": 2,
        "removed_pointless_view_pair": 1,
    }
