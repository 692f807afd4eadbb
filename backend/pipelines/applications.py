"""Follows the applications of declared rewrites in a stage: ledger, counters, broken contracts."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from xductor.backend import cache_keys
from xductor.backend.pipelines.stage_run import StageRun
from xductor.ir.operations import TorchOp
from xductor.transforms.rewriting.driver import (
    Application,
    ContractViolation,
    RewritesFeedEachOther,
    watching,
)
from xductor.transforms.rewriting.rewrite import Rewrite

log = logging.getLogger(__name__)
_warned: set[tuple[str, str]] = set()


class ContractWarning(UserWarning):
    """A rewrite broke a contract and was not applied there."""


@contextmanager
def followed(run: StageRun) -> Iterator[None]:
    """Note each application in the stage's record, in Inductor's counters, and in
    `counters["xductor"]` under the rewrite's module and class.

    With `on_error="raise"` a broken contract raises; else it is told once, and skipped.
    """

    def applied(application: Application) -> None:
        run.record.applied(application)
        _count(application)

    def report(one: Rewrite, op: TorchOp, error: Exception) -> None:
        if isinstance(error, ContractViolation | RewritesFeedEachOther):
            if run.settings.on_error == "raise":
                raise error
            _skip(one, error)
        else:
            log.debug("rewrite %s declined at %s: %s", one.name, op.name, error)

    with watching(applied=applied, report=report):
        yield


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


__all__ = ["ContractWarning", "followed"]
