"""Which alternatives of a pattern the instances of a validation exercised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xductor.transforms.matching.patterns import OneOf, children
from xductor.transforms.rewriting.rewrite import Rewrite
from xductor.transforms.validation.given_instances import parts_of


class Coverage:
    """The alternatives of a rewrite's pattern that were applied.

    Those with a number (`as_=`) are told by what matched, others by how the graph was made.
    """

    def __init__(self, rewrite: Rewrite) -> None:
        self.choices = [one for one in parts_of(rewrite) if isinstance(one, OneOf)]
        self._seen: set[tuple[int, int]] = set()

    def applied(self, numbers: dict[str, Any], picked: dict[OneOf, int]) -> None:
        """Count an application: what its variables are, and what was picked for its graph."""
        for place, one in enumerate(self.choices):
            found = picked.get(one) if one.number is None else numbers.get(one.number.name)
            if found is not None:
                self._seen.add((place, found))

    def missing(self) -> Iterator[tuple[OneOf, int]]:
        """The alternatives that were never applied."""
        for place, one in enumerate(self.choices):
            for number in range(len(one.alternatives)):
                if (place, number) not in self._seen:
                    yield one, number


def is_optional_call(one: OneOf) -> bool:
    """Whether this is a `maybe`: a call, or what it is called on."""
    if one.number is not None or len(one.alternatives) != 2:
        return False
    call, alone = one.alternatives
    return any(part is alone for part in children(call))


def text_of(one: OneOf, number: int) -> str:
    """How a report names an alternative that was never applied."""
    named = "" if one.number is None else f", as_={one.number.name}"
    chosen = repr(one.alternatives[number])
    return f"alternative {number} of {len(one.alternatives)} (one_of{named}): {chosen}"


__all__ = ["Coverage", "is_optional_call", "text_of"]
