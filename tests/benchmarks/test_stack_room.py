"""What room on Python's stack is worth to a loop of calls."""

from __future__ import annotations

import time
from collections.abc import Callable

from xductor.backend.stage_runs.stack_room import with_stack_room


def test_no_depth_is_much_slower_than_another() -> None:
    """Without room a loop of calls at the end of a chunk takes many times as long as elsewhere."""
    assert _slowest(with_stack_room(_loop)) < 0.7 * _slowest(_loop)


def _loop() -> None:
    for _ in range(1000):
        _leaf()


def _leaf() -> None:
    pass


#: A frame larger than that of `at`, so that at some depth it is the one to go over a chunk's end.
_leaf.__code__ = _leaf.__code__.replace(co_stacksize=100)


def _slowest(work: Callable[[], None]) -> float:
    """The least thread CPU seconds at the depth of calls at which they are most."""

    def at(depth: int) -> None:
        at(depth - 1) if depth else work()

    def seconds(depth: int) -> float:
        start = time.thread_time()
        at(depth)
        return time.thread_time() - start

    return max(min(seconds(depth) for _ in range(7)) for depth in range(400))
