"""Which pipeline a compile runs under, decided once and kept until its backward is compiled.

A compile is spread over time and threads: the backward of a graph with static shapes is compiled
when it first runs, after the backend has returned, in whatever thread runs it. Inductor carries a
`TracingContext` from the forward to the backward; the decision is attached to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from torch._guards import TracingContext

from xductor.backend.config import settings as settings_module
from xductor.backend.config.settings import Settings


@dataclass(eq=False)
class CompileState:
    """One compile: the settings of our pipeline, or None if Inductor's own runs.

    `unstorable` holds the reasons why its result must not be stored in any cache; `kept` what other
    modules keep for the length of a compile, by their names.
    """

    settings: Settings | None
    unstorable: list[str] = field(default_factory=list[str])
    kept: dict[str, Any] = field(default_factory=dict[str, Any])


_installed = False
_installed_here: ContextVar[bool | None] = ContextVar("xductor_installed", default=None)
_entered: ContextVar[CompileState | None] = ContextVar("xductor_compile", default=None)
_pinned: WeakKeyDictionary[TracingContext, CompileState] = WeakKeyDictionary()


def current() -> CompileState:
    """The state of the current compile in this thread.

    It is decided by a backend that entered a state, else by what the compile began with, else by
    what is installed, with `installed_here` or for the process.
    """
    context = TracingContext.try_get()
    state = _entered.get() or (None if context is None else _pinned.get(context))
    if state is None:
        here = settings_module.current() if is_installed() else None
        state = CompileState(here and settings_module.with_registered(here))
    if context is not None:
        _pinned[context] = state
    return state


def begin(settings: Settings) -> CompileState:
    """The state for a compile that runs our pipeline under `settings`.

    Several compiles of one tracing context (parts of a split graph) share a state.
    """
    settings = settings_module.with_registered(settings)
    context = TracingContext.try_get()
    pinned = None if context is None else _pinned.get(context)
    if pinned is not None and pinned.settings == settings:
        return pinned
    return CompileState(settings)


@contextmanager
def entered(state: CompileState) -> Iterator[CompileState]:
    """Let everything inside the block, in this thread, belong to the compile of `state`."""
    token = _entered.set(state)
    try:
        current()
        yield state
    finally:
        _entered.reset(token)


def is_installed() -> bool:
    """Whether compiles that none of our backends began run our pipeline."""
    here = _installed_here.get()
    return _installed if here is None else here


def set_installed(value: bool) -> None:
    """Install or uninstall for every thread in which no `installed_here` is in force."""
    global _installed
    _installed = value


@contextmanager
def installed_here(value: bool) -> Iterator[None]:
    """Install or uninstall inside the block, in this thread or task only."""
    token = _installed_here.set(value)
    try:
        yield
    finally:
        _installed_here.reset(token)
