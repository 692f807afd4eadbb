"""`group_linear`: products of matrices of different shapes become one call of fbgemm."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph

from xductor.ir import ops
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group, GroupFusion
from xductor.transforms.groups.stacking import ATEN
from xductor.transforms.passes.numerics import REASSOCIATES

_ADDMM = "aten.addmm.default"


def has_fbgemm() -> bool:
    """Whether fbgemm's operator for many products in one call is installed."""
    return hasattr(torch.ops.fbgemm, "gmm")


@dataclass(frozen=True)
class GroupLinear(GroupFusion):
    """mm, or addmm without factors, of even sizes, where fbgemm is installed.

    - `max_fuse_tensor_size_group_linear`: the largest size of an operand.
    """

    name = "group_linear"
    stage = "post_grad"
    inductor = "group_batch_fusion.py:GroupLinearFusion"
    numerics = REASSOCIATES
    counter = "group_linear"
    roots = frozenset(("aten.mm.default", _ADDMM))
    stacking = ATEN

    max_fuse_tensor_size_group_linear: int = 4096

    def may_fire(self, graph: Graph) -> bool:
        return has_fbgemm() and super().may_fire(graph)

    def form(self, op: Any, forms: Forms) -> Hashable | None:
        if op.name == _ADDMM and not (op.alpha == 1 and op.beta == 1):
            return None
        if not has_fbgemm() or None in [forms.tensor(operand) for operand in op._operands]:
            return None
        mats = [operand.type for operand in op._operands[-2:]]
        sizes = [size for one in mats for size in one.shape]
        limit = self.max_fuse_tensor_size_group_linear
        if not all(type(size) is int and size % 2 == 0 and size <= limit for size in sizes):
            return None
        return mats[0].dtype, mats[0].device

    def fused(self, group: Group) -> list[Any]:
        *bias, mat1, mat2 = (group.operands(place) for place in range(len(group.ops[0]._operands)))
        added = bias[0] if bias else None
        return list(ops.fbgemm.gmm.default(mat1, mat2, added, smart_fused=True))


__all__ = ["GroupLinear", "has_fbgemm"]
