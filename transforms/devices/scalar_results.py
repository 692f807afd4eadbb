"""Copies scalars that are computed on the CPU, and have to be there, to the device that reads them.

CUDA graphs hold no CPU tensors. A forward graph that keeps such a scalar for the backward returns
it, and the backward graph expects it on the CPU: it cannot move, but its other readers can read a
copy. Graph partition cuts the graph at the copies.
"""

from __future__ import annotations

from typing import Any

import torch
from xdsl.ir import OpResult, Use

from xductor.ir import TensorType
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
            reads = _reads(result, target) if is_cpu_scalar(result) else []
            if not reads or replacement.analyses.memory.storage(result).writes:
                continue
            if should_apply(name):
                _copy(replacement, result, reads)
                count += 1
    return count


def _reads(scalar: OpResult, target: str) -> list[Use]:
    """Where ops of one device read a scalar; none if several devices do."""
    found = [use for use in scalar.uses if _reads_there(use.operation, target)]
    return found if len(set(map(_device, found))) == 1 else []


def _reads_there(op: Any, target: str) -> bool:
    type_ = op.results[0]._type if op.results else None
    if type(type_) is not TensorType or type_.device.type != target:
        return False
    return op.name != _PUT and not keeps_cpu_tensors(op) and takes_scalars(op, target)


def _device(use: Use) -> torch.device:
    return use.operation.results[0]._type.device  # type: ignore[union-attr]


def _copy(replacement: Replacement, scalar: OpResult, reads: list[Use]) -> None:
    fields: Any = scalar._type.data  # type: ignore[union-attr]
    device = _device(reads[0])
    above: Any = scalar.op.next_op
    made = replacement.editor.call(
        _PUT,
        [scalar, device, True],
        above=above,
        types=[TensorType(fields._replace(device=device))],
        placed=False,
    )
    applied(scalar.op, made.results[0])
    for use in reads:
        use.operation.operands[use.index] = made.results[0]


__all__ = ["copy"]
