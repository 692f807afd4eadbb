"""Alias facts from the recorded values, for calls whose schema does not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch.fx as fx
from xdsl.ir import OpResult, SSAValue

from xductor.frontend.node_types import MISSING, leaves_of
from xductor.ir import TensorType, TorchOp
from xductor.ir.dialect.results import AliasAttr
from xductor.ir.storage.live_storages import shared_storages

#: Gives the recorded value of a node of the graph that is being lowered.
Recorded = Callable[[fx.Node], Any]


def read_aliases(
    op: TorchOp, value: Any, recorded: Recorded, placeholders: Sequence[fx.Node]
) -> AliasAttr | None:
    """The operand with which each result shares storage, by identity of the recorded storages."""
    operands = [
        _recorded(operand, recorded, placeholders) if type(operand._type) is TensorType else None
        for operand in op._operands
    ]
    return shared_storages(operands, leaves_of(value)) if operands else None


def _recorded(operand: SSAValue, recorded: Recorded, placeholders: Sequence[fx.Node]) -> Any:
    """The value recorded for an SSA value."""
    if not isinstance(operand, OpResult):
        return recorded(placeholders[operand.index])  # type: ignore[attr-defined]
    op = operand.op
    if not isinstance(op, TorchOp) or op.node.origin is None:
        return None
    value = recorded(op.node.origin)
    if value is MISSING:
        return None
    if isinstance(value, (tuple, list)):
        return list(leaves_of(value))[operand.index]
    return value
