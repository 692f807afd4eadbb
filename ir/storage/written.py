"""The operands that a call writes, by its constant arguments as well as by its callable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir.dialect.operations import RawOp, SchemaOp, TorchOp
from xductor.ir.dialect.types import TensorType
from xductor.ir.effects.target_effects import call_effects


def written_operands(op: TorchOp) -> Iterator[SSAValue]:
    """The tensors among an op's operands that this call writes.

    If the arguments of a call cannot be bound to parameters, it counts as writing all of them if
    its callable writes at all. So does a call about which nothing is known.
    """
    effects = op.effects
    if effects.unknown:
        yield from _tensors(op.operands)
        return
    if not effects.writes:
        return
    arguments = _arguments(op)
    if arguments is None:
        yield from _tensors(op.operands)
        return
    writes = call_effects(op.target, arguments).writes
    for name, value in arguments.items():
        if name in writes or "*" in writes:
            yield from _tensors(value)


def _arguments(op: TorchOp) -> Mapping[str, Any] | None:
    if isinstance(op, SchemaOp):
        data = op.args.data
        return {
            param.name: op.argument_tree(data[position])
            for position, param in enumerate(op.table.params)
        }
    return op.bound_arguments() if isinstance(op, RawOp) else None


def _tensors(value: Any) -> Iterator[SSAValue]:
    if isinstance(value, SSAValue):
        if isinstance(value.type, TensorType):
            yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)


__all__ = ["written_operands"]
