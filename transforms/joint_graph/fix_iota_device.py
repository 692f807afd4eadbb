"""`fix_iota_device`: a range that only indexes tensors of a device is made there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import ArgsAttr, GraphOp, SchemaOp, TensorType
from xductor.ir.dialect.arguments import references
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import analyses_of
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_IOTA = "prims.iota.default"
_INDEXING = frozenset(("aten.index.Tensor", "aten.index_put.default"))


@dataclass(frozen=True)
class FixIotaDevice(TypedPass):
    """A range on CPU that does nothing but index tensors of one other device is made there.

    Else each use would copy it to the device. It must be among the indices: as a value to put it
    may well stay on CPU.
    """

    name = "fix_iota_device"
    stage = "joint"
    inductor = "joint_graph.py:fix_iota_device"
    numerics = EXACT
    roots = frozenset((_IOTA,))
    matched_nodes = 1

    def rewrite(self, module: ModuleOp) -> int:
        moved = 0
        for graph in graphs_of(module):
            for op in analyses_of(graph).named((_IOTA,)):
                device = _indexed_device(op)
                if (
                    device is not None
                    and device.type != op.argument("device").type
                    and should_apply(self.name)
                ):
                    _move(graph, op, device)
                    moved += 1
        return moved


def _indexed_device(op: SchemaOp) -> torch.device | None:
    """The device of all that a range indexes; None if it is used otherwise."""
    devices: set[torch.device] = set()
    for use in op.results[0].uses:
        user: Any = use.operation
        if user.name not in _INDEXING:
            return None
        indices = user.args.data[user.table.index["indices"]]
        if all(ref.index != use.index for ref in references(indices)):
            return None
        indexed = user.results[0]._type
        if type(indexed) is not TensorType:
            return None
        devices.add(indexed.device)
    return devices.pop() if len(devices) == 1 else None


def _move(graph: GraphOp, op: SchemaOp, device: torch.device) -> None:
    """Put a range on the device in the place of `op`."""
    data = list(op.args.data)
    data[op.table.index["device"]] = device
    type_ = op.results[0]._type
    assert type(type_) is TensorType
    made = type(op).make(
        ArgsAttr(tuple(data)),
        op._operands,
        [TensorType(type_.data._replace(device=device))],
        op.node.inherited(op.node.names, op.node.node),
    )
    applied(op, made.results[0])
    graph.block.insert_op_before(made, op)
    op.results[0].replace_all_uses_with(made.results[0])
    graph.block.erase_op(op)
