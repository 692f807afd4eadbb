"""Debug counters choose by number which applications of a pass happen.

A pass asks `should_apply(name)` just before it applies a rewrite that it has found to be right. The
answer is yes unless a counter of that name is set. A counter `skip:count` says no to the first
`skip` questions, yes to the next `count`, and no from then on, so that the one application that
breaks a program can be found by bisection.

The counter `*` counts the applications of all passes together: `*=0:7` stops after the first
seven. Each application has a number, its place in that count, beginning with 1; the ledger keeps
it, and `xductor bisect` bisects over it. A pass that must run for a graph to be right (sorting)
does not ask.

Counters and their numbers belong to the process: applications are counted over all graphs, in
the order in which they are compiled, from 1 at the start of the process or of the innermost
`counting`. While a counter is in force, Inductor's caches are not used. Counters come from
`XDUCTOR_DEBUG_COUNTER` (`name=skip:count,name=skip:count`), or from `counting`.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from xductor.transforms.passes.events import tell

VARIABLE = "XDUCTOR_DEBUG_COUNTER"

#: The counter that every application asks.
TOTAL = "*"

_RANGE = re.compile(r"(\d*)(?::(\d*))?")


class CounterError(ValueError):
    """A counter that cannot be parsed, or that no pass will ever ask."""


class UnknownCounterWarning(UserWarning):
    """A counter in the environment that no pass will ask."""


@dataclass
class Counter:
    """Says no `skip` times, then yes `count` times (None: always), then no.

    `asked` is the number of questions so far.
    """

    skip: int = 0
    count: int | None = None
    asked: int = 0

    @property
    def allowed(self) -> int:
        """How many of the questions so far were answered with yes."""
        past = max(self.asked - self.skip, 0)
        return past if self.count is None else min(past, self.count)

    def ask(self) -> bool:
        """Count one question and answer it."""
        number = self.asked
        self.asked += 1
        return self.skip <= number and (self.count is None or number < self.skip + self.count)


Counters = dict[str, Counter]


class Asked(NamedTuple):
    """An application that is about to be made: of which pass or rewrite, and whether it may be."""

    name: str
    number: int
    allowed: bool


_lock = threading.Lock()
_number = 0
_given: Counters | None = None
_of_environment: tuple[str, Counters] = ("", {})
_names: Callable[[], Collection[str]] | None = None
#: Whether the environment's counters were read before `know_names` said which names exist.
_unwarned = False


def should_apply(name: str) -> bool:
    """Whether the pass or rewrite called `name` may make the application that it is about to make.

    Counts the question, so ask it last, and once for each application.

    Raises:
        CounterError: If `XDUCTOR_DEBUG_COUNTER` cannot be parsed.
    """
    global _number
    counters = active()
    with _lock:
        _number += 1
        number = _number
        answers = [counters[key].ask() for key in (TOTAL, name) if key in counters]
    allowed = all(answers)
    tell(Asked(name, number, allowed))
    return allowed


def active() -> Counters:
    """The counters in force, by name.

    Raises:
        CounterError: If `XDUCTOR_DEBUG_COUNTER` cannot be parsed.
    """
    global _of_environment, _unwarned
    if _given is not None:
        return _given
    text = os.environ.get(VARIABLE, "")
    if text != _of_environment[0]:
        with _lock:
            if text != _of_environment[0]:
                _of_environment = (text, parse(text, given_as=VARIABLE))
                _unwarned = True
    if _unwarned and _names is not None:
        _unwarned = False
        _warn_of_unknown(_of_environment[1], _names)
    return _of_environment[1]


def know_names(names: Callable[[], Collection[str]]) -> None:
    """Register `names`, which gives the names of the passes and rewrites that may ask a counter.

    The registry calls this, so that the counters, which every pass asks, need not import it.
    """
    global _names
    _names = names


def _warn_of_unknown(counters: Counters, names: Callable[[], Collection[str]]) -> None:
    """Warn of counters that no pass will ask because nothing loaded has their name."""
    if set(counters) <= {TOTAL}:
        return
    named = names()
    for name in sorted(set(counters).difference(named, {TOTAL})):
        close = get_close_matches(name, named, n=1)
        guess = f" Did you mean '{close[0]}'?" if close else ""
        warnings.warn(
            f"{VARIABLE}: no pass or rewrite that is loaded is called '{name}', so that its "
            f"counter has no effect.{guess}",
            UnknownCounterWarning,
            stacklevel=4,
        )


@contextmanager
def counting(counters: Counters) -> Iterator[Counters]:
    """Put `counters` in force in every thread, in place of the environment's.

    Inside the block applications are numbered from 1.
    """
    global _given, _number
    before = _given, _number
    _given, _number = counters, 0
    try:
        yield counters
    finally:
        _given, _number = before


def parse(text: str, given_as: str = "--debug-counter") -> Counters:
    """Parse counters from `name=skip:count,name=skip:count`.

    An absent `skip` is 0; an absent `count` means all that follow: `name=3`, `name=:2`.

    Raises CounterError, naming what was expected and what was found.
    """
    counters: Counters = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, numbers = item.partition("=")
        found = _RANGE.fullmatch(numbers.strip())
        if not equals or not name.strip() or not numbers.strip() or found is None:
            raise CounterError(
                f"{given_as}: expected NAME=skip:count, as in pointless_view=3:1, found {item!r}"
            )
        skip, count = found.groups()
        counters[name.strip()] = Counter(int(skip or 0), int(count) if count else None)
    return counters


def report(counters: Counters) -> str:
    """How often each counter was asked and how often it said yes, one line each."""
    width = max(map(len, counters), default=0)
    return "\n".join(
        f"{name.ljust(width)}  asked {one.asked}, applied {one.allowed} (skip {one.skip}, "
        f"count {'all' if one.count is None else one.count})"
        for name, one in sorted(counters.items())
    )
