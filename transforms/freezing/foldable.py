"""Which ops of a graph may be computed at compile time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from math import prod
from typing import Any

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GetAttrOp, SchemaOp, SymExpr, TensorType, TorchOp, result_aliases
from xductor.ir.dialect.arguments import leaves
from xductor.ir.inference.infer import aliases_above, storage_root
from xductor.ir.text.resources import constant
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.analysis.op_effects import effects_of

#: How many times more than its constants a large result may take.
GROWTH = 8

#: Ops that read their operands from memory, however these were made.
PRODUCTS = frozenset(
    f"aten.{name}.default" for name in ("convolution", "mm", "addmm", "bmm", "baddbmm")
)

_QUANTISED = "quantized_decomposed."
#: Ops that code generation fuses into products, so that weights stay small.
DEQUANTISATIONS = frozenset(
    f"{_QUANTISED}{name}"
    for name in (
        "dequantize_per_channel.default",
        "dequantize_per_tensor.default",
        "dequantize_per_tensor.tensor",
        "convert_element_type.no_fuse",
    )
)
_CAST, _PERMUTE = "prims.convert_element_type.default", "aten.permute.default"

#: Constructors that read nothing but the type of their operand.
_LIKE = frozenset(
    f"aten.{name}.default"
    for name in ("full_like", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like")
)
_NEVER = frozenset(("aten._efficientzerotensor.default", *DEQUANTISATIONS))


class Foldable:
    """The ops of one graph that may be computed at compile time.

    - `ops`: in order, constructors included.
    - `sources`: for each constant value, the reads of constants that it is computed from; none if
      constructors alone make it.

    - `only`: the names of the ops that count, if not all do.

    `budget` and `refused` are as in `ConstantFold`.
    """

    def __init__(
        self,
        analyses: Analyses,
        budget: int,
        refused: Collection[str],
        only: Collection[str] = (),
    ) -> None:
        self.analyses = analyses
        self.graph = analyses.graph
        self.budget = budget
        self.refused = frozenset((*_NEVER, *refused))
        self.only = frozenset(only)
        self.tensors: dict[SSAValue, torch.Tensor] = {}
        self.sources: dict[SSAValue, frozenset[TorchOp]] = {}
        self.ops: list[SchemaOp] = []
        self._read_constants()
        if self.tensors:
            self._find_ops()

    def _find_ops(self) -> None:
        self._escaping = set(self._returned())
        self._writes = self.analyses.find_writes()
        for op in self.analyses.ops:
            if isinstance(op, SchemaOp) and self._may_fold(op):
                self._add(op)

    def is_constructor(self, op: SchemaOp) -> bool:
        """Whether an op makes its values from no others."""
        return not op._operands or op.name in _LIKE

    def _read_constants(self) -> None:
        """Find the constants that nothing writes to, under whatever path."""
        reads = self.analyses.named((GetAttrOp.name,))
        held = [(op.results[0], constant(self.graph, op)) for op in reads]
        found = [(value, tensor) for value, tensor in held if tensor is not None]
        written: set[int] = set()
        if found and self.analyses.find_writes():
            written = {_memory_of(one) for value, one in found if self._is_written(value)}
        for value, tensor in found:
            if _memory_of(tensor) not in written:
                self.tensors[value] = tensor
                self.sources[value] = frozenset((value.owner,))

    def _returned(self) -> Iterator[SSAValue]:
        """The values that an output is, or may be a view of."""
        for value in self.graph.output.operands:
            yield from aliases_above(value)

    def _add(self, op: SchemaOp) -> None:
        sources: frozenset[TorchOp] = frozenset()
        if not self.is_constructor(op):
            sources = sources.union(*[self.sources[one] for one in op._operands])
        if self._is_too_large(op, sources):
            return
        self.ops.append(op)
        for result in op.results:
            self.sources[result] = sources

    def _may_fold(self, op: SchemaOp) -> bool:
        sources = self.sources
        for operand in op._operands:
            if operand not in sources:
                return False
        if op.name in self.refused or not effects_of(op).pure:
            return False
        if self.only and op.name not in self.only:
            return False
        if any(isinstance(leaf, SymExpr) for leaf in leaves(op.args.data)):
            return False
        read = [result for result in op.results if result.first_use is not None]
        if not read or not all(_is_plain(result) for result in read):
            return False
        if not self._escaping.isdisjoint(read) or self._is_small_weight(op):
            return False
        return not self._writes or not any(map(self._is_written, read))

    def _is_written(self, value: SSAValue) -> bool:
        return bool(self.analyses.memory.storage(storage_root(value)).writes)

    def _is_small_weight(self, op: SchemaOp) -> bool:
        """Whether an op widens an int8 weight, or views one that was widened."""
        if op.name == _CAST:
            return _widens_weight(op)
        if op.name != _PERMUTE or op._operands[0].owner.name != GetAttrOp.name:  # type: ignore[union-attr]
            return False
        users = [use.operation for use in op.results[0].uses]
        return len(users) == 1 and users[0].name == _CAST and _widens_weight(users[0])

    def _is_too_large(self, op: SchemaOp, sources: frozenset[TorchOp]) -> bool:
        most = GROWTH * sum(_size_of(one.results[0]) for one in sources)
        facts = result_aliases(op)
        return any(
            (fact is None or not fact[1]) and _size_of(result) > max(self.budget, most)
            for result, fact in zip(op.results, facts, strict=True)
            if result.first_use is not None
        )


def _widens_weight(cast: Any) -> bool:
    before, after = cast._operands[0].type, cast.results[0].type
    return before.dtype is torch.int8 and after.dtype is torch.bfloat16


def _memory_of(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _size_of(value: SSAValue) -> int:
    """How many bytes the elements of a tensor take."""
    type_: Any = value.type
    return prod(type_.shape) * type_.dtype.itemsize


def _is_plain(value: OpResult) -> bool:
    """Whether a value is a strided tensor with elements, and its sizes and strides are numbers."""
    type_ = value._type
    return type(type_) is TensorType and _is_plain_type(type_)


@cache
def _is_plain_type(type_: TensorType) -> bool:
    fields = type_.data
    dims = (*fields.shape, *fields.stride, fields.offset)
    return (
        fields.layout == "strided"
        and not fields.subclass
        and not fields.flags
        and fields.device.type != "meta"
        and all(type(dim) is int for dim in dims)
    )


__all__ = ["DEQUANTISATIONS", "GROWTH", "PRODUCTS", "Foldable"]
