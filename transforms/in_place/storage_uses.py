"""Which values share a storage, and who reads it where: what a write to it would change."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import Any

from xdsl.ir import Block, SSAValue

from xductor.ir import GetAttrOp, GraphOp, OutputOp, TensorType, TorchOp
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.analysis.memory import Storage
from xductor.transforms.analysis.op_effects import never_writes
from xductor.transforms.in_place.views import viewed

_COPY_INTO = "aten.copy_.default"
_META_ONLY = frozenset(
    {"aten.sym_size.int", "aten.sym_stride.int", "aten.sym_numel.default",
     "aten.sym_storage_offset.default"}
)  # fmt: skip


class StorageUses:
    """The values of each storage of one graph; kept up to date by whoever makes ops write."""

    def __init__(self, graph: GraphOp, analyses: Analyses) -> None:
        self.graph = graph
        self.memory = analyses.memory
        self._values: dict[Storage, list[SSAValue]] = {}
        for argument in graph.block.args:
            self._add(argument)
        for op in analyses.ops:
            for result in op.results:
                self._add(result)

    def _add(self, value: SSAValue) -> None:
        if type(value._type) is TensorType:
            self._values.setdefault(self.memory.storage(value), []).append(value)

    def sharing(self, value: SSAValue) -> list[SSAValue]:
        """The values that have, or may have, the storage of a value."""
        return self._values.setdefault(self.memory.storage(value), [value])

    def shares(self, value: SSAValue, source: SSAValue) -> None:
        """Note that a value has the storage of another from now on."""
        gone, kept = self.sharing(value), self.sharing(source)
        if gone is kept:
            return
        self._values.pop(self.memory.storage(value))
        self._values.pop(self.memory.storage(source))
        self.memory.unite(value, source)
        self._values[self.memory.storage(source)] = [*kept, *gone]

    def forget(self, value: SSAValue) -> None:
        """Note that a value is to be erased."""
        values = self.sharing(value)
        if value in values:
            values.remove(value)

    def writes(self, op: TorchOp, value: SSAValue) -> None:
        """Note that an op writes to the storage of a value."""
        insort(self.memory.storage(value).writes, self.position(op))

    def position(self, op: Any) -> int:
        return self.memory.position(op)

    def is_outside(self, value: SSAValue) -> bool:
        return self.memory.storage(value).outside

    def readers(self, value: SSAValue) -> Iterator[tuple[SSAValue, TorchOp, int]]:
        """Who reads the content of a storage: through which value, and where.

        Views read no content; a copy into an input that is whole reads nothing of it.
        """
        for one in list(self.sharing(value)):
            yield from self._readers_of(one)

    def readers_through(self, value: SSAValue) -> Iterator[tuple[SSAValue, TorchOp, int]]:
        """Who reads a value, or a view of it."""
        pending = [value]
        while pending:
            one = pending.pop()
            yield from self._readers_of(one)
            pending.extend(views_of(one))

    def _readers_of(self, value: SSAValue) -> Iterator[tuple[SSAValue, TorchOp, int]]:
        for use in value.uses:
            user = use.operation
            assert isinstance(user, TorchOp)
            if user.name in _META_ONLY or _only_views(user, use.index):
                continue
            if user.name == _COPY_INTO and use.index == 0 and is_given(value):
                continue
            yield value, user, self.position(user)


def is_given(value: SSAValue) -> bool:
    """Whether a value is an input, a parameter or a constant itself."""
    return isinstance(value.owner, Block) or type(value.owner) is GetAttrOp


def given_root(value: SSAValue) -> SSAValue | None:
    """The input, parameter or constant whose storage a value has."""
    root = storage_root(value)
    return root if is_given(root) else None


def views_of(value: SSAValue) -> list[SSAValue]:
    """The values that are views of a value for certain."""
    users = dict.fromkeys(use.operation for use in value.uses)
    return [
        result
        for user in users
        if not isinstance(user, OutputOp)
        for result in user.results
        if viewed(result) is value
    ]


def _only_views(op: TorchOp, index: int) -> bool:
    """Whether all that a call does with an operand is to give views of it."""
    return (
        never_writes(type(op))
        and bool(op.results)
        and all(viewed(result) is op._operands[index] for result in op.results)
    )


__all__ = ["StorageUses", "given_root", "is_given", "views_of"]
