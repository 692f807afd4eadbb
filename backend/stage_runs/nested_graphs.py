"""Whether the graph whose post-grad stage runs is one that another graph calls.

Inductor first runs the stage over the bodies of higher-order ops, each by itself and without
saying where it stands. Code that is generated for a body cannot read constants of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_depth: ContextVar[int] = ContextVar("xductor_post_grad_depth", default=0)


@contextmanager
def entering() -> Iterator[None]:
    """Record inside the block that the stage runs over a graph and the bodies in it."""
    token = _depth.set(_depth.get() + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def is_outermost() -> bool:
    """Whether no other graph calls the one whose stage is running; False if that is not known."""
    return _depth.get() == 1


__all__ = ["entering", "is_outermost"]
