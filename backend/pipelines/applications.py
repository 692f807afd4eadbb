"""Follows the applications of declared rewrites in a stage: ledger, counters, broken contracts."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp

from xductor.backend import cache_keys
from xductor.backend.pipelines.stage_run import StageRun
from xductor.ir.operations import TorchOp
from xductor.transforms.debug_counters import asking
from xductor.transforms.rewriting.driver import (
    Application,
    ContractViolation,
    RewritesFeedEachOther,
    watching,
)
from xductor.transforms.rewriting.rewrite import Rewrite
from xductor.transforms.rewriting.values import validating
from xductor.transforms.typed_pass import TypedPass

log = logging.getLogger(__name__)
_warned: set[tuple[str, str]] = set()


class ContractWarning(UserWarning):
    """A rewrite broke a contract and was not applied there."""


class PassWatcher(Protocol):
    """What is told of typed passes, in every thread. It must not change the module."""

    def asked(
        self, run: StageRun, one: TypedPass, module: ModuleOp, name: str, number: int
    ) -> None:
        """`name` is about to make application `number`, which is allowed."""
        ...

    def passed(self, run: StageRun, one: TypedPass, module: ModuleOp) -> None:
        """The pass is done with the module."""
        ...


_lock = threading.Lock()
_watchers: tuple[PassWatcher, ...] = ()


@contextmanager
def watching_passes(watcher: PassWatcher) -> Iterator[None]:
    """Tell `watcher` of the typed passes of every stage call while the block runs."""
    global _watchers
    with _lock:
        _watchers = (*_watchers, watcher)
    try:
        yield
    finally:
        with _lock:
            _watchers = tuple(one for one in _watchers if one is not watcher)


@contextmanager
def followed(run: StageRun, one: TypedPass, module: ModuleOp) -> Iterator[list[int]]:
    """Note each application in the stage's record and in Inductor's counters.

    Gives the list in which the numbers of the applications are collected. With `on_error="raise"`
    a broken contract raises; else it is told once, and skipped. With `validate="values"` each
    application is run on generated inputs before it is connected.
    """
    numbers: list[int] = []

    def asked(name: str, number: int, allowed: bool) -> None:
        if not allowed:
            return
        numbers.append(number)
        for watcher in _watchers:
            watcher.asked(run, one, module, name, number)

    def applied(application: Application) -> None:
        run.record.applied(application, one.name, numbers[-1])
        _count(application)

    def report(rewrite: Rewrite, op: TorchOp, error: Exception) -> None:
        if isinstance(error, ContractViolation | RewritesFeedEachOther):
            if run.settings.on_error == "raise":
                raise error
            _skip(rewrite, error)
        else:
            log.debug("rewrite %s declined at %s: %s", rewrite.name, op.name, error)

    check_values = run.settings.validate == "values"
    with validating(check_values), watching(applied=applied, report=report), asking(asked):
        yield numbers
    for watcher in _watchers:
        watcher.passed(run, one, module)


def _skip(one: Rewrite, error: Exception) -> None:
    cache_keys.do_not_store(f"{one.name}: {error}")
    key = (one.qualified_name(), str(error.__cause__ or error).splitlines()[0])
    if key in _warned:
        return
    _warned.add(key)
    warnings.warn(
        f"{error}\nThe rewrite is not applied there. "
        'Compile with options={"xductor.on_error": "raise"} to make this an error.',
        ContractWarning,
        stacklevel=2,
    )


def _count(application: Application) -> None:
    from torch._dynamo.utils import counters

    counters["inductor"]["pattern_matcher_count"] += 1
    counters["inductor"]["pattern_matcher_nodes"] += len(application.match.matched_ops())
    counters["xductor"][application.rewrite.qualified_name()] += 1
    if application.rewrite.counter is not None:
        counters["inductor"][application.rewrite.counter] += 1


__all__ = ["ContractWarning", "PassWatcher", "followed", "watching_passes"]
