"""What of the graph is computed chunk by chunk: all that keeps the large value from going away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import OutputOp, SchemaOp, TensorType, TorchOp
from xductor.transforms.auto_chunker.amplifier import numel, users_of
from xductor.transforms.auto_chunker.axes import Axes
from xductor.transforms.auto_chunker.correspondences import has_rule
from xductor.transforms.auto_chunker.refusal import CannotChunk

FULL = "aten.full.default"


def is_constant(value: SSAValue) -> bool:
    """Whether a value is a `full`, which every chunk makes for itself."""
    return isinstance(value, OpResult) and value.op.name == FULL and not value.op._operands


def is_broadcast(value: SSAValue) -> bool:
    """Whether elements of a tensor are one in memory."""
    type_: Any = value.type
    return any(
        size != 1 and step == 0 for size, step in zip(type_.shape, type_.stride, strict=True)
    )


def _expands(op: Any) -> bool:
    """Whether an op makes a large value of a small one without any memory: chunks do it anew."""
    return isinstance(op, SchemaOp) and op.name == "aten.expand.default"


class Reach:
    """Which ops lead to large values, and which come from large values or from tangents.

    All users of `followed` ops belong to the chunks, and the producers among `comes`.

    Large is what has the rows of the amplifier's result and as many elements, or its columns too
    and more than half as many. What is broadcast is not there as a whole, and is not large.
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
        # What is not large, and not made of the product, may stay for others.
        self.followed = (self.leads & depends) | set(large)

    def is_large(self, value: SSAValue) -> bool:
        """Whether a value is about as large as what the amplifier makes, and made of its rows."""
        count = numel(value.type)
        if count is None or not self._count < 2 * count <= 2 * self._count:
            return False
        if is_broadcast(value) or not self._axes.on(value, self._rows):
            return False
        return count == self._count or bool(self._axes.on(value, self._columns))


def grow(
    ops: Sequence[TorchOp], amplifier: SchemaOp, tangents: Sequence[SSAValue]
) -> list[TorchOp]:
    """The ops that are computed chunk by chunk, in order.

    All users of a large value, and of one that leads from the amplifier to a large one; all
    operands that come from a large one or from a tangent; and what is only expanded for them.

    Raises:
        CannotChunk: one of them is the output, or has no rule.
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
