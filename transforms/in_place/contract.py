"""The contract of passes that bring writes back into a functional graph.

What a pass wrote is read functionally again: each result, and each input, parameter and constant at
the end, holds what it held; no result shares storage otherwise than before; other effects are as
many and in their order. So nobody reads what was written over, nothing of the caller's is written
that was not, and no result is the memory of an input or of another result.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.utils.exceptions import VerifyException

from xductor.ir import GraphOp
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.in_place.functional_reading import Reading, Unreadable
from xductor.transforms.in_place.terms import Terms


class FunctionalContract:
    """What a graph says functionally, held against what it says after a pass.

    - `regenerated`: the places of results in whose stead the caller gets views of its own inputs:
      these may be the memory of inputs.

    Raises Unreadable where that cannot be told of the graph as it is.
    """

    def __init__(
        self, graph: GraphOp, bodies: Bodies, regenerated: Collection[int] = frozenset()
    ) -> None:
        self._bodies = bodies
        self._regenerated = regenerated
        self._terms = Terms()
        self._before = Reading(graph, bodies, self._terms)

    def check(self, graph: GraphOp, name: str) -> None:
        """Hold what a pass called `name` left against what was there.

        Raises VerifyException, which names the result or the input that differs.
        """
        problem = self.problem(graph)
        if problem is not None:
            raise VerifyException(
                f"{name}: writes were brought back otherwise than the functional graph says: "
                f"{problem}; the op in place reads or writes what somebody else reads later"
            )

    def problem(self, graph: GraphOp) -> str | None:
        """What differs; None if nothing does."""
        try:
            after = Reading(graph, self._bodies, self._terms)
        except Unreadable as error:
            return str(error)
        before = self._before
        for place, (old, new) in enumerate(zip(before.outputs, after.outputs, strict=True)):
            if old != new:
                return f"result {place} holds something else"
        for label in before.outside.keys() | after.outside.keys():
            if before.outside.get(label) != after.outside.get(label):
                return f"{label[0]} {label[1]} holds something else at the end"
        for place, (one, other) in enumerate(zip(before.sharing, after.sharing, strict=True)):
            if one != other and place not in self._regenerated:
                return f"result {place} has the storage of {other[0]} {other[1]}"
        if before.events != after.events:
            return "the other effects of the graph are not those that they were, or in their order"
        return None


__all__ = ["FunctionalContract", "Unreadable"]
