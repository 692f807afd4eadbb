"""`batch_linear`: before autograd, linears of one shape become one batched product."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from xductor.ir import aten
from xductor.ir.functions.torch_calls import AtenCall
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group
from xductor.transforms.groups.torch_level import TorchGroup, TorchLevelFusion
from xductor.transforms.passes.numerics import REASSOCIATES

LINEAR = frozenset(("aten.linear.default",))


@dataclass(frozen=True)
class BatchLinear(TorchLevelFusion):
    """F.linear of matrices of one shape; the inputs are all pieces of one tensor, or none is."""

    name = "batch_linear"
    inductor = "group_batch_fusion.py:PreGradBatchLinearFusion"
    numerics = REASSOCIATES
    counter = "batch_linear"
    operators = LINEAR
    roots = spelled(LINEAR)

    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        found = linear_form(call, forms)
        if found is None:
            return None
        users = forms.users(call.results[0]) if self.fuse_nodes_with_same_users else None
        return found, forms.tensor(call.items[1]), forms.cut_from(call.items[0]), users

    def fused(self, group: Group) -> list[Any]:
        assert isinstance(group, TorchGroup)
        inputs, weights = group.stacked(0), aten.transpose(group.stacked(1), 1, 2)
        if group.calls[0].items[2] is None:
            return group.rows(aten.bmm(inputs, weights))
        # Expanded here, since baddbmm does not expand to symbolic sizes.
        sizes = [*inputs.shape[:2], weights.shape[2]]
        biases = aten.expand(aten.unsqueeze(group.stacked(2), 1), sizes)
        return group.rows(aten.baddbmm(biases, inputs, weights))


def linear_form(call: AtenCall, forms: Forms) -> Hashable | None:
    """The input of a linear of matrices, and the kinds of its weight and bias, leaving the number
    of outputs open; None for any other linear.
    """
    x, weight, bias = call.items
    kinds: list[Any] = [forms.tensor(one) for one in (x, weight)]
    if None in kinds or x.type.rank != 2 or weight.type.rank != 2:
        return None
    added: Any = None
    if bias is not None:
        added = forms.tensor(bias)
        if added is None or not forms.has_sizes(bias, weight.type.shape[:1]):
            return None
    dtype, device, shape, grad = kinds[1]
    return kinds[0], (dtype, device, shape[1], grad), added and (*added[:2], added[3])


__all__ = ["LINEAR", "BatchLinear", "linear_form"]
