"""Warnings that are given once in a process."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator

import pytest

from xductor.backend.config.warn_once import forget_warnings, warn_once


class OneWarning(UserWarning):
    pass


class OtherWarning(UserWarning):
    pass


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    forget_warnings()
    yield
    forget_warnings()


@pytest.fixture
def caught() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def test_once_for_each_category_and_key(caught: list[warnings.WarningMessage]) -> None:
    for _ in range(2):
        warn_once(OneWarning, "a", "one, a")
        warn_once(OneWarning, ("a", 1), "one, (a, 1)")
        warn_once(OtherWarning, "a", "other, a")
    assert [str(one.message) for one in caught] == ["one, a", "one, (a, 1)", "other, a"]
    assert [one.category for one in caught] == [OneWarning, OneWarning, OtherWarning]


def test_the_message_is_no_part_of_the_key(caught: list[warnings.WarningMessage]) -> None:
    warn_once(OneWarning, "a", "first")
    warn_once(OneWarning, "a", "second")
    assert [str(one.message) for one in caught] == ["first"]


def test_again_once_forgotten(caught: list[warnings.WarningMessage]) -> None:
    warn_once(OneWarning, "a", "text")
    forget_warnings()
    warn_once(OneWarning, "a", "text")
    assert len(caught) == 2


def _warns(stacklevel: int) -> None:
    warn_once(OneWarning, stacklevel, "text", stacklevel=stacklevel)


def test_points_at_the_caller(caught: list[warnings.WarningMessage]) -> None:
    here = test_points_at_the_caller.__code__.co_firstlineno
    _warns(1)
    _warns(2)
    inner = _warns.__code__.co_firstlineno + 1
    assert [(one.filename, one.lineno) for one in caught] == [
        (__file__, inner),
        (__file__, here + 3),
    ]


def test_once_in_all_threads(caught: list[warnings.WarningMessage]) -> None:
    barrier = threading.Barrier(8)

    def warn() -> None:
        barrier.wait()
        for key in range(50):
            warn_once(OneWarning, key, "text")

    threads = [threading.Thread(target=warn) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(caught) == 50
