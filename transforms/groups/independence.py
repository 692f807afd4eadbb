"""Which ops of a set depend on each other, through values and effects, and what depends on them."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import Any, NamedTuple

from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.analysis.dependence import users_of
from xductor.transforms.analysis.effect_order import Footprints, predecessors


class Below(NamedTuple):
    """The ops above the last member of a set that depend on a member.

    - `levels`: for each member the length of the longest chain of members that it depends on.
      Members of one level do not depend on each other.
    - `ops`: the other ops, in order.
    """

    levels: dict[Any, int]
    ops: list[Any]


class Dependencies:
    """The dependencies of one graph; `stand_for` tells it of ops that were inserted."""

    def __init__(self, analyses: Analyses, footprints: Footprints) -> None:
        self._order = analyses.order
        self._after: dict[Any, list[Any]] = {}
        self._before = predecessors(analyses.graph, analyses.ops, analyses.bodies, footprints)
        for op, others in self._before.items():
            for other in others:
                self._after.setdefault(other, []).append(op)

    @property
    def has_effects(self) -> bool:
        """Whether some ops have effects, so that more than their values orders them."""
        return bool(self._before)

    def below(self, members: Sequence[Any]) -> Below:
        """What depends on some members, which are given in order."""
        key = self._order.key
        last = key(members[-1])
        levels = dict.fromkeys(members, 0)
        known: dict[Any, int] = dict(levels)
        queue = [(key(op), number, op) for number, op in enumerate(members)]
        ticket = len(queue)
        ops: list[Any] = []
        while queue:
            _, _, op = heappop(queue)
            level = known[op]
            if op in levels:
                levels[op] = level
                level += 1
            else:
                ops.append(op)
            for user in chain(users_of(op), self._after.get(op, ())):
                if user not in known:
                    at = key(user)
                    if at > last:
                        continue
                    known[user] = level
                    ticket += 1
                    heappush(queue, (at, ticket, user))
                elif known[user] < level:
                    known[user] = level
        return Below(levels, ops)

    def stand_for(self, members: Sequence[Any], made: Sequence[Any]) -> None:
        """Note that inserted ops inherit the dependencies of the members that they replace."""
        for op in members if self._after else ():
            for later in self._after.pop(op, ()):
                self._before[later].remove(op)
                self._link(made, [later])
            for earlier in self._before.pop(op, ()):
                self._after[earlier].remove(op)
                self._link([earlier], made)

    def _link(self, earlier: Sequence[Any], later: Sequence[Any]) -> None:
        for op in earlier:
            self._after.setdefault(op, []).extend(later)
        for op in later:
            self._before.setdefault(op, []).extend(earlier)


__all__ = ["Below", "Dependencies"]
