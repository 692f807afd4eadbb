"""What the ops of a group have in common: operand types, producers and readers."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import TensorType
from xductor.ir.dialect.types import Dim, contiguous_strides
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.before_autograd.outside_storage import may_overlap
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.groups.gradients import reached_by_gradients
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import check_offset

_BITS = frozenset(("conj", "neg"))


class Forms:
    """Questions about the values of one graph, by which ops are compared."""

    def __init__(self, state: GraphState) -> None:
        self._state = state
        self.facts = state.facts
        self.sizes = UsualSizes(state.graph)
        table = state.graph.symbols.data
        self._unbacked = frozenset(name for name, info in table.items() if not info.backed)

    def tensor(self, value: Any) -> Hashable | None:
        """Dtype, device and sizes, never the offset; None for a tensor that cannot be stacked.

        A tensor cannot be stacked if it is not strided, is a subclass, has a conjugate or negative
        bit, or has sizes that depend on data.
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
        """Whether a tensor has the strides of a row of a stack, apart from dims of size one."""
        type_ = value.type
        assert type(type_) is TensorType
        steps, wanted = (
            tuple([0 if size == 1 else step for size, step in zip(type_.shape, one, strict=True)])
            for one in (type_.stride, contiguous_strides(type_.shape))
        )
        return 0 in type_.shape or known_equal(steps, wanted, self._state.facts)

    def has_sizes(self, value: SSAValue, sizes: Sequence[Dim]) -> bool:
        """Whether a tensor is known to have the given sizes."""
        type_ = value.type
        assert type(type_) is TensorType
        return known_equal(type_.shape, tuple(sizes), self._state.facts)

    def is_written(self, value: SSAValue) -> bool:
        """Whether the graph writes to the storage of a value."""
        return bool(self._state.writes) and storage_root(value) in self._state.written_roots

    def is_seen(self, value: SSAValue) -> bool:
        """Whether the caller, or an op that reads whole storages, can see where a value lies."""
        state = self._state
        return storage_root(value) in state.returned_roots or check_offset(value, state) is not None

    def may_be_written_from_outside(self, value: SSAValue) -> bool:
        """Whether a value comes from outside, and a write to another tensor may change it."""
        state, root = self._state, storage_root(value)
        return bool(state.writes) and any(
            may_overlap(other, root, state.graph) for other in state.written_roots
        )

    @cached_property
    def _reached(self) -> set[SSAValue]:
        return reached_by_gradients(self._state)

    def gets_gradient(self, value: SSAValue) -> bool:
        """Whether, before autograd, a gradient comes back to a value that is not written to."""
        type_ = value.type
        assert type(type_) is TensorType
        return "requires_grad" in type_.data.flags and value in self._reached

    def kind(self, value: SSAValue) -> Hashable:
        """Dtype and device of a tensor."""
        type_ = value.type
        assert type(type_) is TensorType
        return type_.dtype, type_.device

    def requires_grad(self, value: SSAValue) -> bool:
        """Whether a tensor requires a gradient."""
        type_ = value.type
        return type(type_) is TensorType and "requires_grad" in type_.data.flags

    def parent(self, value: SSAValue) -> Hashable:
        """What makes a value: the name of the op, or the value itself if it is an input."""
        return aten_name(value.op) if isinstance(value, OpResult) else value

    def cut_from(self, value: SSAValue) -> Hashable:
        """What a value is a piece of: an op with several results, or an indexed tensor."""
        if not isinstance(value, OpResult):
            return None
        if len(value.op.results) > 1:
            return value.op
        op: Any = value.op
        return op._operands[0] if op.target is operator.getitem else None

    def users(self, value: SSAValue) -> tuple[str, ...]:
        """The names of the ops that read a value, in order."""
        users: list[Any] = list(dict.fromkeys(use.operation for use in value.uses))
        return tuple([aten_name(user) for user in sorted(users, key=self._state.order.key)])

    def first_user(self, value: SSAValue) -> str:
        """The name of the first op that reads a value; "" if no op does."""
        users: Any = (use.operation for use in value.uses)
        first = min(users, key=self._state.order.key, default=None)
        return "" if first is None else aten_name(first)


__all__ = ["Forms"]
