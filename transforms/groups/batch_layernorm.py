"""`batch_layernorm`: before autograd, layer norms of one shape become one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from xductor.ir import aten
from xductor.ir.functions.torch_calls import AtenCall
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.editing.widening import narrowed, widened
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group
from xductor.transforms.groups.torch_level import TorchGroup, TorchLevelFusion, constants
from xductor.transforms.passes.numerics import REASSOCIATES


@dataclass(frozen=True)
class BatchLayernorm(TorchLevelFusion):
    """Layer norms over dims of equal sizes with one `eps`; each keeps its weight and bias.

    The library computes 16-bit norms in float32 and rounds once, and the replacement does the same.
    """

    name = "batch_layernorm"
    inductor = "group_batch_fusion.py:BatchLayernormFusion"
    numerics = REASSOCIATES
    counter = "batch_layernorm"
    operators = frozenset(("aten.layer_norm.default",))
    roots = spelled(operators)

    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        x, sizes, weight, bias, *others = call.items
        tensors = [forms.tensor(one) for one in (x, weight, bias) if one is not None]
        told = constants([*others, weight is None, bias is None])
        if None in tensors or told is None or not forms.is_contiguous(call.results[0]):
            return None
        users = forms.users(call.results[0]) if self.fuse_nodes_with_same_users else None
        return tuple(tensors), len(sizes), told, users

    def fused(self, group: Group) -> list[Any]:
        assert isinstance(group, TorchGroup)
        first = group.calls[0]
        x: Any = group.stacked(0)
        weights, biases = (
            None if first.items[place] is None else group.stacked(place) for place in (2, 3)
        )
        result: Any = first.results[0].type
        sizes = x.shape[x.ndim - len(first.items[1]) :]
        eps, enabled = first.items[4:]
        if weights is None and biases is None:
            return group.rows(aten.layer_norm(x, sizes, None, None, eps, enabled))
        made = aten.layer_norm(widened(x, aten.to), sizes, None, None, eps, enabled)
        if weights is not None:
            made = aten.mul(made, _beside(widened(weights, aten.to), x.ndim))
        if biases is not None:
            made = aten.add(made, _beside(widened(biases, aten.to), x.ndim))
        return group.rows(narrowed(made, result.dtype, aten.to))


def _beside(tensor: Any, rank: int) -> Any:
    """Reshape a tensor of one entry a row, [n, *sizes], to [n, 1, .., *sizes] of a given rank."""
    count, *sizes = tensor.shape
    return aten.reshape(tensor, [count, *[1] * (rank - tensor.ndim), *sizes])


__all__ = ["BatchLayernorm"]
