"""Makes fake values of new calls from their types: what running a call would give, but cheaper."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor

from xductor.backend.fx.call_arguments import ValueNodes
from xductor.ir import SchemaOp, TensorType, TorchOp, result_aliases
from xductor.ir.dialect.types import TensorFields
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.inference.fake_values import computed, device_exists, leaf_with_grad
from xductor.ir.inference.value_types import TypeReader
from xductor.transforms.analysis.op_effects import effects_of

#: Stands for a value that its type does not determine.
MISSING = object()


def value_of_type(op: TorchOp, nodes: ValueNodes, reader: TypeReader, key: str = "val") -> Any:
    """A FakeTensor of the type of an op's result, in the storage that its alias facts say; a tuple
    of them for a call before autograd that cuts a tensor into pieces.

    It lives in the fake mode of the graph's values, which nodes record under `key`. `MISSING` if
    the call must be run: for other values than strided tensors, for a storage that may or may
    not be shared, for sizes that the call finds or that no input tells, and for operands known as
    constants, since results may be constants too.
    """
    is_tuple = op.tuple_valued or len(op.results) != 1
    if is_tuple and (key == "val" or aten_name(op) not in _CUTS):
        return MISSING
    if isinstance(op, SchemaOp):
        if torch.Tag.dynamic_output_shape in op.target.tags:
            return MISSING
    elif key == "val" or isinstance(op.target, HigherOrderOperator):
        return MISSING
    effects = op.effects if key == "val" else effects_of(op)
    if effects.unknown:
        return MISSING
    if effects.writes:
        return _written(op, nodes, reader) if isinstance(op, SchemaOp) and key == "val" else MISSING
    operands = [nodes.node(operand).meta.get(key) for operand in op.operands]
    if any(getattr(value, "constant", None) is not None for value in operands):
        return MISSING
    made: list[Any] = []
    for place in range(len(op.results)):
        made.append(_result(op, place, operands, nodes, reader))
        if made[-1] is MISSING:
            return MISSING
    return tuple(made) if is_tuple else made[0]


#: What gives a tuple of views, however it is spelled before autograd.
_CUTS = frozenset(
    ("aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default",
     "aten.unbind.int")
)  # fmt: skip


def _result(
    op: TorchOp, place: int, operands: list[Any], nodes: ValueNodes, reader: TypeReader
) -> Any:
    """The value of one result; `MISSING` if its type and alias fact do not determine it."""
    type_ = op.results[place].type
    if not isinstance(type_, TensorType):
        return MISSING
    fields = type_.data
    if fields.layout != "strided" or fields.subclass or not _can_have(fields):
        return MISSING
    dims = (fields.offset, *fields.shape, *fields.stride)
    numbers = [_live(dim, op, nodes, reader) for dim in dims]
    if any(number is MISSING for number in numbers):
        return MISSING
    fact = result_aliases(op)[place]
    base = None if fact is None else operands[fact[0]]
    if fact is None:
        if fields.offset != 0:
            return MISSING
    elif not fact[1] or type(base) is not FakeTensor or base.fake_mode is not reader.fake_mode:
        return MISSING
    made = _made(fields, numbers, base, reader.fake_mode)
    return _with_grad(made, reader) if "requires_grad" in fields.flags else made


def _can_have(fields: TensorFields) -> bool:
    """Whether a tensor can be given the flags of a type: those that a result may have of itself."""
    return fields.flags == () or (
        fields.flags == ("requires_grad",) and device_exists(fields.device)
    )


def values_of_loop(op: TorchOp, nodes: ValueNodes, reader: TypeReader) -> Any:
    """The values of a loop, each in a storage of its own; `MISSING` if a type does not say one."""
    found: list[Any] = []
    for result in op.results:
        type_ = result.type
        if not isinstance(type_, TensorType) or type_.data.layout != "strided":
            return MISSING
        fields = type_.data
        dims = (fields.offset, *fields.shape, *fields.stride)
        numbers = [_live(dim, op, nodes, reader) for dim in dims]
        if fields.subclass or fields.flags or any(number is MISSING for number in numbers):
            return MISSING
        found.append(_made(fields, numbers, None, reader.fake_mode))
    return tuple(found)


def _written(op: SchemaOp, nodes: ValueNodes, reader: TypeReader) -> Any:
    """What an op in place gives: the tensor that it writes to, which keeps sizes and strides."""
    fact = result_aliases(op)[0]
    if fact is None or not fact[1] or torch.Tag.inplace_view in op.target.tags:
        return MISSING
    operand = op.operands[fact[0]]
    value = nodes.node(operand).meta.get("val")
    if operand.type != op.results[0].type or type(value) is not FakeTensor:
        return MISSING
    if value.fake_mode is not reader.fake_mode or value.constant is not None:
        return MISSING
    return value


def _live(dim: Any, op: TorchOp, nodes: ValueNodes, reader: TypeReader) -> Any:
    """The number that a size of a type stands for in the graph's own ShapeEnv.

    Made, where no value has it, of symbols that the graph knows: to run a view for its offset may
    ask for a guard.
    """
    if type(dim) is int:
        return dim
    found = reader.live_numbers.get(dim)
    if found is None and nodes.source.live is not None and _is_known(dim, nodes):
        found = reader.live_numbers[dim] = nodes.symbolic_constant(op, dim)
    return MISSING if found is None else found


def _is_known(dim: Any, nodes: ValueNodes) -> bool:
    """Whether all symbols of an expression are those of inputs, which stand for a number each."""
    table = nodes.source.symbols.data
    return all(name in table and table[name].backed for name in dim.symbols)


def _made(fields: TensorFields, numbers: list[Any], base: Any, mode: Any) -> torch.Tensor:
    rank = len(fields.shape)
    offset, shape, stride = numbers[0], numbers[1 : rank + 1], numbers[rank + 1 :]
    dtype = fields.dtype
    with torch._C._DisableTorchDispatch(), torch._C._DisableAutocast():
        if base is None:
            elem = torch.empty_strided(shape, stride, dtype=dtype, device="meta")
        else:
            # To set sizes and strides asks whether they are contiguous, and adds the answer to the
            # guards; a view is asked nothing.
            whole = torch.empty_strided((0,), (1,), dtype=dtype, device="meta")
            with torch.no_grad():
                whole.set_(base.untyped_storage(), 0, (0,), (1,))
                elem = whole.as_strided(shape, stride, offset)
    return FakeTensor(mode, elem, fields.device)


def _with_grad(value: torch.Tensor, reader: TypeReader) -> torch.Tensor:
    """The value as one that was computed from another with a gradient; one serves them all."""
    source = reader.leaves.get(value.device)
    if source is None:
        source = reader.leaves[value.device] = leaf_with_grad(value.device, reader.fake_mode)
    return computed(value, reader.fake_mode, source)


__all__ = ["MISSING", "value_of_type", "values_of_loop"]
