"""The one way to be told what passes do: events, and who listens to them.

Whoever has something to tell defines a class for it and calls `tell`; whoever wants to hear of it
names the class in `listening`. What a listener raises is raised where the event happens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Event = TypeVar("Event")
Listeners = tuple[Callable[[Any], object], ...]

_here: ContextVar[Mapping[type, Listeners]] = ContextVar("xductor_listeners")
_everywhere: dict[type, Listeners] = {}
_lock = threading.Lock()
_NOBODY: Mapping[type, Listeners] = {}


@contextmanager
def listening(
    kind: type[Event], listener: Callable[[Event], object], *, everywhere: bool = False
) -> Iterator[None]:
    """Call `listener` with each event of a class, not of its subclasses, inside the block.

    - `everywhere`: in every thread, such as those in which backwards are compiled.
    """
    if everywhere:
        with _lock:
            _everywhere[kind] = (*_everywhere.get(kind, ()), listener)
        try:
            yield
        finally:
            with _lock:
                others = [one for one in _everywhere[kind] if one is not listener]
                _everywhere[kind] = tuple(others)
        return
    now = _here.get(_NOBODY)
    token = _here.set({**now, kind: (*now.get(kind, ()), listener)})
    try:
        yield
    finally:
        _here.reset(token)


def listeners_of(kind: type) -> Listeners:
    """Who listens to a class of events; ask it first where an event is dear to make."""
    here = _here.get(_NOBODY).get(kind, ())
    return (*here, *_everywhere[kind]) if kind in _everywhere else here


def tell(event: object) -> None:
    """Tell all who listen to the class of an event, in the order in which they came."""
    for listener in listeners_of(type(event)):
        listener(event)


__all__ = ["listeners_of", "listening", "tell"]
