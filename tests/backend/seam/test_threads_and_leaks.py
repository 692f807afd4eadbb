"""Compiles in several threads at once, and what is left in memory after many."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
import torch

from tests.live_objects import census
from xductor.backend.config import compile_state, versions
from xductor.backend.seam import compile_mode, dispatch
from xductor.backend.seam.compiler import Backend

pytestmark = pytest.mark.usefixtures("empty_cache")


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w), w)


def run_all(functions: list[Callable[[], None]]) -> None:
    """Run each function in a thread of its own, all at once; raise what one of them raised."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(functions))

    def run(function: Callable[[], None]) -> None:
        try:
            barrier.wait()
            function()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(function,), name=f"worker-{index}")
        for index, function in enumerate(functions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class TestThreads:
    def test_each_thread_has_its_own_pipeline(self, recorded_stages):
        """Odd threads use stock's backend, even ones ours, each under settings of its own."""
        levels = ["structure", "types", "stage"]

        def compile_in_thread(index: int) -> Callable[[], None]:
            # Dynamo keeps what it compiled by code object: each thread has one of its own.
            code = chain.__code__.replace(co_name=f"chain_{index}")
            product = FunctionType(code, globals())

            def work() -> None:
                size = 3 + index
                x = torch.randn(size, size, requires_grad=True)
                w = torch.randn(size, size)
                options = {"xductor.verify": levels[index // 2]}
                compiled = (
                    torch.compile(product, backend="inductor")
                    if index % 2
                    else torch.compile(product, backend="xductor", options=options)
                )
                out = compiled(x, w)
                torch.testing.assert_close(out, chain(x, w))
                out.sum().backward()

            return work

        run_all([compile_in_thread(index) for index in range(6)])
        by_thread = Counter(
            (call.thread, call.stage, call.settings.verify) for call in recorded_stages.calls
        )
        assert by_thread == {
            (f"worker-{2 * n}", stage, level): count
            for n, level in enumerate(levels)
            for stage, count in [("pre_grad", 1), ("joint", 1), ("post_grad", 2)]
        }

    def test_attached_once(self):
        module = versions.compile_fx_module()
        found: list[Any] = []

        def attach() -> None:
            dispatch.attach()
            found.append(module.joint_graph_passes)

        run_all([attach] * 8)
        assert len(set(found)) == 1
        assert found[0].__wrapped__ is dispatch.stock_function("joint")

    def test_last_compile_to_leave_restores_the_mode(self, monkeypatch):
        module = versions.compile_fx_module()
        outside = module.FxCompileMode.SUBPROCESS
        monkeypatch.setattr(module, "fx_compile_mode", outside)
        inside = threading.Barrier(4)

        def compile_here() -> None:
            with compile_mode._normal_mode(module):
                inside.wait()
                assert module.fx_compile_mode is module.FxCompileMode.NORMAL

        run_all([compile_here] * 4)
        assert module.fx_compile_mode is outside


class TestLeaks:
    def test_many_compiles_leave_nothing(self):
        """With the stages as they are, dynamic and static, forward and backward."""

        def compile_one(size: int, dynamic: bool) -> None:
            torch._dynamo.reset()
            x = torch.randn(size, size, requires_grad=True)
            out = torch.compile(chain, backend="xductor", dynamic=dynamic)(
                x, torch.randn(size, size)
            )
            out.sum().backward()

        for warm_up in (3, 4):
            compile_one(warm_up, dynamic=bool(warm_up % 2))
        before = census()
        for size in range(5, 20):
            compile_one(size, dynamic=False)
            compile_one(size, dynamic=True)
        assert census() - before == Counter()

    def test_the_decision_dies_with_the_compile(self, recorded_stages):
        dispatch.attach()
        x = torch.randn(4, 4, requires_grad=True)
        before = len(compile_state._pinned)
        out = torch.compile(chain, backend="xductor")(x, torch.randn(4, 4))
        assert len(compile_state._pinned) > before
        del out
        census()
        assert len(compile_state._pinned) <= before

    def test_backend_made_for_one_compile_is_freed(self, recorded_stages):
        backend = Backend(verify="types")
        alive = weakref.ref(backend)
        torch.compile(chain, backend=backend)(torch.randn(4, 4), torch.randn(4, 4))
        del backend
        census()
        assert alive() is None
