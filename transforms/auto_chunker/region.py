"""Finds the ops that are computed in chunks: all that would keep the large value alive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import OutputOp, SchemaOp, TensorType, TorchOp
from xductor.transforms.analysis.dependence import users_of
from xductor.transforms.auto_chunker.amplifier import numel
from xductor.transforms.auto_chunker.axes import Axes
from xductor.transforms.auto_chunker.correspondences import has_rule
from xductor.transforms.auto_chunker.refusal import CannotChunk

FULL = "aten.full.default"


def is_constant(value: SSAValue) -> bool:
    """Whether a value is a `full`, which every chunk makes itself."""
    return isinstance(value, OpResult) and value.op.name == FULL and not value.op._operands


def is_broadcast(value: SSAValue) -> bool:
    """Whether several elements of a tensor share one place in memory."""
    type_: Any = value.type
    return any(
        size != 1 and step == 0 for size, step in zip(type_.shape, type_.stride, strict=True)
    )


def _expands(op: Any) -> bool:
    """Whether an op makes a large value from a small one without using memory; chunks repeat it."""
    return isinstance(op, SchemaOp) and op.name == "aten.expand.default"


class Reach:
    """The ops that lead to large values, and those that come from large values or tangents.

    All users of `followed` ops belong to the chunks, and so do the producers in `comes`. A value is
    large if it has the rows of the amplifier's result and as many elements, or also its columns
    and more than half as many. Broadcast values are not stored as a whole, and are not large.
    """

    def __init__(
        self, ops: Sequence[TorchOp], amplifier: SchemaOp, tangents: Sequence[SSAValue]
    ) -> None:
        self._axes = Axes(ops)
        self._rows, self._columns = (amplifier.results[0], 0), (amplifier.results[0], 1)
        self._count = numel(amplifier.results[0].type) or 0
        self.leads: set[TorchOp] = set()
        self.comes: set[Any] = set()
        large = [op for op in ops if any(map(self.is_large, op.results))]
        self.leads.update(large)
        self.comes.update(large)
        gradients = set(tangents)
        for op in reversed(ops):
            if any(user in self.leads for user in users_of(op)):
                self.leads.add(op)
        depends: set[Any] = {amplifier}
        for op in ops:
            if any(value in gradients or value.owner in self.comes for value in op._operands):
                self.comes.add(op)
            if any(value.owner in depends for value in op._operands):
                depends.add(op)
        # Values that are neither large nor made from the product may stay for others.
        self.followed = (self.leads & depends) | set(large)

    def is_large(self, value: SSAValue) -> bool:
        """Whether a value has the amplifier's rows and about the size of its result."""
        count = numel(value.type)
        if count is None or not self._count < 2 * count <= 2 * self._count:
            return False
        if is_broadcast(value) or not self._axes.on(value, self._rows):
            return False
        return count == self._count or bool(self._axes.on(value, self._columns))


def grow(
    ops: Sequence[TorchOp], amplifier: SchemaOp, tangents: Sequence[SSAValue]
) -> list[TorchOp]:
    """The ops that are computed in chunks, in order.

    These are all users of large values and of values between the amplifier and a large one; the
    producers of their operands that come from a large value or a tangent; and the ops that only
    expand a value for them. Raises CannotChunk if one of them is the output, or has no rule.
    """
    reach = Reach(ops, amplifier, tangents)
    region: set[TorchOp] = set()
    pending: list[TorchOp] = [amplifier]
    while pending:
        op = pending.pop()
        if op in region:
            continue
        _check(op)
        region.add(op)
        if op in reach.followed:
            pending.extend(users_of(op))
        for value in op._operands:
            owner: Any = value.owner
            if (owner in reach.comes and not is_constant(value)) or _expands(owner):
                pending.append(owner)
    return [op for op in ops if op in region]


def _check(op: TorchOp) -> None:
    if isinstance(op, OutputOp):
        raise CannotChunk("what is to be cut into chunks is returned whole")
    if not has_rule(op):
        raise CannotChunk.at(op, "there is no rule for cutting this op into chunks")
    for value in (*op._operands, *op.results):
        type_: Any = value.type
        if numel(type_) is None:
            raise CannotChunk.at(op, f"{type_} has no sizes that are known")
        assert type(type_) is TensorType
        if type_.data.layout != "strided" or type_.data.subclass:
            raise CannotChunk.at(op, f"{type_} is no plain tensor")


__all__ = ["FULL", "grow", "is_constant"]
