"""Rewrites that a library registers for every compile of the process that runs our pipeline.

A compile's registered rewrites are fixed when it begins: its backward runs under the same ones, and
Inductor's caches know them as they know those of `options={"xductor.rewrites": [...]}`.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

_lock = threading.Lock()
_registrations: tuple[Registration, ...] = ()


class Registration:
    """Rewrites in force until `unregister()`, or until the end of a `with` block."""

    def __init__(self, rewrites: tuple[Any, ...]) -> None:
        self.rewrites = rewrites

    def unregister(self) -> None:
        """Let compiles that begin from now on run without these rewrites. May be repeated."""
        global _registrations
        with _lock:
            _registrations = tuple(one for one in _registrations if one is not self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.unregister()

    def __repr__(self) -> str:
        return f"<registration of {', '.join(map(repr, self.rewrites))}>"


def add(rewrites: tuple[Any, ...]) -> Registration:
    """Add rewrites, already checked, to every compile that begins from now on."""
    global _registrations
    made = Registration(rewrites)
    with _lock:
        _registrations = (*_registrations, made)
    return made


def registered() -> tuple[Any, ...]:
    """The registered rewrites, each once, oldest first."""
    return tuple(dict.fromkeys(item for one in _registrations for item in one.rewrites))


__all__ = ["Registration", "add", "registered"]
