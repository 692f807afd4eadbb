"""The ops that a graph must hold for a pattern to match anywhere in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple

import torch

from xductor.transforms.matching.patterns import Bound, Call, Head, Item, OneOf


class NeededOp(NamedTuple):
    """An op by its name, and by position the dtypes that it is called with."""

    name: str
    dtypes: tuple[tuple[int, torch.dtype], ...]


#: Ops of which a graph must hold one.
Clause = frozenset[NeededOp]
Clauses = frozenset[Clause]

#: Alternatives multiply: where they would give more clauses than this, nothing is asked for.
_MOST = 16
_NOTHING: Clauses = frozenset()


def needed_ops(outputs: Iterable[Any], names: Callable[[str], Iterable[str]]) -> Clauses:
    """Sets of ops, of each of which a graph must hold one; the fewest from which all follow.

    `names` gives the ops that may stand for an op of the pattern, itself among them.
    """
    return _fewest(_of_all(outputs, names))


def _of(pattern: Any, names: Callable[[str], Iterable[str]]) -> Clauses:
    if isinstance(pattern, Bound):
        return _of(pattern.pattern, names)
    if isinstance(pattern, Item):
        return _of(pattern.call, names)
    if isinstance(pattern, list | tuple):
        return _of_all(pattern, names)
    if isinstance(pattern, OneOf):
        return _of_any([_of(one, names) for one in pattern.alternatives])
    if isinstance(pattern, Call):
        return _of_any(
            [
                _of_all((entry for _, entry in head.entries), names) | {_itself(head, names)}
                for head in pattern.heads
            ]
        )
    return _NOTHING  # a variable, a constant, a list of any length


def _itself(head: Head, names: Callable[[str], Iterable[str]]) -> Clause:
    dtypes = tuple(
        (slot, value)
        for slot, value in head.entries
        if isinstance(slot, int) and isinstance(value, torch.dtype)
    )
    own = head.cls.name
    return frozenset(NeededOp(name, dtypes if name == own else ()) for name in names(own))


def _of_all(patterns: Iterable[Any], names: Callable[[str], Iterable[str]]) -> Clauses:
    return _NOTHING.union(*[_of(one, names) for one in patterns])


def _of_any(ways: list[Clauses]) -> Clauses:
    """What holds whichever way a pattern matches: of each way one clause, joined."""
    found = ways[0]
    for way in ways[1:]:
        found = _fewest({one | other for one, other in product(found, way)})
        if len(found) > _MOST:
            return _NOTHING
    return found


def _fewest(clauses: Iterable[Clause]) -> Clauses:
    """The clauses from which the others follow."""
    kept: list[Clause] = []
    for clause in sorted(set(clauses), key=lambda one: (len(one), sorted(map(str, one)))):
        if not any(stronger <= clause for stronger in kept):
            kept.append(clause)
    return frozenset(kept)


__all__ = ["Clause", "Clauses", "NeededOp", "needed_ops"]
