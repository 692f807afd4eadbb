"""What ops have in common: types of operands, what these are made by, who reads results."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import TensorType
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.inference.infer import storage_root
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.rewriting.graph_state import GraphState

_BITS = frozenset(("conj", "neg"))


class Forms:
    """What is asked of the values of one graph."""

    def __init__(self, state: GraphState) -> None:
        self._state = state
        table = state.graph.symbols.data
        self._unbacked = frozenset(name for name, info in table.items() if not info.backed)

    def tensor(self, value: Any) -> Hashable | None:
        """Dtype, device and sizes, and never where it begins; None for what cannot be stacked.

        That is a tensor of another layout or class, one with conjugate or negative bits, and one
        whose sizes depend on data.
        """
        type_ = value.type if isinstance(value, SSAValue) else None
        if type(type_) is not TensorType:
            return None
        data = type_.data
        if data.layout != "strided" or data.subclass or not _BITS.isdisjoint(data.flags):
            return None
        if self._unbacked and not self._unbacked.isdisjoint(type_.symbols):
            return None
        return data.dtype, data.device, data.shape, "requires_grad" in data.flags

    def is_contiguous(self, value: SSAValue) -> bool:
        """Whether a tensor is laid out as a row of a stack is, but for dims of size one."""
        type_ = value.type
        assert type(type_) is TensorType
        steps, wanted = (
            tuple([0 if size == 1 else step for size, step in zip(type_.shape, one, strict=True)])
            for one in (type_.stride, contiguous_strides(type_.shape))
        )
        return 0 in type_.shape or known_equal(steps, wanted, self._state.facts)

    def is_written(self, value: SSAValue) -> bool:
        """Whether the graph writes to the storage of a value."""
        return bool(self._state.writes) and storage_root(value) in self._state.written_roots

    def parent(self, value: SSAValue) -> Hashable:
        """By what a value is made: the name of the op, or the value itself if it comes in."""
        return value.op.name if isinstance(value, OpResult) else value

    def users(self, value: SSAValue) -> Hashable:
        """The names of the ops that read a value, in order."""
        users: list[Any] = list(dict.fromkeys(use.operation for use in value.uses))
        return tuple([user.name for user in sorted(users, key=self._state.order.key)])


__all__ = ["Forms"]
