"""Axes: sets of dims of values that are cut together or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from xductor.ir import TorchOp
from xductor.transforms.auto_chunker.correspondences import (
    Correspondence,
    correspondence,
    shape_of,
)

#: A dim of a value.
Place = tuple[SSAValue, int]


class Axes:
    """The axes of some ops: disjoint sets of the dims that their correspondences link.

    Dims of size one are on no axis, since there is nothing to cut.
    """

    def __init__(self, ops: Iterable[TorchOp]) -> None:
        self.rules: dict[TorchOp, Correspondence] = {}
        self._parent: dict[Place, Place] = {}
        for op in ops:
            found = correspondence(op)
            if found is not None:
                self.rules[op] = found
                self._link(op, found)

    def _link(self, op: TorchOp, rule: Correspondence) -> None:
        operands, result = op._operands, op.results[0]
        for operand, dim, place in rule.links:
            self._unite((operands[operand], dim), (result, place))
        for one, other in zip(rule.summed, rule.summed[1:], strict=False):
            # Both sides of a contraction are cut together; reduced dims are separate.
            if one[0] != other[0]:
                self._unite((operands[one[0]], one[1]), (operands[other[0]], other[1]))

    def _unite(self, one: Place, other: Place) -> None:
        if shape_of(one[0])[one[1]] == 1 or shape_of(other[0])[other[1]] == 1:
            return
        first, second = self._root(one), self._root(other)
        if first != second:
            self._parent[first] = second

    def _root(self, place: Place) -> Place:
        root = place
        while (above := self._parent.get(root)) is not None:
            root = above
        while place != root:
            self._parent[place], place = root, self._parent[place]
        return root

    def on(self, value: SSAValue, axis: Place) -> list[int]:
        """The dims of a value that are on the same axis as a place."""
        root = self._root(axis)
        return [dim for dim in range(len(shape_of(value))) if self._root((value, dim)) == root]


__all__ = ["Axes", "Place"]
