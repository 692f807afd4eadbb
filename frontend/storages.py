"""Alias facts from the recorded values, for calls whose schema does not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.fx as fx
from xdsl.ir import OpResult, SSAValue

from xductor.frontend.node_types import MISSING, leaves_of
from xductor.ir import TensorType, TorchOp
from xductor.ir.dialect.results import AliasAttr, alias_of_one
from xductor.ir.storage.live_storages import shared, storage_of

#: Gives the recorded value of a node of the graph that is being lowered.
Recorded = Callable[[fx.Node], Any]

_UNREAD: Any = object()


class Storages:
    """The storages of the values of one graph, each read once while the graph is lowered."""

    def __init__(self, recorded: Recorded, placeholders: Sequence[fx.Node]) -> None:
        self._recorded = recorded
        self._placeholders = placeholders
        self._known: dict[int, int | None] = {}
        """By identity of the SSA values, which all live as long as the graph is lowered."""

    def aliases(self, op: TorchOp, value: Any) -> AliasAttr | None:
        """The operand with which each result shares storage, by the identity of storages.

        `value` is the recorded value of the call.
        """
        results = [storage_of(leaf) for leaf in leaves_of(value)]
        self._known.update(zip(map(id, op.results), results, strict=False))
        return shared(map(self._of, op._operands), results) if op._operands else None

    def aliases_of_one(self, op: TorchOp, value: torch.Tensor) -> AliasAttr | None:
        """What `aliases` gives, for a call with one tensor as its value."""
        (result,) = op.results
        known = self._known
        storage = known[id(result)] = storage_of(value)
        if storage is not None:
            for index, operand in enumerate(op._operands):
                found = known.get(id(operand), _UNREAD)
                if (self._of(operand) if found is _UNREAD else found) == storage:
                    return alias_of_one(index)
        return None

    def _of(self, operand: SSAValue) -> int | None:
        if type(operand._type) is not TensorType:
            return None
        known = self._known.get(id(operand), _UNREAD)
        if known is _UNREAD:
            known = self._known[id(operand)] = storage_of(self._value(operand))
        return known

    def _value(self, operand: SSAValue) -> Any:
        """The value recorded for an SSA value."""
        if not isinstance(operand, OpResult):
            return self._recorded(self._placeholders[operand.index])  # type: ignore[attr-defined]
        op = operand.op
        if not isinstance(op, TorchOp) or op.node.origin is None:
            return None
        value = self._recorded(op.node.origin)
        if value is MISSING:
            return None
        if isinstance(value, (tuple, list)):
            return list(leaves_of(value))[operand.index]
        return value
