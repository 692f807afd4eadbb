"""Makes fake values of new calls from their types: what running a call would give, but cheaper."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, in_kernel_invocation_manager

from xductor.backend.fx.call_arguments import ValueNodes
from xductor.ir import SchemaOp, TensorType, TorchOp, result_aliases
from xductor.ir.dialect.types import TensorFields
from xductor.ir.inference.value_types import TypeReader

#: Stands for a value that its type does not determine.
MISSING = object()


def value_of_type(op: TorchOp, nodes: ValueNodes, reader: TypeReader) -> Any:
    """A FakeTensor of the type of an op's result, in the storage that its alias facts say.

    It lives in the fake mode of the graph's values. `MISSING` if the call must be run: for anything
    but a single strided tensor, for a storage that may or may not be shared, for sizes that the
    call finds or that no value of the graph has, and for operands known as constants, since results
    may be constants too.
    """
    if not isinstance(op, SchemaOp) or op.structure is not None or len(op.results) != 1:
        return MISSING
    if torch.Tag.dynamic_output_shape in op.target.tags:
        return MISSING
    type_ = op.results[0].type
    if op.effects.writes or op.effects.unknown or not isinstance(type_, TensorType):
        return MISSING
    fields = type_.data
    if fields.layout != "strided" or fields.subclass or fields.flags:
        return MISSING
    operands = [nodes.node(operand).meta.get("val") for operand in op.operands]
    if any(getattr(value, "constant", None) is not None for value in operands):
        return MISSING
    numbers = [_live(dim, reader) for dim in (fields.offset, *fields.shape, *fields.stride)]
    if any(number is MISSING for number in numbers):
        return MISSING
    fact = result_aliases(op)[0]
    base = None if fact is None else operands[fact[0]]
    if fact is None:
        if fields.offset != 0:
            return MISSING
    elif not fact[1] or type(base) is not FakeTensor or base.fake_mode is not reader.fake_mode:
        return MISSING
    return _made(fields, numbers, base, reader.fake_mode)


def _live(dim: Any, reader: TypeReader) -> Any:
    """The number that a size of a type stands for in the graph's own ShapeEnv."""
    return dim if type(dim) is int else reader.live_numbers.get(dim, MISSING)


def _made(fields: TensorFields, numbers: list[Any], base: Any, mode: Any) -> FakeTensor:
    rank = len(fields.shape)
    offset, shape, stride = numbers[0], numbers[1 : rank + 1], numbers[rank + 1 :]
    with in_kernel_invocation_manager(mode), torch.no_grad():
        elem = torch.empty_strided(
            (0,) if base is not None else shape,
            (1,) if base is not None else stride,
            dtype=fields.dtype,
            device="meta",
        )
        if base is not None:
            elem.set_(base.untyped_storage(), offset, shape, stride)
    return FakeTensor(mode, elem, fields.device)


__all__ = ["MISSING", "value_of_type"]
