"""`batch_linear_post_grad`: products of matrices of one shape become one batched product."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from xductor.ir import aten
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group, GroupFusion
from xductor.transforms.groups.stacking import ATEN
from xductor.transforms.passes.numerics import REASSOCIATES

_ADDMM = "aten.addmm.default"


@dataclass(frozen=True)
class BatchLinearPostGrad(GroupFusion):
    """mm becomes bmm; addmm without factors becomes bmm, and an add for each result.

    With 16-bit floats the bias is added within the product, which would otherwise round first.

    - `shape_broadcast_batch_linear`: the bias is expanded to the sizes of the product.
    """

    name = "batch_linear_post_grad"
    stage = "post_grad"
    inductor = "group_batch_fusion.py:PostGradBatchLinearFusion"
    numerics = REASSOCIATES
    counter = "batch_linear_post_grad"
    roots = frozenset(("aten.mm.default", _ADDMM))
    stacking = ATEN

    shape_broadcast_batch_linear: bool = False

    def form(self, op: Any, forms: Forms) -> Hashable | None:
        if op.name == _ADDMM and not (op.alpha == 1 and op.beta == 1):
            return None
        *bias, mat1, mat2 = op._operands
        tensors = [forms.tensor(operand) for operand in op._operands]
        if None in tensors:
            return None
        added = tuple(tensors) if bias and _is_narrow(op) else None
        users = forms.users(op.results[0]) if self.fuse_nodes_with_same_users else None
        return forms.tensor(mat1), forms.tensor(mat2), added, users

    def fused(self, group: Group) -> list[Any]:
        first = group.ops[0]
        has_bias = first.name == _ADDMM
        mat1, mat2 = (group.stacked(place + has_bias) for place in range(2))
        if has_bias and _is_narrow(first):
            bias = group.stacking.stack([_as_matrix(one) for one in group.operands(0)])
            return group.rows(aten.baddbmm(bias, mat1, mat2))
        products = group.rows(aten.bmm(mat1, mat2))
        if not has_bias:
            return products
        return [
            aten.add(self._broadcast(bias, product), product)
            for bias, product in zip(group.operands(0), products, strict=True)
        ]

    def _broadcast(self, bias: Any, product: Any) -> Any:
        if not self.shape_broadcast_batch_linear or bias.ndim == 2:
            return bias
        return aten.expand(bias, list(product.shape))


def _is_narrow(op: Any) -> bool:
    dtype = op.results[0].type.dtype
    return bool(dtype.is_floating_point and dtype.itemsize < 4)


def _as_matrix(bias: Any) -> Any:
    while bias.ndim < 2:
        bias = aten.unsqueeze(bias, 0)
    return bias


__all__ = ["BatchLinearPostGrad"]
