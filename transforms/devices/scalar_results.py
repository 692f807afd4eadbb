"""Copies scalars that are computed on the CPU, and have to be there, to the device that reads them.

CUDA graphs hold no CPU tensors. A forward graph that keeps such a scalar for the backward returns
it, and the backward graph expects it on the CPU: it cannot move, but its other readers can read a
copy. Graph partition cuts the graph at the copies.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import OpResult

from xductor.ir import TensorType, TorchOp
from xductor.transforms.devices.movable_sets import (
    is_cpu_scalar,
    keeps_cpu_tensors,
    takes_scalars,
)
from xductor.transforms.editing.replacement import Replacement
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

_PUT = "prims.device_put.default"


def copy(replacement: Replacement, target: str, name: str) -> int:
    """Let the ops on a type of device read copies of scalars on CPU; count the scalars.

    A scalar that is written to stays, since its copy would be outdated.

    - `name`: the pass, for the debug counters.
    """
    count = 0
    for op in list(replacement.analyses.ops):
        for result in op.results:
            readers = _readers(result, target) if is_cpu_scalar(result) else []
            if not readers or replacement.analyses.memory.storage(result).writes:
                continue
            if should_apply(name):
                _copy(replacement, result, readers)
                count += 1
    return count


def _readers(scalar: OpResult, target: str) -> list[TorchOp]:
    """The ops of one device that read a scalar; none if several devices do."""
    found: dict[TorchOp, Any] = {}
    for use in scalar.uses:
        op: Any = use.operation
        type_ = op.results[0]._type if op.results else None
        if type(type_) is not TensorType or type_.device.type != target:
            continue
        if op.name != _PUT and not keeps_cpu_tensors(op) and takes_scalars(op, target):
            found[op] = type_.device
    return list(found) if len(set(found.values())) == 1 else []


def _copy(replacement: Replacement, scalar: OpResult, readers: list[TorchOp]) -> None:
    fields: Any = scalar._type.data  # type: ignore[union-attr]
    device = readers[0].results[0]._type.device  # type: ignore[union-attr]
    above: Any = scalar.op.next_op
    made = replacement.editor.call(
        _PUT,
        [scalar, device, True],
        above=above,
        types=[TensorType(fields._replace(device=device))],
        placed=False,
    )
    applied(scalar.op, made.results[0])
    for op in readers:
        for index, operand in enumerate(op._operands):
            if operand is scalar:
                op.operands[index] = made.results[0]


__all__ = ["copy"]
