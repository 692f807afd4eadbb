"""Three-valued answers in `where`: an unknown fact never counts as false.

A comparison of dims gives a `Fact`. `bool(fact)` raises `Undecided` if the facts about the symbols
do not decide it, so that `not (d == 1)` and `a and b` are right in plain Python; the driver turns
that into a refusal with the fact's text. `f & g`, `f | g`, `~f`, `all_of` and `any_of` follow
Kleene's logic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Undecided(Exception):
    """A fact was needed that holds for some values of the symbols and not for others."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(f"not known whether {fact.text}")
        self.fact = fact


class Fact:
    """A statement about symbols: true, false, or unknown (`value` is None).

    `question` names the operator and its sides, for a prover that takes both branches. The text may
    be given in parts, which are joined when it is read.
    """

    __slots__ = ("_text", "question", "value")

    def __init__(
        self,
        value: bool | None,
        text: str | tuple[object, ...],
        question: tuple[str, Any, Any] | None = None,
    ) -> None:
        self.value = value
        self._text = text
        self.question = question

    @property
    def text(self) -> str:
        if isinstance(self._text, tuple):
            parts = [one.text if isinstance(one, Fact) else str(one) for one in self._text]
            self._text = "".join(parts)
        return self._text

    def __bool__(self) -> bool:
        if self.value is not None:
            return self.value
        oracle = _oracle.get()
        if oracle is None:
            raise Undecided(self)
        return oracle(self)

    def __and__(self, other: object) -> Fact:
        right = fact_of(other)
        values = (self.value, right.value)
        value = False if False in values else None if None in values else True
        return Fact(value, ("(", self, " and ", right, ")"), ("and", self, right))

    def __or__(self, other: object) -> Fact:
        right = fact_of(other)
        values = (self.value, right.value)
        value = True if True in values else None if None in values else False
        return Fact(value, ("(", self, " or ", right, ")"), ("or", self, right))

    __rand__ = __and__
    __ror__ = __or__

    def __invert__(self) -> Fact:
        value = None if self.value is None else not self.value
        return Fact(value, ("not ", self), ("not", self, None))

    def __repr__(self) -> str:
        return f"Fact({self.value}, {self.text!r})"


class Refusal:
    """The answer of a `where` that refuses, with the reason. False in a condition."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"no({self.reason!r})"


def no(reason: str) -> Refusal:
    """Refuse a match in `where`, with the reason that `explain` shows."""
    return Refusal(reason)


def fact_of(answer: object) -> Fact:
    """An answer as a fact. Raises TypeError if it is neither a fact nor a bool."""
    if isinstance(answer, Fact):
        return answer
    if isinstance(answer, bool):
        return Fact(answer, str(answer))
    raise TypeError(f"expected a fact or a bool, found {answer!r}")


def known(answer: object) -> bool:
    """Whether an answer is known to be true; unknown counts as no."""
    fact = fact_of(answer)
    oracle = _oracle.get()
    if fact.value is None and oracle is not None:
        return oracle(Fact(None, f"known({fact.text})", ("known", fact, None)))
    return fact.value is True


def all_of(*answers: object) -> Fact:
    """Whether all answers hold: false if one is false, even if others are unknown."""
    facts = [fact_of(answer) for answer in answers]
    result = facts[0] if facts else Fact(True, "True")
    for one in facts[1:]:
        result = result & one
    return result


def any_of(*answers: object) -> Fact:
    """Whether any answer holds: true if one is true, even if others are unknown."""
    facts = [fact_of(answer) for answer in answers]
    result = facts[0] if facts else Fact(False, "False")
    for one in facts[1:]:
        result = result | one
    return result


_oracle: ContextVar[Callable[[Fact], bool] | None] = ContextVar("xductor_oracle", default=None)


@contextmanager
def deciding(oracle: Callable[[Fact], bool]) -> Iterator[None]:
    """Let `oracle` decide unknown facts inside the block, as a prover does for both branches."""
    token = _oracle.set(oracle)
    try:
        yield
    finally:
        _oracle.reset(token)


__all__ = [
    "Fact",
    "Refusal",
    "Undecided",
    "all_of",
    "any_of",
    "deciding",
    "fact_of",
    "known",
    "no",
]
