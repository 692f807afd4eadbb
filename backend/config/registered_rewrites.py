"""Rewrites that a library registers for every compile of the process that runs our pipeline.

Which of them a compile has is settled when it begins: its backward runs under the same, and
Inductor's caches know them as they know those of `options={"xductor.rewrites": [...]}`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from xductor.backend.config.settings import Settings

_lock = threading.Lock()
_registrations: tuple[Registration, ...] = ()


class Registration:
    """Rewrites in force until `unregister()`, or until the end of a `with` block."""

    def __init__(self, rewrites: tuple[Any, ...]) -> None:
        self.rewrites = rewrites

    def unregister(self) -> None:
        """Compiles that begin from now on run without these rewrites. Once is enough."""
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


def register_rewrites(rewrites: Iterable[Any]) -> Registration:
    """Add rewrites and passes to every compile of this process, in any thread, that begins now.

    They run behind those that a compile names itself, and in the order of registration. What is
    compiled already stays as it is (`torch._dynamo.reset()` forgets it). To be used as a function,
    or as a context manager: `with register_rewrites([MyRewrite]): ...`.

    Raises SettingsError for what is no rewrite or pass, or has a place that its stage has not.
    """
    global _registrations
    from xductor.backend.config.settings import Settings

    checked = Settings.from_options({"xductor.rewrites": rewrites}).rewrites
    made = Registration(checked)
    with _lock:
        _registrations = (*_registrations, made)
    return made


def registered() -> tuple[Any, ...]:
    """The registered rewrites, each once, oldest first."""
    return tuple(dict.fromkeys(item for one in _registrations for item in one.rewrites))


def added_to(settings: Settings) -> Settings:
    """`settings` with the registered rewrites behind their own; each runs once."""
    more = tuple(one for one in registered() if one not in settings.rewrites)
    return settings.replace(rewrites=(*settings.rewrites, *more)) if more else settings


__all__ = ["Registration", "added_to", "register_rewrites", "registered"]
