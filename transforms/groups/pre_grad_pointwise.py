"""`batch_tanh` and its kin: before autograd, pointwise calls of one shape become one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch.fx import Graph
from xdsl.ir import SSAValue

from xductor.ir import TensorType, aten, result_aliases
from xductor.ir.functions.torch_calls import AtenCall
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group
from xductor.transforms.groups.torch_level import TorchGroup, TorchLevelFusion, constants
from xductor.transforms.passes.numerics import EXACT, REASSOCIATES


@dataclass(frozen=True)
class PreGradPointwise(TorchLevelFusion):
    """A pointwise call of tensors of equal sizes with equal other arguments."""

    numerics = EXACT
    function: ClassVar[Any]

    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        first, *others = call.items
        tensor = forms.tensor(first)
        if tensor is None or not forms.is_contiguous(call.results[0]):
            return None
        told = _told(others, first, forms)
        return None if told is None else (tensor, told, self.around(call, forms))

    def around(self, call: AtenCall, forms: Forms) -> Hashable:
        """What surrounds the calls of a group."""
        return forms.parent(call.items[0]) if self.fuse_nodes_with_same_parent else None

    def fused(self, group: Group) -> list[Any]:
        assert isinstance(group, TorchGroup)
        others = [group.handle(item) for item in group.calls[0].items[1:]]
        return group.rows(type(self).function(group.stacked(0), *others))


@dataclass(frozen=True)
class ReadAlike(PreGradPointwise):
    """Calls whose results are read first by calls of one operator."""

    def around(self, call: AtenCall, forms: Forms) -> Hashable:
        return forms.first_user(call.results[0])


def _told(items: list[Any], first: SSAValue, forms: Forms) -> Hashable | None:
    """The arguments besides the first; None if a group could not share them."""
    values = [item for item in items if isinstance(item, SSAValue)]
    for value in values:
        if isinstance(value.type, TensorType) and not _lies_within(value, first, forms):
            return None
    plain = constants([None if isinstance(item, SSAValue) else item for item in items])
    return None if plain is None else (plain, tuple(values))


def _lies_within(value: SSAValue, first: SSAValue, forms: Forms) -> bool:
    """Whether a tensor broadcasts to another in the same way once that one has a leading dim."""
    one: Any = value.type
    other: Any = first.type
    if forms.tensor(value) is None or one.dtype != other.dtype or one.device != other.device:
        return False
    return one.rank <= other.rank


@dataclass(frozen=True)
class BatchTanh(PreGradPointwise):
    """tanh of tensors of one shape as one.

    The last bits may differ: where an element lies decides whether eager uses vector code for it.
    """

    name = "batch_tanh"
    inductor = "group_batch_fusion.py:BatchTanhPreGradFusion"
    counter = "batch_tanh"
    operators = frozenset(("aten.tanh.default",))
    roots = spelled(operators)
    numerics = REASSOCIATES
    function = aten.tanh


@dataclass(frozen=True)
class BatchSigmoid(PreGradPointwise):
    """sigmoid of tensors of one shape as one; the last bits may differ, as with `BatchTanh`."""

    name = "batch_sigmoid"
    inductor = "group_batch_fusion.py:BatchSigmoidPreGradFusion"
    counter = "batch_sigmoid"
    operators = frozenset(("aten.sigmoid.default",))
    roots = spelled(operators)
    numerics = REASSOCIATES
    function = aten.sigmoid


@dataclass(frozen=True)
class BatchRelu(PreGradPointwise):
    """relu of tensors of one shape as one; not the in-place form."""

    name = "batch_relu"
    inductor = "group_batch_fusion.py:BatchReLuPreGradFusion"
    counter = "batch_relu"
    operators = frozenset(("aten.relu.default",))
    roots = spelled(operators)
    function = aten.relu


@dataclass(frozen=True)
class BatchDetach(ReadAlike):
    """detach of tensors of one shape as one, where a copy cannot be told from a view."""

    name = "batch_detach"
    inductor = "group_batch_fusion.py:BatchDetachPreGradFusion"
    counter = "batch_detach"
    operators = frozenset(("aten.detach.default",))
    roots = spelled(operators)
    function = aten.detach

    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        result = call.results[0]
        if forms.is_seen(result) or forms.may_be_written_from_outside(result):
            return None
        return super().form_of(call, forms)


@dataclass(frozen=True)
class BatchNanToNum(ReadAlike):
    """nan_to_num of tensors of one shape as one, with the same numbers."""

    name = "batch_nan_to_num"
    inductor = "group_batch_fusion.py:BatchNanToNumPreGradFusion"
    counter = "batch_nan_to_num"
    operators = frozenset(("aten.nan_to_num.default",))
    roots = spelled(operators)
    function = aten.nan_to_num


@dataclass(frozen=True)
class BatchClamp(ReadAlike):
    """clamp of tensors of one shape as one, with the same bounds: numbers, or the same tensors."""

    name = "batch_clamp"
    inductor = "group_batch_fusion.py:BatchClampPreGradFusion"
    counter = "batch_clamp"
    operators = frozenset(("aten.clamp.default", "aten.clamp.Tensor"))
    roots = spelled(operators)
    function = aten.clamp


@dataclass(frozen=True)
class BatchDropout(ReadAlike):
    """Dropouts of tensors of one shape as one, which draws all numbers at once.

    Only for dropouts that draw, and where the random numbers need not be those of eager.

    - `fallback_random`, `align_random_eager`: whether they must be those of eager.
    """

    name = "batch_dropout"
    inductor = "group_batch_fusion.py:BatchDropoutPreGradFusion"
    counter = "batch_dropout"
    operators = frozenset(("aten.dropout.default",))
    roots = spelled(operators)
    function = aten.dropout
    permits = ("draws",)

    fallback_random: bool = False
    align_random_eager: bool = False

    def may_fire(self, graph: Graph) -> bool:
        return self._may_draw_anew() and super().may_fire(graph)

    def _may_draw_anew(self) -> bool:
        told = self.fallback_random or self.align_random_eager
        return not (told or torch.are_deterministic_algorithms_enabled())

    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        op = call.op
        if not self._may_draw_anew() or not effects_of(op).rng or any(result_aliases(op)):
            return None
        return super().form_of(call, forms)


__all__ = [
    "BatchClamp",
    "BatchDetach",
    "BatchDropout",
    "BatchNanToNum",
    "BatchRelu",
    "BatchSigmoid",
    "BatchTanh",
    "PreGradPointwise",
    "ReadAlike",
]
