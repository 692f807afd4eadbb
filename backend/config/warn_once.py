"""Warnings that are given once in a process, however often their cause comes up."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Hashable

_lock = threading.Lock()
_given: set[tuple[type[Warning], Hashable]] = set()


def warn_once(category: type[Warning], key: Hashable, message: str, *, stacklevel: int = 1) -> None:
    """Warn with `message`, unless a warning of this category and key was given before.

    - `stacklevel`: that of `warnings.warn`, counted from the caller.
    """
    with _lock:
        if (category, key) in _given:
            return
        _given.add((category, key))
    warnings.warn(message, category, stacklevel=stacklevel + 1)


def forget_warnings() -> None:
    """Let every warning be given again (for tests)."""
    with _lock:
        _given.clear()


__all__ = ["forget_warnings", "warn_once"]
