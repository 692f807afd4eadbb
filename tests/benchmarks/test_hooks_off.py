"""Reports, captures, explanations and overrides cost nothing while nobody asks for them."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from tests.benchmarks.hooks_off import LIMIT, counted, measure, total_ratio
from tests.corpus.capture import StageCall, capture
from tests.thread_time import TRIES
from xductor.backend import stages
from xductor.backend.seam import dispatch


def test_stages_take_no_longer_for_what_is_off() -> None:
    """The best of a few measurements: a busy neighbour makes both sides slower, and not evenly."""
    ratios: list[float] = []
    while len(ratios) < TRIES and min(ratios, default=2.0) > LIMIT:
        ratios.append(total_ratio(measure("gpt2", 2, 15)))
    print(f"stages with what is off, over stages without: {min(ratios):.4f} (limit {LIMIT})")
    assert min(ratios) <= LIMIT, ratios


def _hooks_of_joint(ops: int) -> Counter[str]:
    """The events of the joint stage of a graph on which no pass applies."""
    found: list[Counter[str]] = []

    def f(x: torch.Tensor) -> torch.Tensor:
        for _ in range(ops):
            x = torch.sin(x)
        return x

    def on_call(call: StageCall) -> None:
        if call.stage == "joint":
            with counted() as hooks:
                stages.joint_graph_passes(call.copy(), *call.args, **call.kwargs)
            found.append(hooks)

    torch._dynamo.reset()
    dispatch.attach()
    capture(lambda compiler: compiler(f)(torch.randn(4)), on_call)
    (one,) = found
    return one


def test_events_do_not_grow_with_the_graph() -> None:
    few, many = _hooks_of_joint(5), _hooks_of_joint(100)
    assert few == many
    assert 0 < few.total() < 200


@pytest.mark.parametrize("model", ["feed_forward"])
def test_what_is_compared_makes_the_same_graph(model: str) -> None:
    """`paired` raises if it does not, with records taken out too."""
    assert len(measure(model, 1, 1, "records")) >= 3
