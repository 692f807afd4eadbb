"""What a graph calls, by the table of its nodes, is what a walk over them finds."""

from __future__ import annotations

import operator

import torch
from torch.fx import Graph

from xductor.transforms.analysis.fx_targets import called_functions, holds

aten = torch.ops.aten


def walked(graph: Graph) -> set[int]:
    return {id(node.target) for node in graph.nodes if node.op == "call_function"}


def test_it_follows_what_is_inserted_changed_and_erased() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    assert called_functions(graph) == []
    first = graph.call_function(aten.relu.default, (x,))
    second = graph.call_function(aten.relu.default, (first,))
    method = graph.call_method("neg", (second,))
    assert called_functions(graph) == [aten.relu.default]
    assert graph.find_nodes(op="call_function", target=aten.mul.Tensor) == []
    assert called_functions(graph) == [aten.relu.default]  # what was asked for is not there
    first.target = operator.neg
    assert {id(one) for one in called_functions(graph)} == walked(graph)
    graph.erase_node(method)
    graph.erase_node(second)
    assert called_functions(graph) == [operator.neg]


def test_holding_is_finding() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(aten.relu.default, (x,))
    method = graph.call_method("neg", (relu,))
    asked = [
        ("call_function", aten.relu.default),
        ("call_function", aten.mul.Tensor),
        ("call_method", "neg"),
        ("call_method", "abs"),
        ("placeholder", "x"),
    ]

    def found() -> list[bool]:
        return [bool(graph.find_nodes(op=op, target=target)) for op, target in asked]

    assert [holds(graph, *one) for one in asked] == found() == [True, False, True, False, True]
    graph.erase_node(method)
    graph.erase_node(relu)
    assert [holds(graph, *one) for one in asked] == found() == [False] * 4 + [True]
