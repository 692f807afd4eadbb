"""Limits on time that hold on a busy machine: thread CPU time, and the best of a few runs."""

from __future__ import annotations

import time
from collections.abc import Callable

#: A first run fills caches and imports; a collection of garbage or a busy neighbour falls into one
#: run, not into each.
TRIES = 5


def least_seconds(run: Callable[[], object], limit: float) -> float:
    """The least thread CPU time of `run` in seconds; the first run within `limit` is the last."""
    least = float("inf")
    for _ in range(TRIES):
        start = time.thread_time()
        run()
        least = min(least, time.thread_time() - start)
        if least < limit:
            break
    return least
