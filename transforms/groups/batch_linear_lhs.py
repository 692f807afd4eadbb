"""`batch_linear_lhs`: before autograd, linears of one input become one wider linear."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import aten
from xductor.ir.functions.torch_calls import AtenCall
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.groups.batch_linear import LINEAR, linear_form
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group
from xductor.transforms.groups.torch_level import TorchGroup, TorchLevelFusion
from xductor.transforms.passes.numerics import REASSOCIATES


@dataclass(frozen=True)
class BatchLinearLhs(TorchLevelFusion):
    """F.linear of one matrix by several weights; the results may have different widths.

    Each result becomes a part of each row of one tensor, and is copied where its layout is seen.
    """

    name = "batch_linear_lhs"
    inductor = "group_batch_fusion.py:BatchLinearLHSFusion"
    numerics = REASSOCIATES
    counter = "batch_linear_lhs"
    operators = LINEAR
    roots = spelled(LINEAR)

    def result_form(self, result: SSAValue, forms: Forms) -> Hashable | None:
        found: Any = forms.tensor(result)
        return None if found is None else (found[0], found[1], found[3])

    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        found = linear_form(call, forms)
        return None if found is None else (call.items[0], found)

    def fused(self, group: Group) -> list[Any]:
        assert isinstance(group, TorchGroup)
        weights = group.operands(1)
        biases = None if group.calls[0].items[2] is None else aten.cat(group.operands(2))
        made = aten.linear(group.operands(0)[0], aten.cat(weights), biases)
        return list(aten.split_with_sizes(made, [one.shape[0] for one in weights], 1))


__all__ = ["BatchLinearLhs"]
