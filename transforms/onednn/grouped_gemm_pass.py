"""`grouped_gemm_pass`: packed linears of one tensor become one call, which one kernel computes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from xductor.ir import Facts, ops
from xductor.transforms.freezing.raised_reads import raise_reads
from xductor.transforms.matching.matcher import Match
from xductor.transforms.onednn import operators as operators  # registers the operator
from xductor.transforms.onednn.packed_calls import LINEAR, is_plain
from xductor.transforms.onednn.packed_weights import is_constant
from xductor.transforms.passes.numerics import REASSOCIATES
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


@dataclass(frozen=True)
class GroupedGemmPass(ProceduralPass):
    """Two or more `_linear_pointwise` of one tensor by weights of one size become one call.

    The weights are packed constants, two at least are different ones, and nothing is done to the
    results yet. Other readers of the tensor stay as they are.
    """

    name = "grouped_gemm_pass"
    stage = "post_grad"
    inductor = "mkldnn_fusion.py:grouped_gemm_pass"
    numerics = REASSOCIATES
    roots = frozenset((LINEAR,))

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        by_form: dict[Hashable, list[Any]] = {}
        for op in ops:
            problem = _problem(op)
            if problem is not None:
                procedure.refuse(op, problem)
                continue
            by_form.setdefault(_form(op), []).append(op)
        return sum(_replace(group, procedure) for group in by_form.values())


def _problem(op: Any) -> str | None:
    """Why a packed linear joins no group; None if it may."""
    if not is_plain(op):
        return f"{op.argument('attr')} is computed of its result"
    return None if is_constant(op.argument("W")) else "the weight is no constant"


def _form(op: Any) -> Hashable:
    """What the members of a group share: the tensor, the size of the weights, and dtypes."""
    weight, result = op.argument("W").type, op.results[0].type
    return op.argument("X"), tuple(weight.shape), weight.dtype, result.dtype, result.device


def _replace(group: Sequence[Any], procedure: Procedure) -> bool:
    weights = [op.argument("W") for op in group]
    if len({weight.owner.path for weight in weights}) < 2:
        return False
    biases = [op.argument("B") for op in group]
    read = [*weights, *[one for one in biases if one is not None]]
    state = procedure.state
    raised = raise_reads(read, group[0], state)
    data, results = group[0].argument("X"), [op.results[0] for op in group]
    match = Match.of(group[-1], group, results, [data, *read])
    try:
        procedure.replace(match, lambda: _call(data, weights, biases, state.facts))
    except REFUSALS as refusal:
        raised.undo()
        procedure.refuse(group[0], refusal)
        return False
    return True


def _call(data: Any, weights: Sequence[Any], biases: Sequence[Any], facts: Facts) -> list[Any]:
    packed = [handle(one, facts) for one in weights]
    added = [None if one is None else handle(one, facts) for one in biases]
    return list(ops.xductor.grouped_linear.default(handle(data, facts), packed, added))


__all__ = ["GroupedGemmPass"]
