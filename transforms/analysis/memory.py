"""Which values of a graph share storage, and where each storage is read and written."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from heapq import merge
from itertools import count
from typing import Any

from xdsl.ir import Operation, SSAValue

from xductor.ir import GetAttrOp, GraphOp, OutputOp, SchemaOp, TensorType, TorchOp, result_aliases
from xductor.ir.functions.torch_calls import aten_call
from xductor.ir.storage.sharing import has_own_storage
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.analysis.op_effects import (
    Bodies,
    effects_of,
    never_writes,
    written_operands,
)

_OWN_LIBRARIES = frozenset(("aten", "prims"))
_READS_STORAGE = (
    "as_strided",
    "set",
    "storage_offset",
    "sym_storage_offset",
    "_reinterpret_tensor",
    "_resize_output",
    "resize",
)


class Storage:
    """One storage: values that share it, or may share it, form one class.

    - `last_read`: position of the last op that reads it; infinite if the caller can read it after
      the graph has run, or if a collective may still be reading it.
    - `writes`: positions of the ops that may write to it, ascending.
    - `outside`: it belongs to an input, a parameter or a constant.
    - `returned`: it belongs to an output.
    - `absolute`: something reads it by absolute offsets, or may.
    - `values`: how many values have it.
    """

    __slots__ = ("absolute", "last_read", "outside", "parent", "returned", "values", "writes")

    def __init__(self, outside: bool = False) -> None:
        self.parent: Storage | None = None
        self.last_read: float = math.inf if outside else -1
        self.writes: list[int] = []
        self.outside = outside
        self.returned = False
        self.absolute = False
        self.values = 1


class Memory:
    """The storages of one graph, from the alias facts and the effects of its ops.

    Computed in one walk; kept up to date by `unite` and `puts` while a pass replaces values.
    """

    def __init__(self, graph: GraphOp, bodies: Bodies, ops: Sequence[Any] | None = None) -> None:
        # Keyed by identity, which is much faster than hashing. Objects kept alive keep their ids.
        self._alive: list[Any] = list(ops_of(graph.block) if ops is None else ops)
        self._positions: dict[int, int] = dict(zip(map(id, self._alive), count(), strict=False))
        self._of: dict[int, Storage] = {id(arg): Storage(True) for arg in graph.block.args}
        # Before autograd nothing says that two inputs are disjoint: a write to one may hit any.
        self._inputs_overlap = graph.stage.data == "pre_grad"
        self._writes_outside: list[int] = []
        of = self._of
        for position, op in enumerate(self._alive):
            cls = type(op)
            if not only_reads(cls):
                self._visit(position, op, bodies)
                continue
            self._reads(position, op)
            if has_own_storage(cls) and "aliases" not in op.properties:
                for result in op.results:
                    of[id(result)] = Storage()
            else:
                self._results(op)

    def _visit(self, position: int, op: TorchOp, bodies: Bodies) -> None:
        of = self._of
        returned = type(op) is OutputOp
        absolute = reads_storage(op)
        # A collective goes on reading after the call has returned.
        until = math.inf if absolute and effects_of(op).collective else position
        self._reads(until, op)
        for operand in op._operands if absolute or returned else ():
            of[id(operand)].absolute |= absolute
            of[id(operand)].returned |= returned
        for index in written_operands(op, bodies) if not returned else ():
            storage = of[id(op._operands[index])]
            if not storage.writes or storage.writes[-1] != position:
                storage.writes.append(position)
            if storage.outside and (self._inputs_overlap or op.raw_arguments):
                self._writes_outside.append(position)
        self._results(op, outside=type(op) is GetAttrOp)

    def _results(self, op: TorchOp, outside: bool = False) -> None:
        of, operands = self._of, op._operands
        for result, fact in zip(op.results, result_aliases(op), strict=False):
            if fact is None or type(result._type) is not TensorType:
                of[id(result)] = Storage(outside)
                continue
            storage = of[id(result)] = of[id(operands[fact[0]])]
            storage.values += 1

    def _reads(self, position: float, op: TorchOp) -> None:
        of = self._of
        for operand in op._operands:
            storage = of.get(id(operand))
            if storage is None:  # used before its definition
                storage = of[id(operand)] = Storage(True)
            if storage.last_read < position:
                storage.last_read = position

    def storage(self, value: SSAValue) -> Storage:
        """The class of a value. A value added after the graph was read has its own."""
        storage = self._of.get(id(value))
        if storage is None:
            self._alive.append(value)
            storage = self._of[id(value)] = Storage()
        while storage.parent is not None:
            if storage.parent.parent is not None:
                storage.parent = storage.parent.parent
            storage = storage.parent
        return storage

    def position(self, op: Operation) -> int:
        """The position of an op in the order in which the graph was read."""
        return self._positions[id(op)]

    def puts(self, made: Operation, op: Operation) -> None:
        """Record that a new op stands where another does."""
        self._alive.append(made)
        self._positions[id(made)] = self._positions[id(op)]

    def unite(self, value: SSAValue, source: SSAValue) -> None:
        """Record that `source` now stands for `value`."""
        gone, kept = self.storage(value), self.storage(source)
        if gone is kept:
            kept.values -= 1
            return
        gone.parent = kept
        kept.last_read = max(kept.last_read, gone.last_read)
        if gone.writes:
            kept.writes = list(merge(kept.writes, gone.writes))
        kept.outside |= gone.outside
        kept.returned |= gone.returned
        kept.absolute |= gone.absolute
        kept.values += gone.values - 1

    def is_written(self, value: SSAValue, start: Operation, end: Operation) -> bool:
        """Whether an op after `start` and before `end` may write to a value's storage."""
        write = self._next_write(self.storage(value), self.position(start))
        return write is not None and write < self.position(end)

    def is_written_outside(self, value: SSAValue) -> bool:
        """Whether a value's storage comes from outside, and an op may write to it."""
        storage = self.storage(value)
        return storage.outside and bool(storage.writes)

    def interfere(self, value: SSAValue, source: SSAValue, op: Operation) -> bool:
        """Whether one of two values is written after `op` and the other read then or later.

        `op` makes `value` from `source`: if they do not interfere, both may have one storage.
        """
        position = self.position(op)
        a, b = self.storage(value), self.storage(source)
        return self._hits(a, b, position) or self._hits(b, a, position)

    def _hits(self, written: Storage, read: Storage, position: int) -> bool:
        write = self._next_write(written, position)
        return write is not None and write <= read.last_read

    def _next_write(self, storage: Storage, position: int) -> int | None:
        found = [_first_after(storage.writes, position)]
        if storage.outside:
            found.append(_first_after(self._writes_outside, position))
        return min((write for write in found if write is not None), default=None)


def _first_after(positions: list[int], position: int) -> int | None:
    index = bisect_right(positions, position)
    return positions[index] if index < len(positions) else None


@cache
def only_reads(cls: type[TorchOp]) -> bool:
    """Whether calls of a class read tensors, not whole storages, and write nothing."""
    return never_writes(cls) and not _overload_reads_storage(cls.name)


def reads_storage(op: TorchOp) -> bool:
    """Whether a call may see where in its storage a tensor begins."""
    if isinstance(op, SchemaOp):
        return _overload_reads_storage(op.name)
    if type(op) is OutputOp or sees_sizes_alone(op):
        return False
    call = aten_call(op)
    return call is None or _overload_reads_storage(call.name)


def sees_sizes_alone(op: TorchOp) -> bool:
    """Whether a call sees of a tensor its sizes, and nothing that is in it."""
    return op.name in _OF_SIZES


#: Methods that see of a tensor its sizes alone.
_OF_SIZES = frozenset(("method.size", "method.dim", "method.numel"))


@cache
def _overload_reads_storage(overload: str) -> bool:
    library, name, _ = overload.split(".", 2)
    return library not in _OWN_LIBRARIES or name.startswith(_READS_STORAGE)
