"""Whether an entry of a pattern table could match is told alike of FX and typed graphs."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor import pattern_matcher
from torch._inductor.pattern_matcher import Arg, CallFunction, KeywordArg, ListOf
from torch.fx.experimental.proxy_tensor import make_fx

from xductor import from_fx
from xductor.backend.steps.table_prefilter import Calls, NodeCalls, OpCalls, may_match

aten = torch.ops.aten
_UNARY = (aten.cos.default, aten.sin.default, aten.relu.default)
_BINARY = (aten.add.Tensor, aten.mul.Tensor)


def _table(*patterns: Any) -> Any:
    table = pattern_matcher.PatternMatcherPass()
    for pattern in patterns:
        pattern_matcher.register_graph_pattern(pattern, pass_dict=table)(lambda match: None)  # type: ignore[arg-type]
    return table


def _traced(function: Callable[..., Any]) -> torch.fx.GraphModule:
    return make_fx(function, tracing_mode="fake")(torch.randn(4, 4), torch.randn(4, 4))


def _both(gm: torch.fx.GraphModule) -> list[Calls]:
    return [NodeCalls(gm.graph), OpCalls(from_fx(gm, stage="post_grad"))]


def _tell(table: Any, function: Callable[..., Any]) -> bool:
    """What is told of the FX graph and of the typed graph, which must be the same."""
    nodes, ops = (may_match(table, calls) for calls in _both(_traced(function)))
    assert nodes == ops
    return nodes


_COS_OF_SIN = CallFunction(aten.cos.default, CallFunction(aten.sin.default, KeywordArg("x")))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: x.sin().cos(), True),
        (lambda x, y: x.cos(), False),
        (lambda x, y: x.sin() + y.cos(), False),
        (lambda x, y: x.cos().sin(), False),
        (lambda x, y: x.sin().relu().cos(), False),
    ],
)
def test_each_part_has_to_be_there(function: Callable[..., Any], expected: bool) -> None:
    assert _tell(_table(_COS_OF_SIN), function) is expected


def test_any_input_may_be_the_part() -> None:
    pattern = CallFunction(aten.add.Tensor, Arg(), CallFunction(aten.sin.default, Arg()))
    assert _tell(_table(pattern), lambda x, y: x.sin() + y)  # told too much, never too little
    assert _tell(_table(pattern), lambda x, y: y + x.sin())
    assert not _tell(_table(pattern), lambda x, y: y.sin() * (x + y))


def test_a_part_in_a_list() -> None:
    pattern = CallFunction(aten.cat.default, [CallFunction(aten.sin.default, Arg()), Arg()], 1)
    assert _tell(_table(pattern), lambda x, y: torch.cat([x.sin(), y], 1))
    assert not _tell(_table(pattern), lambda x, y: torch.cat([x.cos(), y], 1) * x.sin().sum())


def test_what_other_classes_look_for_is_not_known() -> None:
    class Own(CallFunction):
        pass

    listed = CallFunction(aten.cat.default, ListOf(CallFunction(aten.sin.default, Arg())))
    assert _tell(_table(listed), lambda x, y: torch.cat([x, y]))
    assert _tell(_table(Own(aten.cos.default, Own(aten.sin.default, Arg()))), lambda x, y: x.cos())


def test_a_result_of_a_tuple() -> None:
    """What picks it is a node of its own, but no op."""
    picked = CallFunction(operator.getitem, CallFunction(aten.max.dim, Arg(), Arg()), Arg())
    below = CallFunction(aten.cos.default, picked)
    for pattern in (picked, below):
        assert _tell(_table(pattern), lambda x, y: x.max(0)[0].cos())
    assert not _tell(_table(below), lambda x, y: x.cos() + x.sum())


def test_a_callable_without_a_name() -> None:
    own = [lambda x: x][0]
    gm = _traced(lambda x, y: x.cos())
    (cos,) = gm.graph.find_nodes(op="call_function", target=aten.cos.default)
    cos.target = own
    table, other = _table(CallFunction(own, Arg())), _table(CallFunction(lambda x: x, Arg()))
    for calls in _both(gm):
        assert may_match(table, calls)
        assert not may_match(other, calls)


def test_modules_are_found_by_class() -> None:
    table = pattern_matcher.PatternMatcherPass()
    table.patterns[("call_module", torch.nn.ReLU)] = [object()]  # type: ignore[list-item]
    net = torch.nn.Sequential(torch.nn.Tanh())
    assert may_match(table, NodeCalls(torch.fx.symbolic_trace(net).graph))
    assert not may_match(table, NodeCalls(torch.fx.symbolic_trace(lambda x: x + 1).graph))


def _random_value(random_: random.Random, leaves: list[Any], depth: int, call: Any) -> Any:
    if depth == 0 or random_.random() < 0.2:
        return random_.choice(leaves)
    if random_.random() < 0.6:
        return call(random_.choice(_UNARY), _random_value(random_, leaves, depth - 1, call))
    parts = [_random_value(random_, leaves, depth - 1, call) for _ in range(2)]
    return call(random_.choice(_BINARY), *parts)


def test_no_match_is_overlooked() -> None:
    """Of random graphs and patterns: where Inductor's matcher finds something, it was told."""
    random_, found = random.Random(0), 0
    for _ in range(60):
        gm = _traced(
            lambda x, y: [
                _random_value(random_, [x, y], 3, lambda target, *args: target(*args))
                for _ in range(3)
            ]
        )
        for _ in range(30):
            pattern = CallFunction(
                random_.choice(_UNARY), _random_value(random_, [Arg()], 2, CallFunction)
            )
            matches = any(
                bool(pattern.match(node)) for node in gm.graph.nodes if node.op == "call_function"
            )
            found += matches
            assert not matches or all(may_match(_table(pattern), one) for one in _both(gm))
    assert found > 60
