"""Our pipelines leave what Inductor's own stages leave, up to names and order.

Under `numerics="fast"`, where nothing that Inductor does is refused. What differs on purpose is in
known_differences.py and in docs/differences.md.
"""

from __future__ import annotations

import operator
from pathlib import Path

import pytest
import torch
import torch.fx as fx

from tests.corpus.capture import StageCall, capture
from tests.corpus.cases import (
    EVAL_DYNAMIC,
    QUICK,
    SMALL,
    TRAIN_STATIC,
    CorpusCase,
    cases,
)
from tests.corpus.graph_comparison import compare_graphs
from tests.corpus.known_differences import DIFFERENCES, Difference
from tests.corpus.model_runs import compare_stages


@pytest.mark.parametrize(
    "case", [*cases(["gpt2", *SMALL], [TRAIN_STATIC]), *cases(QUICK, [EVAL_DYNAMIC])]
)
def test_the_stages_leave_what_stock_leaves(case: CorpusCase) -> None:
    found: list[str] = []
    runs = case.runs()

    def on_call(call: StageCall) -> None:
        result = compare_stages(call)
        if not result.equal:
            found.append(f"{call.stage}: {result.comparison}")

    capture(lambda compile: runs.run(compile, 1), on_call, dynamic=case.dynamic)
    assert found == []


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_counted_positions_differ_in_a_known_way(dynamic: bool) -> None:
    """As some models count positions: the multiples of a constant, in the dtype of the sums."""
    found: list[tuple[bool, tuple[str, ...]]] = []

    def count(x: torch.Tensor) -> torch.Tensor:
        ones = torch.ones(x.shape[0], x.shape[1])
        return x + (torch.cumsum(ones, 1) - 1).long()

    def on_call(call: StageCall) -> None:
        if call.stage == "post_grad":
            result = compare_stages(call)
            found.append((result.equal, result.known))

    capture(lambda compile: compile(count)(torch.zeros(3, 5)), on_call, dynamic=dynamic)
    assert [equal for equal, _ in found] == [True]
    assert "pointless_cumsum_replacement" in found[0][1]


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.name)
def test_known_differences_are_documented(difference: Difference) -> None:
    page = (Path(__file__).parents[2] / "docs" / "differences.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith(f"| `{difference.name}`")]
    assert rows


def _graph(spelling: str) -> fx.GraphModule:
    """x + y, and what the spelling adds or changes."""
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    add = torch.ops.aten.add.Tensor
    if spelling == "dead":
        graph.call_function(torch.ops.aten.neg.default, (x,))
    if spelling == "keywords":
        total = graph.call_function(add, (x,), {"other": y, "alpha": 1})
    elif spelling == "alpha":
        total = graph.call_function(add, (x, y), {"alpha": 2})
    elif spelling == "swapped":
        total = graph.call_function(add, (y, x))
    elif spelling == "python":
        total = graph.call_function(operator.add, (x, y))
    else:
        total = graph.call_function(add, (x, y))
    if spelling == "twice":
        total = graph.call_function(add, (total, y))
    graph.output((total,))
    return fx.GraphModule(torch.nn.Module(), graph)


@pytest.mark.parametrize("spelling", ["plain", "dead", "keywords"])
def test_graphs_that_compute_the_same_compare_equal(spelling: str) -> None:
    comparison = compare_graphs(_graph(spelling), _graph("plain"))
    assert comparison.equal
    assert comparison.dead == (int(spelling == "dead"), 0)


@pytest.mark.parametrize("spelling", ["alpha", "swapped", "python", "twice"])
def test_graphs_that_compute_something_else_do_not(spelling: str) -> None:
    comparison = compare_graphs(_graph(spelling), _graph("plain"))
    assert not comparison.equal
    assert comparison.ours
