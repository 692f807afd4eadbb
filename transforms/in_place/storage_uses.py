"""Which values share a storage, and what reads them: what a write to it would change."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterator
from typing import Any

from xdsl.ir import Block, OpResult, SSAValue

from xductor.ir import GetAttrOp, GraphOp, OutputOp, TensorType, TorchOp
from xductor.ir.inference.infer import aliases_above
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.analysis.memory import Storage
from xductor.transforms.analysis.op_effects import never_writes
from xductor.transforms.editing.aliasing import is_certain_view
from xductor.transforms.in_place.views import view_steps, viewed

_COPY_INTO = "aten.copy_.default"
_META_ONLY = frozenset(
    {"aten.sym_size.int", "aten.sym_stride.int", "aten.sym_numel.default",
     "aten.sym_storage_offset.default"}
)  # fmt: skip


class StorageUses:
    """The values of each storage of a graph; passes that make ops write keep it up to date."""

    def __init__(self, graph: GraphOp, analyses: Analyses) -> None:
        self.graph = graph
        self.memory = analyses.memory
        self.bodies = analyses.bodies
        self._values: dict[Storage, list[SSAValue]] = {}
        self._same: dict[SSAValue, SSAValue] = {}
        self._replaced: dict[SSAValue, SSAValue] = {}
        self._heads: dict[SSAValue, SSAValue] = {}
        self._given_back: dict[SSAValue, list[SSAValue]] = {}
        for argument in graph.block.args:
            self._add(argument)
        for op in analyses.ops:
            for result in op.results:
                self._add(result)

    def _add(self, value: SSAValue) -> None:
        if type(value._type) is TensorType:
            self._values.setdefault(self.memory.storage(value), []).append(value)

    def sharing(self, value: SSAValue) -> list[SSAValue]:
        """The values that share, or may share, the storage of a value."""
        return self._values.setdefault(self.memory.storage(value), [value])

    def shares(self, value: SSAValue, source: SSAValue) -> None:
        """Note that a value now shares the storage of another."""
        gone, kept = self.sharing(value), self.sharing(source)
        if gone is kept:
            return
        self._values.pop(self.memory.storage(value))
        self._values.pop(self.memory.storage(source))
        self.memory.unite(value, source)
        self._values[self.memory.storage(source)] = [*kept, *gone]

    def is_now(self, result: SSAValue, value: SSAValue) -> None:
        """Note that a result of a functionalized call is now the tensor that the call writes to."""
        self.shares(result, value)
        self._same[result] = value
        self._given_back.setdefault(value, []).append(result)

    def tensor_of(self, value: SSAValue) -> SSAValue:
        """The first value that is the same tensor, before in-place ops returned it."""
        start = value
        value = self._heads.get(value, value)
        while True:
            while value in self._replaced:
                value = self._replaced[value]
            above = self._same.get(value)
            if above is None and (base := viewed(value)) is not None and view_steps(value) == ():
                above = base
            if above is None:
                self._heads[start] = value
                return value
            value = above

    def replace(self, value: SSAValue, by: SSAValue) -> None:
        """Note that a value is replaced by another and will be erased."""
        self.shares(value, by)
        self.forget(value)
        if value is by:
            return
        self._replaced[value] = by
        for result in self._given_back.pop(value, ()):
            self._same[result] = by
            self._given_back.setdefault(by, []).append(result)

    def forget(self, value: SSAValue) -> None:
        """Note that a value will be erased."""
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
        """The reads of a storage's content: through which value, by which op, at which position.

        Views do not count as reads, and neither does a copy into a whole input.
        """
        for one in list(self.sharing(value)):
            yield from self._readers_of(one)

    def readers_through(
        self, value: SSAValue, until: float = math.inf
    ) -> Iterator[tuple[SSAValue, TorchOp, int]]:
        """The reads of a value, and of its views that are made before position `until`."""
        pending = [value]
        while pending:
            one = pending.pop()
            yield from self._readers_of(one)
            for alias in (*views_of(one), *self._given_back.get(one, ())):
                assert isinstance(alias, OpResult)
                if self.position(alias.op) < until:
                    pending.append(alias)

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
    """Whether a value is an input, a parameter or a constant."""
    return isinstance(value.owner, Block) or type(value.owner) is GetAttrOp


def given_root(value: SSAValue) -> SSAValue | None:
    """The input, parameter or constant whose storage a value shares; None if there is none, or if
    a call on the way to it may have copied.
    """
    *way, root = aliases_above(value)
    return root if is_given(root) and all(map(is_certain_view, way)) else None


def views_of(value: SSAValue) -> list[SSAValue]:
    """The values that are certainly views of a value."""
    users = dict.fromkeys(use.operation for use in value.uses)
    return [
        result
        for user in users
        if not isinstance(user, OutputOp)
        for result in user.results
        if viewed(result) is value
    ]


def _only_views(op: TorchOp, index: int) -> bool:
    """Whether a call does nothing with an operand but return views of it."""
    return (
        never_writes(type(op))
        and bool(op.results)
        and all(viewed(result) is op._operands[index] for result in op.results)
    )


__all__ = ["StorageUses", "given_root", "is_given", "views_of"]
