"""Stock and ours compile in two threads at once: numbers, counters and caches stay right."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from xductor.backend.config import versions
from xductor.backend.records import stage_records
from xductor.backend.seam import dispatch
from xductor.backend.seam.compiler import Backend

pytestmark = pytest.mark.usefixtures("empty_cache")

ROUNDS = 20
OURS = Backend(on_error="raise", verify="types")
STAGES = {"pre_grad": 1, "joint": 1, "post_grad": 2}


# Products of matrices alone: Inductor calls a library for them, and no compiler runs. The joint
# stage removes the pairs of permutes.
def one_pair(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w).permute(1, 0).permute(1, 0), w)


def two_pairs(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    out = torch.mm(torch.mm(x, w).permute(1, 0).permute(1, 0), w)
    return torch.mm(x, out.permute(1, 0).permute(1, 0))


def compile_and_check(function: Callable[..., Any], backend: Any, size: int) -> None:
    """Forward and backward, against eager."""
    # Dynamo keeps what it compiled by code object: each compile has one of its own.
    own = FunctionType(function.__code__.replace(co_name=function.__name__), globals())
    x, w = (torch.randn(size, size, requires_grad=True) for _ in range(2))
    x2, w2 = (leaf.detach().clone().requires_grad_() for leaf in (x, w))
    out, expected = torch.compile(own, backend=backend)(x, w), function(x2, w2)
    torch.testing.assert_close(out, expected)
    out.backward(torch.ones_like(out))
    expected.backward(torch.ones_like(out))
    torch.testing.assert_close((x.grad, w.grad), (x2.grad, w2.grad))


def at_once(*functions: Callable[[], None]) -> None:
    """Each function in a thread of its own, begun together; raise what one of them raised."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(functions))

    def run(function: Callable[[], None]) -> None:
        try:
            barrier.wait(60)
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def compile_both(stock: Callable[..., Any], ours: Callable[..., Any], size: int) -> None:
    torch._dynamo.reset()
    at_once(
        lambda: compile_and_check(stock, "inductor", size),
        lambda: compile_and_check(ours, OURS, size),
    )


def counted() -> Counter[str]:
    """What has been counted of matches and of the caches since the last time."""
    inductor, autograd = counters["inductor"], counters["aot_autograd"]
    now = Counter(
        {
            "pairs": inductor["pattern_matcher_count"],
            "nodes": inductor["pattern_matcher_nodes"],
            "graphs found": inductor["fxgraph_cache_hit"],
            "graphs compiled": inductor["fxgraph_cache_miss"],
            "found": autograd["autograd_cache_hit"],
            "compiled": autograd["autograd_cache_miss"],
        }
    )
    counters.clear()
    return +now


def alone(function: Callable[..., Any], backend: Any, size: int) -> Counter[str]:
    torch._dynamo.reset()
    compile_and_check(function, backend, size)
    return counted()


def test_through_dynamo() -> None:
    """Twenty rounds: cold, cold with the backends swapped, and then both again from the caches."""
    dispatch.attach()
    counted()
    both = (one_pair, two_pairs)
    with stage_records.record() as records:
        cold_alone = {(one, who): alone(one, who, 3) for who in ("inductor", OURS) for one in both}
    warm_alone = {(one, who): alone(one, who, 3) for one, who in cold_alone}
    assert {one["compiled"] for one in cold_alone.values()} == {1}
    assert {(one["found"], one["compiled"]) for one in warm_alone.values()} == {(1, 0)}
    pairs = removed(records)
    assert pairs > 0
    with stage_records.record() as records:
        for size in range(4, 4 + ROUNDS // 4):
            for cold in (True, False):
                for stock, ours in ((one_pair, two_pairs), (two_pairs, one_pair)):
                    compile_both(stock, ours, size)
                    counts = cold_alone if cold else warm_alone
                    assert counted() == counts[stock, "inductor"] + counts[ours, OURS]
    cold_rounds = ROUNDS // 2
    expected = Counter({stage: count * cold_rounds for stage, count in STAGES.items()})
    if not versions.pre_grad_runs_late():  # before the lookup, and so in the warm rounds too
        expected["pre_grad"] += ROUNDS - cold_rounds
    assert Counter(record.stage for record in records) == expected
    assert removed(records) == pairs * cold_rounds // 2
    assert {record.fallback for record in records} == {None}


def test_backwards_at_once() -> None:
    """Backwards are compiled when they first run, with no lock of Dynamo's around them."""
    dispatch.attach()
    with stage_records.record() as records:
        for size in range(4, 4 + ROUNDS // 2):
            torch._dynamo.reset()
            pending = [forward(one_pair, "inductor", size), forward(two_pairs, OURS, size)]
            records.clear()
            at_once(*pending)
            assert [(record.stage, record.fallback) for record in records] == [("post_grad", None)]


def forward(function: Callable[..., Any], backend: Any, size: int) -> Callable[[], None]:
    """Compile and run the forward; what is returned runs the backward and checks it."""
    x, w = torch.randn(size, size, requires_grad=True), torch.randn(size, size)
    x2 = x.detach().clone().requires_grad_()
    out = torch.compile(function, backend=backend)(x, w)

    def backward() -> None:
        out.backward(torch.ones(size, size))
        function(x2, w).backward(torch.ones(size, size))
        torch.testing.assert_close(x.grad, x2.grad)

    return backward


def removed(records: list[stage_records.StageRecord]) -> int:
    return sum(record.applications("pointless_permute_pair") for record in records)
