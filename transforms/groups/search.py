"""Which candidates may form a group: those that one consumer reaches, or those of the whole graph.

A search upwards from a consumer does not go past a candidate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from xdsl.ir import Block

#: Candidates by form, in the order in which they were found.
Found = dict[Hashable, list[Any]]

_FAR = 1 << 30


class Search:
    """The candidates of one graph by form, while groups of them are fused.

    - `ops`: the ops of the graph, in order. Ops inserted later are not candidates.
    - `depth`: how many steps up a consumer searches. A result of an op with several results is one
      step further away, since FX has a node for it.
    """

    def __init__(
        self,
        ops: Iterable[Any],
        forms: dict[Any, Hashable],
        depth: int,
    ) -> None:
        self._forms = forms
        self._depth = max(depth, 1)
        # Steps from an op up to the next candidate, so that no search starts where there is none.
        # Once that one is fused, the next may be further away.
        self._steps: dict[Any, int] = {}
        for op in ops:
            self._see(op)

    def _see(self, op: Any) -> int:
        nearest = _FAR
        for operand in op._operands:
            owner: Any = operand.owner
            if type(owner) is not Block:
                found = 0 if owner in self._forms else self._steps_of(owner)
                nearest = min(nearest, found + _step(owner))
        self._steps[op] = nearest
        return nearest

    def _steps_of(self, op: Any) -> int:
        """How many steps up from an op the next candidate stands."""
        steps = self._steps.get(op)
        return self._see(op) if steps is None else steps

    def sets(self, last: Any) -> Iterator[list[Any]]:
        """The candidates of one form that an op reaches, from the last op of a graph upwards."""
        op = last
        while op is not None:
            yield from self.reached_from(op).values()
            op = op._prev_op

    def fused(self, ops: Iterable[Any]) -> None:
        """Note that candidates were fused."""
        for op in ops:
            self._forms.pop(op, None)
            self._steps.pop(op, None)

    def reached_from(self, root: Any) -> Found:
        """The candidates that an op reaches, by form."""
        found: Found = {}
        if self._steps_of(root) > self._depth:
            return found
        seen: set[Any] = set()
        queue: deque[tuple[Any, int]] = deque([(root, 0)])
        while queue:
            op, depth = queue.popleft()
            for operand in op._operands:
                owner: Any = operand.owner
                if owner in seen or type(owner) is Block:
                    continue
                form = self._forms.get(owner)
                at = depth + _step(owner)
                if at + (self._steps_of(owner) if form is None else 0) > self._depth:
                    continue
                seen.add(owner)
                if form is None:
                    queue.append((owner, at))
                else:
                    found.setdefault(form, []).append(owner)
        return found


class Everywhere:
    """All candidates of one form, however far apart they stand."""

    def __init__(self, forms: Mapping[Any, Hashable]) -> None:
        self._forms = forms

    def sets(self, last: Any) -> Iterator[list[Any]]:
        """The candidates of one form above an op, in order."""
        found: Found = {}
        for op, form in self._forms.items():
            found.setdefault(form, []).append(op)
        yield from found.values()

    def fused(self, ops: Iterable[Any]) -> None:
        """There is nothing to note: each candidate is in one set."""


def _step(op: Any) -> int:
    return 2 if len(getattr(op, "results", ())) > 1 else 1


__all__ = ["Everywhere", "Found", "Search"]
