"""`fix_iota_device`: a range that only indexes tensors of one device is made on that device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import SchemaOp, TensorType
from xductor.ir.dialect.arguments import references
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.rewriting.legality import Legality

_IOTA = "prims.iota.default"
_INDEXING = frozenset(("aten.index.Tensor", "aten.index_put.default"))


@dataclass(frozen=True)
class FixIotaDevice(TypedPass):
    """An iota on CPU that only indexes tensors of one other device is made on that device.

    Otherwise each use would copy it to the device. It must be one of the indices: as the value of
    an `index_put` it may well stay on CPU.
    """

    name = "fix_iota_device"
    stage = "joint"
    inductor = "joint_graph.py:fix_iota_device"
    numerics = EXACT
    roots = frozenset((_IOTA,))
    matched_nodes = 1
    permits = ("device",)

    def rewrite(self, module: ModuleOp) -> int:
        moved = 0
        for graph in graphs_of(module):
            with Editor(graph) as editor:
                moved += sum(_moved(editor, op) for op in editor.analyses.named((_IOTA,)))
        return moved


def _moved(editor: Editor, op: SchemaOp) -> bool:
    """Replace `op` by an iota on the device of the tensors it indexes, if that is another one."""
    device = _indexed_device(op)
    if device is None or device.type == op.argument("device").type:
        return False
    arguments = list(op.argument_tree(op.args.data))
    arguments[op.table.index["device"]] = device
    here: Any = op.results[0].type
    types = [TensorType(here.data._replace(device=device))]
    made = editor.call(op.name, arguments, above=op, types=types, named=True)
    permits = FixIotaDevice.permits
    if not Legality.of(editor).allows(op, [made], made.results, permits) or not should_apply(
        FixIotaDevice.name
    ):
        editor.erase(made)
        return False
    editor.replace(op, *made.results)
    return True


def _indexed_device(op: SchemaOp) -> torch.device | None:
    """The device of all tensors that an iota indexes; None if it has other uses."""
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
