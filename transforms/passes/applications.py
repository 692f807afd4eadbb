"""Procedural passes say here which op they are about to change, for the record of a compile.

Declared rewrites say nothing: their driver is followed (`rewriting.driver.watching`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.ir import Operation, SSAValue

#: Told of an op that goes or moves, and of the values that will stand for its results.
Told = Callable[[Operation, tuple[SSAValue, ...]], None]

_told: ContextVar[tuple[Told, ...]] = ContextVar("xductor_ops_applied", default=())


def applied(op: Operation, *new: SSAValue) -> None:
    """Say that `op` is about to be replaced by `new`, moved or erased, as one application.

    Called once for each application that the pass counts, while `op` is as it was.
    """
    for listener in _told.get():
        listener(op, new)


@contextmanager
def told(listener: Told) -> Iterator[None]:
    """Tell `listener` of the applications that procedural passes make inside the block."""
    token = _told.set((*_told.get(), listener))
    try:
        yield
    finally:
        _told.reset(token)


__all__ = ["applied", "told"]
