"""Where procedural passes report the op they are about to change, for the record of a compile.

Declared rewrites report nothing here: their driver is followed (`rewriting.driver.watching`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.ir import Operation, SSAValue

#: Called with an op that is about to go or move, and the values that will stand for its results.
Told = Callable[[Operation, tuple[SSAValue, ...]], None]

_told: ContextVar[tuple[Told, ...]] = ContextVar("xductor_ops_applied", default=())


def applied(op: Operation, *new: SSAValue) -> None:
    """Report that `op` is about to be replaced by `new`, moved or erased, as one application.

    Call it once for each application that the pass counts, while `op` is still unchanged.
    """
    for listener in _told.get():
        listener(op, new)


@contextmanager
def told(listener: Told) -> Iterator[None]:
    """Call `listener` for the applications that procedural passes make inside the block."""
    token = _told.set((*_told.get(), listener))
    try:
        yield
    finally:
        _told.reset(token)


__all__ = ["applied", "told"]
