"""Whether an op may write to a tensor instead of making a new one.

Nothing but the epilogue may read the written storage later, and it may be the storage of no other
result. Code generation requires more: see `_written_twice`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, OutputOp, SchemaOp, TensorType, TorchOp
from xductor.transforms.analysis.op_effects import written_operands
from xductor.transforms.in_place.in_place_forms import WRITE_COPIES
from xductor.transforms.in_place.loops import (
    gives_shape,
    is_pointwise,
    may_be_fused,
    same_layout,
    same_offset,
)
from xductor.transforms.in_place.storage_uses import StorageUses, given_root
from xductor.transforms.in_place.terms import Steps, chains_apart
from xductor.transforms.in_place.views import REINTERPRETED, chain_of, viewed
from xductor.transforms.pieces.regions import KEEP_ORDER, strided

_COPY_INTO = "aten.copy_.default"
_REARRANGING = KEEP_ORDER | {
    "aten.permute.default",
    "aten.transpose.int",
    "aten.t.default",
    REINTERPRETED,
}


@dataclass(frozen=True)
class Write:
    """A write that an op could do.

    - `value`: the tensor that it would write to.
    - `result`: the value that would then be that tensor; None if the op has no such result.
    - `parts`: the views of `value` that would be written, as steps; no steps mean the whole.
    - `ignored`: ops that would be erased with this one.
    """

    op: TorchOp
    value: SSAValue
    result: SSAValue | None
    parts: tuple[Steps, ...] = ((),)
    ignored: frozenset[Any] = field(default=frozenset())


class MayWrite:
    """Decides about the writes of one graph.

    - `regenerated`: the positions of results instead of which the caller gets views of its own
      inputs.
    """

    def __init__(
        self, uses: StorageUses, facts: Facts, regenerated: Collection[int] = frozenset()
    ) -> None:
        self.uses = uses
        self.facts = facts
        self.regenerated = regenerated

    def refusal(self, write: Write) -> str | None:
        """Why an op may not write; None if it may."""
        type_ = strided(write.value)
        if type_ is None:
            return "it is not a strided tensor"
        if _overlaps_itself(type_):
            return "its elements share memory"
        if write.result is not None and not same_layout(write.result, type_, self.facts):
            return "the result is laid out otherwise"
        back = self.copy_back(write)
        if self.uses.is_outside(write.value) and back is None:
            return "it belongs to the caller, and the graph does not write to it"
        return (
            self._read_later(write, back)
            or self._result_outlives(write, back)
            or self._written_twice(write, back)
        )

    def copy_back(self, write: Write) -> TorchOp | None:
        """The first copy into the input whose storage would be written."""
        given = given_root(write.value)
        if given is None:
            return None
        position = self.uses.position(write.op)
        copies = [
            use.operation
            for use in given.uses
            if use.operation.name == _COPY_INTO
            and use.index == 0
            and self.uses.position(use.operation) > position
        ]
        return min(copies, key=self.uses.position, default=None)  # type: ignore[return-value]

    def restores(self, write: Write, back: TorchOp | None) -> bool:
        """Whether the copy back copies the result itself, so that the write makes it redundant."""
        if back is None or write.result is None:
            return False
        target, source = back._operands[0], self.uses.tensor_of(back._operands[1])
        if source is write.result:
            return write.value is target
        return (
            _is_rearranged(source, write.result)
            and _is_rearranged(write.value, target)
            and type(target._type) is TensorType
            and same_layout(source, target._type, self.facts)
            and same_offset(write.result, write.value, self.facts)
        )

    def _read_later(self, write: Write, back: TorchOp | None) -> str | None:
        """Refuse if anything but the epilogue reads the written storage later."""
        start = self.uses.position(write.op)
        end = None if back is None else self.uses.position(back)
        for value, reader, position in self.uses.readers(write.value):
            if position <= start or reader in write.ignored:
                continue
            if end is not None and position > end:
                continue
            if back is not None and reader is back and value is not back._operands[1]:
                continue
            if self._is_apart(value, write) and not self._is_rewritten(write, position):
                continue
            return f"{_name(reader)} reads what was there"
        return None

    def _is_rewritten(self, write: Write, position: int) -> bool:
        """Whether the result, which may become the written tensor, is written to up to a place."""
        if write.result is None:
            return False
        start = self.uses.position(write.op)
        writes = self.uses.memory.storage(write.result).writes
        return any(start < one <= position for one in writes)

    def _is_apart(self, value: SSAValue, write: Write) -> bool:
        """Whether a value shows nothing of what would be written."""
        head, steps = chain_of(value)
        written, above = chain_of(write.value)
        if head is not written or steps is None or above is None:
            return False
        return all(chains_apart(steps, (*above, *part)) for part in write.parts)

    def _result_outlives(self, write: Write, back: TorchOp | None) -> str | None:
        """Refuse if the result is read after its memory changed, or shares memory with a result."""
        if write.result is None:
            return None
        outside = self.uses.is_outside(write.value)
        start = self.uses.position(write.op)
        storage = self.uses.memory.storage(write.value)
        dropped = back if self.restores(write, back) else None
        changes = [self.uses.position(back)] if back is not None and dropped is None else []
        gone = None if dropped is None else self.uses.position(dropped)
        changes += [one for one in storage.writes if one > start and one != gone]
        changed = min(changes, default=None)
        result = self.uses.memory.storage(write.result)
        if not result.returned and result.last_read <= (math.inf if changed is None else changed):
            return None
        for value, reader, position in self.uses.readers_through(write.result):
            if isinstance(reader, OutputOp):
                problem = self._returned(write, value, reader, outside, storage.returned)
                if problem is not None:
                    return problem
            if reader in write.ignored:
                continue
            if changed is not None and position > changed:
                return f"{_name(reader)} reads the result after it was written again"
        return None

    def _returned(
        self, write: Write, value: SSAValue, output: OutputOp, outside: bool, returned: bool
    ) -> str | None:
        if outside:
            places = [place for place, one in enumerate(output._operands) if one is value]
            if any(place not in self.regenerated for place in places):
                return "the result is returned, and would be the memory of an input"
            return None
        if returned:
            return "two results would have one memory"
        return None if chain_of(write.value)[1] == () else "the result would be a part of a tensor"

    def _written_twice(self, write: Write, back: TorchOp | None) -> str | None:
        """Refuse if an op that may be fused reads the storage between two writes to it.

        Inductor lets a read and a write of one buffer run in one loop if both access the same
        elements. After a first write the buffer has another name, under which Inductor does not see
        that read.
        """
        start = self.uses.position(write.op)
        storages = [self.uses.memory.storage(write.value)]
        if write.result is not None:
            storages.append(self.uses.memory.storage(write.result))
        writes = sorted({one for storage in storages for one in storage.writes})
        dropped = back if self.restores(write, back) else None
        earlier = sorted([one for one in writes if one < start] + self._made_by_writes(write.value))
        later = [one for one in writes if one > start]
        if dropped is not None:
            later = [one for one in later if one != self.uses.position(dropped)]
        if earlier:
            for value, reader, position in self.uses.readers(write.value):
                if not earlier[0] < position <= start or reader in write.ignored:
                    continue
                if reader is write.op and value is write.value:
                    continue
                if may_be_fused(reader) and not self._is_apart(value, write):
                    return f"{_name(reader)} reads it between two writes"
        if not later or write.result is None:
            return None
        # A copy into the whole tensor may read each element that it writes.
        whole = back is not None and dropped is None and later[0] == self.uses.position(back)
        for value, reader, position in self.uses.readers_through(write.result, later[0]):
            if position > later[0] or reader in write.ignored:
                continue
            if self.uses.position(reader) == later[0] and self._writes_to(reader, value):
                continue
            if whole and self._reads_in_step(value, write, back):
                continue
            if may_be_fused(reader):
                return f"{_name(reader)} reads the result before it is written again"
        return None

    def _made_by_writes(self, value: SSAValue) -> list[int]:
        """The places of calls that made a storage and that code generation makes copy and write."""
        makers = [one.op for one in self.uses.sharing(value) if isinstance(one, OpResult)]
        return [self.uses.position(op) for op in makers if op.name in WRITE_COPIES]

    def _writes_to(self, op: TorchOp, value: SSAValue) -> bool:
        """Whether an op only writes to a value, and does not read it."""
        places = [place for place, one in enumerate(op._operands) if one is value]
        written = set(written_operands(op, self.uses.bodies))
        return written.issuperset(places)

    def _reads_in_step(self, value: SSAValue, write: Write, back: TorchOp | None) -> bool:
        """Whether everything computed from a value within one possible loop is elementwise.

        Reductions end a loop.
        """
        assert back is not None
        assert write.result is not None
        type_, target = value._type, back._operands[0]
        if not (
            type(target._type) is TensorType
            and same_layout(value, target._type, self.facts)
            and same_offset(value, write.result, self.facts)
            and same_offset(write.value, target, self.facts)
        ):
            return False
        pending, seen = [value], {value}
        while pending:
            for use in pending.pop().uses:
                user: Any = use.operation
                if user is back or isinstance(user, OutputOp):
                    continue
                if isinstance(user, SchemaOp) and torch.Tag.reduction in user.target.tags:
                    continue
                if not is_pointwise(user) or not gives_shape(user, type_, self.facts):
                    return False
                for result in user.results:
                    if result not in seen:
                        seen.add(result)
                        pending.append(result)
        return True


def _is_rearranged(value: SSAValue, base: SSAValue) -> bool:
    """Whether a value is a view of `base` that shows all its elements."""
    while value is not base:
        above = viewed(value)
        if above is None or not isinstance(value, OpResult) or value.op.name not in _REARRANGING:
            return False
        value = above
    return True


def _overlaps_itself(type_: TensorType) -> bool:
    """Whether a tensor is expanded, so that several elements share one place in memory."""
    sizes = zip(type_.shape, type_.stride, strict=True)
    return any(step == 0 and size != 1 for size, step in sizes)


def _name(op: TorchOp) -> str:
    return "the caller" if isinstance(op, OutputOp) else f"{op.name} ({op.node.node})"


def overlapping(values: Iterable[SSAValue], uses: StorageUses) -> bool:
    """Whether two of these tensors may share storage."""
    storages = [uses.memory.storage(value) for value in values]
    return len(set(map(id, storages))) != len(storages)


__all__ = ["MayWrite", "Write", "overlapping"]
