"""Which values of a graph before autograd receive a gradient from its results.

A group joins the autograd histories of its members. A member that received no gradient would
receive zeros, which ops above it may turn into NaN, or which may need values written since.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import TensorType
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.op_effects import written_operands
from xductor.transforms.rewriting.graph_state import GraphState


def reached_by_gradients(state: GraphState) -> set[SSAValue]:
    """The values that gradients reach; of tensors that are written to, the storage roots."""
    written = state.written_roots if state.writes else set[SSAValue]()

    def place(value: SSAValue) -> SSAValue:
        if not written:
            return value
        root = storage_root(value)
        return root if root in written else value

    writes = {
        op: [op.operands[index] for index in written_operands(op, state.bodies)]
        for op in state.writes
    }
    reached: set[SSAValue] = set()
    for op in reversed(state.analyses.ops):
        given = [*filter(_may_have_gradient, op.results), *writes.get(op, ())]
        is_output = op is state.graph.output
        if not is_output and not any(place(one) in reached for one in given):
            continue
        for operand in op._operands:
            at = place(operand)
            if at in written or _may_have_gradient(operand):
                reached.add(at)
    return reached


def _may_have_gradient(value: SSAValue) -> bool:
    type_: Any = value.type
    return type(type_) is not TensorType or "requires_grad" in type_.data.flags


__all__ = ["reached_by_gradients"]
