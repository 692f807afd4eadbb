"""Events: who hears of them, in which order, and in which threads."""

from __future__ import annotations

from threading import Thread
from typing import NamedTuple

import pytest

from xductor.transforms.passes.events import listeners_of, listening, tell


class Happened(NamedTuple):
    what: str


class Other(NamedTuple):
    what: str


def _in_a_thread(what: str) -> None:
    thread = Thread(target=tell, args=(Happened(what),))
    thread.start()
    thread.join()


def test_in_the_order_in_which_they_came() -> None:
    heard: list[tuple[int, str]] = []
    with (
        listening(Happened, lambda one: heard.append((1, one.what))),
        listening(Happened, lambda one: heard.append((2, one.what))),
    ):
        tell(Happened("a"))
        tell(Other("b"))
    tell(Happened("c"))
    assert heard == [(1, "a"), (2, "a")]
    assert not listeners_of(Happened)


def test_other_threads() -> None:
    here: list[str] = []
    everywhere: list[str] = []
    with (
        listening(Happened, lambda one: here.append(one.what)),
        listening(Happened, lambda one: everywhere.append(one.what), everywhere=True),
    ):
        tell(Happened("a"))
        _in_a_thread("b")
    _in_a_thread("c")
    assert here == ["a"]
    assert everywhere == ["a", "b"]


def test_what_a_listener_raises() -> None:
    def refuse(one: Happened) -> None:
        raise LookupError(one.what)

    with listening(Happened, refuse), pytest.raises(LookupError, match="a"):
        tell(Happened("a"))
    tell(Happened("b"))
    with pytest.raises(LookupError), listening(Happened, refuse, everywhere=True):
        tell(Happened("c"))
    tell(Happened("d"))
