"""Alias facts read from the recorded values where the schema does not say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.fx as fx
from xdsl.ir import OpResult, SSAValue

from xductor.frontend.node_types import MISSING, leaves_of
from xductor.ir.operations import TorchOp
from xductor.ir.results import AliasAttr
from xductor.ir.types import TensorType

if TYPE_CHECKING:
    from xductor.frontend.fx_importer import GraphLowering


def storage_of(value: Any) -> int | None:
    """An identity of a tensor's storage; None for what has none."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    try:
        return value.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):  # functorch wrappers and some subclasses have none
        return None


def read_aliases(
    op: TorchOp, node: fx.Node, value: Any, lowering: GraphLowering
) -> AliasAttr | None:
    """Which operand each result shares storage with, by identity of the recorded storages."""
    if not op._operands:
        return None
    operands: dict[int, int] = {}
    for index, operand in enumerate(op._operands):
        if type(operand._type) is not TensorType:
            continue
        storage = storage_of(_recorded(operand, lowering))
        if storage is not None:
            operands.setdefault(storage, index)
    if not operands:
        return None
    facts: list[tuple[int, bool] | None] = []
    for leaf in leaves_of(value):
        storage = storage_of(leaf)
        index = operands.get(storage) if storage is not None else None
        facts.append(None if index is None else (index, True))
    return AliasAttr(tuple(facts)) if any(fact is not None for fact in facts) else None


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
