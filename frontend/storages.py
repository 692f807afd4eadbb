"""Alias facts read from the recorded values where the schema does not say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.fx as fx
from xdsl.ir import OpResult, SSAValue

from xductor.frontend.node_types import MISSING, leaves_of
from xductor.ir import TensorType, TorchOp
from xductor.ir.dialect.results import AliasAttr
from xductor.ir.storage.live_storages import shared_storages

if TYPE_CHECKING:
    from xductor.frontend.fx_importer import GraphLowering


def read_aliases(
    op: TorchOp, node: fx.Node, value: Any, lowering: GraphLowering
) -> AliasAttr | None:
    """Which operand each result shares storage with, by identity of the recorded storages."""
    recorded = [
        _recorded(operand, lowering) if type(operand._type) is TensorType else None
        for operand in op._operands
    ]
    return shared_storages(recorded, leaves_of(value)) if recorded else None


def _recorded(operand: SSAValue, lowering: GraphLowering) -> Any:
    """The value recorded for an SSA value."""
    if not isinstance(operand, OpResult):
        return lowering.value(lowering.placeholders[operand.index])  # type: ignore[attr-defined]
    op = operand.op
    if not isinstance(op, TorchOp) or op.node.origin is None:
        return None
    value = lowering.value(op.node.origin)
    if value is MISSING:
        return None
    if isinstance(value, (tuple, list)):
        return list(leaves_of(value))[operand.index]
    return value
