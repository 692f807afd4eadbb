"""The contents of tensors at the ops of a graph with in-place calls.

If all writes to a storage are in-place calls that write the whole of it, each call makes a version:
a later read of the same tensor reads the result of the call. If anything else writes, or if another
tensor of the storage is read, the content is unknown: `x.detach().mul_(2)` changes the numbers of
`x`, but not where its gradient goes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from xdsl.ir import Block, OpResult, SSAValue

from xductor.ir import GetAttrOp, GraphOp, TorchOp
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.analysis.op_effects import Bodies, written_operands
from xductor.transforms.attention.reading import in_place, tensor_type
from xductor.transforms.editing.aliasing import tensor_of


class WrittenVersions:
    """The versions of the tensors of one graph.

    `writes` are the ops of the graph that may write to an operand.
    """

    def __init__(self, graph: GraphOp, writes: Sequence[TorchOp], bodies: Bodies) -> None:
        # By identity, which is faster than to hash ops; all ops of the graph are kept alive.
        self._positions: dict[int, int] = {}
        self._ops: list[TorchOp] = []
        # For each storage: the positions of writes, and its content after each.
        self._writes: dict[int, list[tuple[int, SSAValue | None]]] = defaultdict(list)
        self._outside: list[int] = []
        if not writes:
            return
        self._ops = ops_of(graph.block)
        self._positions = {id(op): position for position, op in enumerate(self._ops)}
        for op in writes:
            self._visit(self._positions[id(op)], op, bodies)

    def _visit(self, position: int, op: TorchOp, bodies: Bodies) -> None:
        written = list(written_operands(op, bodies))
        for index in written:
            root = storage_root(op.operands[index])
            whole = len(written) == 1 and index == 0 and in_place(op) and len(op.results) == 1
            held = op.results[0] if whole and _same_place(op.operands[0], root) else None
            self._writes[id(root)].append((position, held))
            if isinstance(root.owner, Block) or type(root.owner) is GetAttrOp:
                self._outside.append(position)  # inputs may overlap

    def __bool__(self) -> bool:
        return bool(self._writes)

    def at(self, value: SSAValue, op: TorchOp) -> SSAValue:
        """The value that has the content of `value` when `op` reads it.

        Raises LookupError if there is no such value.
        """
        root = storage_root(value)
        writes = self._writes.get(id(root), ())
        if not writes and not self._outside:
            return value
        start = self._positions.get(id(value.op), -1) if type(value) is OpResult else -1
        end = self._positions.get(id(op), len(self._positions))
        outside = isinstance(root.owner, Block) or type(root.owner) is GetAttrOp
        if outside and self._between(self._outside, start, end):
            raise LookupError
        held: SSAValue = value
        for position, after in writes:
            if start < position < end:
                if after is None or tensor_of(after) is not tensor_of(value):
                    raise LookupError
                held = after
        return held

    def are_held(self, values: Iterable[SSAValue], op: TorchOp) -> bool:
        """Whether nothing has been written to any of these values before `op` reads them."""
        return all(self.is_unwritten(value, op) for value in values)

    def is_unwritten(self, value: SSAValue, op: TorchOp) -> bool:
        """Whether `value` has not been written before `op` since it was made."""
        try:
            return self.at(value, op) is value
        except LookupError:
            return False

    @staticmethod
    def _between(positions: list[int], start: int, end: int) -> bool:
        index = bisect_left(positions, start + 1)
        return index < len(positions) and positions[index] < end


def _same_place(one: SSAValue, other: SSAValue) -> bool:
    """Whether two values with the same storage have the same elements of it."""
    a, b = tensor_type(one), tensor_type(other)
    if a is None or b is None:
        return False
    return (a.shape, a.stride, a.offset, a.dtype) == (b.shape, b.stride, b.offset, b.dtype)


__all__ = ["WrittenVersions"]
