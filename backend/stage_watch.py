"""Watchers of stage calls: they see each graph right before and after its stage, in any thread.

They run inside the compile: fake mode, tracing context and metadata are those the stage sees. A
stage that raises has no "after".
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from xductor.backend.pipelines.stage_run import StageRun

_lock = threading.Lock()
_watchers: tuple[StageWatcher, ...] = ()


class StageWatcher(Protocol):
    """What is told of stage calls. It must not change the graph, and what it raises is raised in
    the compile.
    """

    def before(self, run: StageRun) -> None:
        """The stage is about to work on ``run.gm``."""
        ...

    def after(self, run: StageRun) -> None:
        """The stage is done; ``run.record`` has the passes that ran."""
        ...


@contextmanager
def watching(watcher: StageWatcher) -> Iterator[None]:
    """Tell ``watcher`` of every stage call of the process while the block runs."""
    global _watchers
    with _lock:
        _watchers = (*_watchers, watcher)
    try:
        yield
    finally:
        with _lock:
            _watchers = tuple(one for one in _watchers if one is not watcher)


def tell_before(run: StageRun) -> None:
    for watcher in _watchers:
        watcher.before(run)


def tell_after(run: StageRun) -> None:
    for watcher in _watchers:
        watcher.after(run)
