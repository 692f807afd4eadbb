"""What declared rewrites cost: many that do not apply, one walk, contracts, registration."""

from __future__ import annotations

from tests.benchmarks.joint_graphs import joint_graph
from tests.benchmarks.rewrite_figures import LIMITS, contracts, matching, registering, walk

#: Blocks of a joint graph with about 2,500 nodes.
MIDDLE = 12


def test_many_rewrites_that_do_not_apply() -> None:
    assert 0 < matching(joint_graph(MIDDLE), 7) <= LIMITS["200 rewrites against 20"]


def test_one_walk_with_the_rewrites_of_the_joint_stage() -> None:
    assert 0 < walk(joint_graph(MIDDLE), 11) <= LIMITS["one walk against graph_copy"]


def test_contracts() -> None:
    ratio, applied = contracts(joint_graph(MIDDLE), 11)
    assert applied > 500
    assert 0 < ratio <= LIMITS["contracts against none"]


def test_registration() -> None:
    assert 0 < registering(joint_graph(MIDDLE), 7) <= LIMITS["registering 300 rewrites"]
