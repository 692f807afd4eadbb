"""The contract of passes that make ops of a functional graph write in place.

The graph after the pass, read functionally, must equal the graph before it. Each result, and each
input, parameter and constant at the end, must hold the same content; no result may share storage
with others than before; other effects must keep their number and order. It follows that nothing
reads a value that was overwritten, that no input is written that was not written before, and that
no result shares memory with an input or with another result unless it did before.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.utils.exceptions import VerifyException

from xductor.ir import GraphOp
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.in_place.functional_reading import Reading, Unreadable
from xductor.transforms.in_place.terms import Terms


class FunctionalContract:
    """Compares what a graph computes, read functionally, before and after a pass.

    - `regenerated`: the positions of results instead of which the caller gets views of its own
      inputs. These may share memory with inputs.

    Raises Unreadable if the graph writes to an unknown storage.
    """

    def __init__(
        self, graph: GraphOp, bodies: Bodies, regenerated: Collection[int] = frozenset()
    ) -> None:
        self._bodies = bodies
        self._regenerated = regenerated
        self._terms = Terms()
        self._before = Reading(graph, bodies, self._terms)

    def check(self, graph: GraphOp, name: str) -> None:
        """Check the graph that the pass called `name` has left.

        Raises VerifyException, which names the result or input, if the graph computes something
        else.
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
