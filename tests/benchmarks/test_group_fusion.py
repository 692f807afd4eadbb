"""Group fusion before autograd beside Inductor's, and as graphs grow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch.fx as fx

from tests.benchmarks.group_fusion import layers_graph, ratio, residual_graph, seconds

#: Inductor's time grows faster than the graph: at 10,000 the ratio is a third of what it is here.
NODES, LIMIT = 2_000, 0.7
#: How much more a node may cost in a graph of `LARGE` nodes than in one of `SMALL`; a stage that is
#: quadratic costs 5 times as much.
SMALL, LARGE, GROWTH = 1_000, 5_000, 1.8


def test_beside_inductors() -> None:
    stock, ours = ratio(NODES, 1)
    assert 0 < ours <= LIMIT * stock


@pytest.mark.parametrize("make", [layers_graph, residual_graph])
def test_a_node_costs_as_much_in_a_large_graph(make: Callable[[int], fx.GraphModule]) -> None:
    seconds(make(SMALL), 1)
    few, many = seconds(make(SMALL), 3) / SMALL, seconds(make(LARGE), 1) / LARGE
    assert many <= GROWTH * few
