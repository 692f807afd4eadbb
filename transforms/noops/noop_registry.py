"""Rules for calls that return one of their arguments unchanged, one rule per operator.

A rule says which argument the result equals, and when. The pass that uses the rules checks that the
result has the same type as that argument, and that no alias changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Node
from xdsl.ir import SSAValue

from xductor.ir import Facts, SchemaOp, TensorType
from xductor.transforms.analysis.graphs import integer

#: Takes the op, and the type of the argument that its result may equal.
Condition = Callable[[SchemaOp, TensorType, Facts], bool]


@dataclass(frozen=True)
class NoopRule:
    """When a call of one operator does nothing.

    - `source`: the name of the argument that the result equals.
    - `holds`: the condition on the other arguments.
    - `kept_for_spmd`: whether the call stays if all ranks must have the same graph.
    - `may_hold`: whether the condition may hold, by an FX node of such a call and the value of its
      source.
    """

    source: str
    holds: Condition
    kept_for_spmd: bool = False
    may_hold: Callable[[Node, torch.Tensor], bool] = lambda node, source: True

    def may_apply(self, node: Node, place: int) -> bool:
        """Whether the call of an FX node may do nothing; the source is its argument at `place`."""
        given: Any = node.args[place] if place < len(node.args) else node.kwargs.get(self.source)
        if isinstance(given, list | tuple):
            if len(given) != 1:
                return False
            (given,) = given
        source = given.meta.get("val") if isinstance(given, Node) else None
        result = node.meta.get("val")
        if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
            return True
        return _may_be_alike(source, result) and self.may_hold(node, source)

    def source_of(self, op: SchemaOp) -> SSAValue | None:
        """The value that the result equals; None if the argument is not a single value."""
        found: Any = op.argument(self.source)
        if isinstance(found, tuple) and len(found) == 1:
            found = found[0]
        return found if isinstance(found, SSAValue) else None


def _may_be_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether tensors have one dtype, and may have the same sizes and strides."""
    if one.dtype is not other.dtype:
        return False
    if type(one) is type(other) is FakeTensor and not (
        one._has_symbolic_sizes_strides or other._has_symbolic_sizes_strides
    ):
        return one.shape == other.shape and one.stride() == other.stride()
    return one.dim() == other.dim()


def _may_be_one(node: Node, source: torch.Tensor) -> bool:
    exponent = node.args[1] if len(node.args) > 1 else None
    return (
        exponent is None or isinstance(exponent, Node) or (type(exponent) is int and exponent == 1)
    )


def _is_of_integers(node: Node, source: torch.Tensor) -> bool:
    return source.dtype in _INTEGERS


_END = 2**63 - 1


def sizes_agree(sizes: Any, source: TensorType, facts: Facts) -> bool:
    """Whether a list of sizes, of which one may be -1, denotes the shape of a tensor."""
    if not isinstance(sizes, tuple) or len(sizes) != source.rank:
        return False
    inferred = 0
    for given, size in zip(sizes, source.shape, strict=True):
        dim = integer(given)
        if dim == -1:
            inferred += 1
        elif dim is None or facts.known_equal(dim, size) is not True:
            return False
    return inferred <= 1


def _always(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    return True


def _covers_dim(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    """Whether a slice or slice_scatter covers the whole dim in steps of one."""
    start, end, step = (op.argument(name) for name in ("start", "end", "step"))
    first = 0 if start is None else integer(start)
    if first is None or facts.known_equal(first, 0) is not True:
        return False
    if integer(step) != 1:
        return False
    last = _END if end is None else integer(end)
    if last is None:
        return False
    if isinstance(last, int) and last >= _END:
        return True
    dim = op.argument("dim")
    if type(dim) is not int or not -source.rank <= dim < source.rank:
        return False
    return facts.known_le(source.shape[dim], last) is True


def _all(name: str, number: int) -> Condition:
    """The condition that all entries of a list argument equal `number`."""

    def holds(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
        entries = op.argument(name)
        return isinstance(entries, tuple) and all(_is(entry, number, facts) for entry in entries)

    return holds


def _is(entry: Any, number: int, facts: Facts) -> bool:
    found = integer(entry)
    return found is not None and facts.known_equal(found, number) is True


def _same_dtype(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    return op.argument("dtype") is source.dtype


def _same_device(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    """Whether the device does not change; one without an index is the current device."""
    device = op.argument("device")
    result = op.results[0]._type
    return (
        isinstance(device, torch.device)
        and type(result) is TensorType
        and result.device == source.device
        and device.type == source.device.type
        and device.index in (None, source.device.index)
    )


_UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
_INTEGERS = frozenset((*_UNSIGNED, torch.int8, torch.int16, torch.int32, torch.int64))


def _of_integers(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    return source.dtype in _INTEGERS


def _power_of_one(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    exponent = op.argument("exponent")
    return isinstance(exponent, int) and exponent == 1


def _of_one(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    tensors = op.argument("tensors")
    return isinstance(tensors, tuple) and len(tensors) == 1


def _same_sizes(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    return sizes_agree(op.argument("size"), source, facts)


def _to_pageable_memory(op: SchemaOp, source: TensorType, facts: Facts) -> bool:
    """Whether a copy goes to unpinned memory; one to pinned memory is made for that memory."""
    destination = op.argument("self")
    owner = destination.owner if isinstance(destination, SSAValue) else None
    if not isinstance(owner, SchemaOp) or "pin_memory" not in owner.table.index:
        return True
    return owner.argument("pin_memory") is not True


#: Inductor's registry, by overload. Overloads that write to `out` have no rule.
NOOP_RULES: Mapping[str, NoopRule] = {
    "aten.slice.Tensor": NoopRule("self", _covers_dim, kept_for_spmd=True),
    "aten.slice_scatter.default": NoopRule("src", _covers_dim),
    "aten.repeat.default": NoopRule("self", _all("repeats", 1)),
    "aten.constant_pad_nd.default": NoopRule("self", _all("pad", 0), kept_for_spmd=True),
    "prims.convert_element_type.default": NoopRule("a", _same_dtype),
    "prims.device_put.default": NoopRule("a", _same_device),
    "aten.ceil.default": NoopRule("self", _of_integers, may_hold=_is_of_integers),
    "aten.floor.default": NoopRule("self", _of_integers, may_hold=_is_of_integers),
    "aten.round.default": NoopRule("self", _of_integers, may_hold=_is_of_integers),
    "aten.trunc.default": NoopRule("self", _of_integers, may_hold=_is_of_integers),
    "aten.pow.Tensor_Scalar": NoopRule("self", _power_of_one, may_hold=_may_be_one),
    "aten.cat.default": NoopRule("tensors", _of_one),
    "aten.view.default": NoopRule("self", _same_sizes),
    "aten.view.dtype": NoopRule("self", _same_dtype),
    "aten.copy.default": NoopRule("src", _to_pageable_memory),
    "aten.alias.default": NoopRule("self", _always),
    "aten.clone.default": NoopRule("self", _always),
}
