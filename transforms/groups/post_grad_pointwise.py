"""`batch_aten_tanh` and its kin: pointwise ops of one shape become one op."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from xductor.ir import aten
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group, GroupFusion
from xductor.transforms.groups.stacking import ATEN
from xductor.transforms.passes.numerics import EXACT, REASSOCIATES

_SELECT = "aten.select.int"


@dataclass(frozen=True)
class BatchedPointwise(GroupFusion):
    """A pointwise op of tensors of equal sizes with the same constants."""

    stage = "post_grad"
    numerics = EXACT
    stacking = ATEN
    function: ClassVar[Any]

    def form(self, op: Any, forms: Forms) -> Hashable | None:
        tensors = [forms.tensor(operand) for operand in op._operands]
        if None in tensors or not forms.is_contiguous(op.results[0]):
            return None
        if len({(device, shape) for _, device, shape, _ in tensors}) > 1:  # type: ignore[misc]
            return None
        parent = self.parent(op, forms) if self.fuse_nodes_with_same_parent else None
        return op.args, tuple(tensors), parent

    def parent(self, op: Any, forms: Forms) -> Hashable:
        """What the operands of a group are pieces of, if the user asks for that."""
        return forms.parent(op._operands[0])

    def fused(self, group: Group) -> list[Any]:
        first: Any = group.ops[0]
        count = len(first._operands)
        names = [argument.name for argument in first.target._schema.arguments]
        constants = dict(zip(names[count:], first.args.data[count:], strict=True))
        stacked = [group.stacked(place) for place in range(count)]
        return group.rows(type(self).function(*stacked, **constants))


@dataclass(frozen=True)
class BatchedArithmetic(BatchedPointwise):
    """A pointwise op of two tensors; if the user asks for it, all are pieces of one tensor.

    16-bit ops with a factor are left alone: whether the product with it is rounded depends on the
    position of an element in the tensor.
    """

    def form(self, op: Any, forms: Forms) -> Hashable | None:
        if len(op._operands) != 2:
            return None
        dtype = op.results[0].type.dtype
        narrow = dtype.is_floating_point and dtype.itemsize < 4
        if narrow and op.args.data[2:] not in ((), (1,)):
            return None
        return super().form(op, forms)

    def parent(self, op: Any, forms: Forms) -> Hashable:
        for operand in op._operands:
            if getattr(operand.owner, "name", "") == _SELECT:
                return operand.owner._operands[0]
        return None


@dataclass(frozen=True)
class BatchAtenTanh(BatchedPointwise):
    """tanh of tensors of one shape as one.

    The last bits may differ: where an element lies decides whether eager uses vector code for it.
    """

    name = "batch_aten_tanh"
    inductor = "group_batch_fusion.py:BatchTanhPostGradFusion"
    counter = "batch_aten_tanh"
    roots = frozenset(("aten.tanh.default",))
    numerics = REASSOCIATES
    function = aten.tanh


@dataclass(frozen=True)
class BatchAtenSigmoid(BatchedPointwise):
    """sigmoid of tensors of one shape as one; the last bits may differ, as with `BatchAtenTanh`."""

    name = "batch_aten_sigmoid"
    inductor = "group_batch_fusion.py:BatchSigmoidPostGradFusion"
    counter = "batch_aten_sigmoid"
    roots = frozenset(("aten.sigmoid.default",))
    numerics = REASSOCIATES
    function = aten.sigmoid


@dataclass(frozen=True)
class BatchAtenRelu(BatchedPointwise):
    """relu of tensors of one shape as one."""

    name = "batch_aten_relu"
    inductor = "group_batch_fusion.py:BatchReLuPostGradFusion"
    counter = "batch_aten_relu"
    roots = frozenset(("aten.relu.default",))
    function = aten.relu


@dataclass(frozen=True)
class BatchAtenAdd(BatchedArithmetic):
    """Sums of tensors of one shape as one, with their factor."""

    name = "batch_aten_add"
    inductor = "group_batch_fusion.py:BatchAddPostGradFusion"
    counter = "batch_aten_add"
    roots = frozenset(("aten.add.Tensor",))
    function = aten.add.Tensor


@dataclass(frozen=True)
class BatchAtenSub(BatchedArithmetic):
    """Differences of tensors of one shape as one, with their factor."""

    name = "batch_aten_sub"
    inductor = "group_batch_fusion.py:BatchSubPostGradFusion"
    counter = "batch_aten_sub"
    roots = frozenset(("aten.sub.Tensor",))
    function = aten.sub.Tensor


@dataclass(frozen=True)
class BatchAtenDiv(BatchedArithmetic):
    """Quotients of tensors of one shape as one."""

    name = "batch_aten_div"
    inductor = "group_batch_fusion.py:BatchDivPostGradFusion"
    counter = "batch_aten_div"
    roots = frozenset(("aten.div.Tensor",))
    function = aten.div.Tensor


@dataclass(frozen=True)
class BatchAtenMul(BatchedArithmetic):
    """Products of tensors of one shape as one."""

    name = "batch_aten_mul"
    inductor = "group_batch_fusion.py:BatchMulPostGradFusion"
    counter = "batch_aten_mul"
    roots = frozenset(("aten.mul.Tensor",))
    function = aten.mul.Tensor


__all__ = [
    "BatchAtenAdd",
    "BatchAtenDiv",
    "BatchAtenMul",
    "BatchAtenRelu",
    "BatchAtenSigmoid",
    "BatchAtenSub",
    "BatchAtenTanh",
    "BatchedArithmetic",
    "BatchedPointwise",
]
