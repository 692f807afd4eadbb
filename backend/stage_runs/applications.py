"""Follows the applications that passes make in a stage: records, counters, broken contracts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.config import cache_keys
from xductor.backend.config.warn_once import warn_once
from xductor.backend.records.application_records import ApplicationRecord, Applications, Note
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.stage_runs.step_watch import Refusal
from xductor.ir import TorchOp
from xductor.transforms import Rewrite, TypedPass
from xductor.transforms.passes.applications import Applied
from xductor.transforms.passes.debug_counters import Asked
from xductor.transforms.passes.events import listeners_of, listening, tell
from xductor.transforms.rewriting.driver import (
    Application,
    Connected,
    ContractViolation,
    NoConvergence,
    watching,
)
from xductor.transforms.validation.values import validating

log = logging.getLogger(__name__)


class ContractWarning(UserWarning):
    """A rewrite broke a contract and was not applied there."""


class PassAsked(NamedTuple):
    """A typed pass is about to be asked whether it may fire on the graph of a stage call, and to
    run if it may.
    """

    run: StageRun
    one: TypedPass


class AboutToApply(NamedTuple):
    """A pass in a stage is about to make application `number`, of the pass or rewrite `name`.

    Who listens must not change the module, and must not keep it.
    """

    run: StageRun
    one: TypedPass
    module: ModuleOp
    name: str
    number: int


class Passed(NamedTuple):
    """A pass in a stage is done with a module; `made` are the applications that were recorded."""

    run: StageRun
    one: TypedPass
    module: ModuleOp
    made: Sequence[ApplicationRecord]


class Changed(NamedTuple):
    """A pass in a stage changed a module, and what it made was checked.

    Who listens must not change the module, and must not keep it.
    """

    run: StageRun
    one: TypedPass
    module: ModuleOp


@dataclass
class Followed:
    """The applications of one pass in one module: their numbers, and a note on each.

    `counters` are the entries of Inductor's counters and ours for declared rewrites. They are added
    when the module is raised, since what is undone before that was not applied. `unconverged` are
    the rewrites that the driver gave up because they match what they made; a pass of the user's
    with such a rewrite is undone.
    """

    numbers: list[int] = field(default_factory=list[int])
    notes: list[Note] = field(default_factory=list[Note])
    counters: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    unconverged: list[str] = field(default_factory=list[str])

    def count(self) -> None:
        """Add to the counters."""
        if not self.counters:
            return
        from torch._dynamo.utils import counters

        for group, name, number in self.counters:
            counters[group][name] += number


@contextmanager
def followed(run: StageRun, one: TypedPass, module: ModuleOp) -> Iterator[Followed]:
    """Record each application that a pass makes inside the block.

    With `on_error="raise"` a broken contract raises; otherwise it is skipped, with one warning.
    With `validate="values"` each application of a declared rewrite is run on generated inputs
    before it is connected.
    """
    found = Followed()
    number = 0

    def asked(event: Asked) -> None:
        nonlocal number
        if not event.allowed:
            return
        number = event.number
        found.numbers.append(number)
        tell(AboutToApply(run, one, module, event.name, number))

    def connected(event: Connected) -> None:
        found.notes.append(Note.of(event.application, one.name, number))
        found.counters += _counters(event.application)

    def applied(event: Applied) -> None:
        nonlocal number
        found.notes.append(Note.of_op(one, event.op, event.new, number))
        number = 0

    def report(rewrite: Rewrite, op: TorchOp, error: Exception) -> None:
        if listeners_of(Refusal):
            tell(Refusal(run.record, rewrite.name, op.name, op.node.location(), str(error)))
        if isinstance(error, ContractViolation | NoConvergence):
            if run.settings.on_error == "raise":
                raise error
            if isinstance(error, NoConvergence):
                found.unconverged += [one for one in error.names if one not in found.unconverged]
            _skip(rewrite, error)
        else:
            log.debug("rewrite %s declined at %s: %s", rewrite.name, op.name, error)

    check_values = run.settings.validate == "values"
    with (
        validating(check_values),
        watching(report=report),
        listening(Connected, connected),
        listening(Asked, asked),
        listening(Applied, applied),
    ):
        yield found
    tell(Passed(run, one, module, Applications(found.notes)))


def _skip(one: Rewrite, error: Exception) -> None:
    cache_keys.do_not_store(f"{one.name}: {error}")
    endless = isinstance(error, NoConvergence)
    what = ", ".join(error.names) if endless else str(error.__cause__ or error).splitlines()[0]
    if not endless:
        outcome = "is not applied there"
    elif type(one).__module__.partition(".")[0] == "xductor":
        outcome = "stays where it was applied, and is left out from there on"
    else:
        outcome = "is undone in this graph"
    warn_once(
        ContractWarning,
        (one.qualified_name(), what),
        f"{error}\nThe rewrite {outcome}. "
        'Compile with options={"xductor.on_error": "raise"} to make this an error.',
        stacklevel=2,
    )


def _counters(application: Application) -> Iterator[tuple[str, str, int]]:
    """What an application counts for: the group of counters, the counter, and how much."""
    rewrite = application.rewrite
    yield "inductor", "pattern_matcher_count", 1
    match = application.match
    nodes = sum(1 if op is match.anchor else _nodes_of(op) for _, op in match.matched_ops())
    yield "inductor", "pattern_matcher_nodes", nodes
    yield "xductor", rewrite.qualified_name(), 1
    if rewrite.counter is not None:
        yield "inductor", rewrite.counter, 1


def _nodes_of(op: TorchOp) -> int:
    """How many nodes an op is whose elements a pattern reads: one, and each `getitem` of them."""
    if not op.tuple_valued:
        return 1
    getitems = op.node.getitems
    return 1 + (len(op.results) if getitems is None else sum(map(len, getitems.values())))


__all__ = [
    "AboutToApply",
    "Changed",
    "ContractWarning",
    "Followed",
    "PassAsked",
    "Passed",
    "followed",
]
