"""What a graph calls, by the table of its nodes, is what a walk over them finds."""

from __future__ import annotations

import operator

import torch
from torch.fx import Graph

from xductor.transforms.analysis.fx_targets import called_functions

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
