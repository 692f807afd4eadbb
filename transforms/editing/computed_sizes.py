"""Sizes and strides as arguments of new ops: products of sizes that a graph has are computed."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import ArgsAttr, Ref, SymExpr, SymIntType, TorchOp, op_class
from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic.expressions import mul
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.symint_scope import SymintScope


class ComputedSizes:
    """The sizes of the graph that an editor changes."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._scope = SymintScope(editor.graph, editor.analyses.order.key)

    def are_known(self, dims: Iterable[Dim], op: TorchOp) -> bool:
        """Whether sizes are numbers, values of the graph above an op, or products of these."""
        return all(
            type(dim) is not SymExpr
            or self._scope.before(dim, op) is not None
            or (bool(factors := _factors(dim)) and self.are_known(factors, op))
            for dim in dims
        )

    def above(self, dim: Dim, op: TorchOp) -> Any:
        """A size that is known, as a number or a value, which may be computed above an op."""
        if type(dim) is not SymExpr:
            return dim
        found = self._scope.before(dim, op)
        if found is not None:
            return found
        first, *rest = _factors(dim)
        made, total = self.above(first, op), first
        for factor in rest:
            total = mul(total, factor)
            made = self._product([made, self.above(factor, op)], total, op)
        return made

    def _product(self, factors: list[Any], total: Dim, op: TorchOp) -> SSAValue:
        operands = [one for one in factors if isinstance(one, SSAValue)]
        data = tuple(Ref(operands.index(one)) if one in operands else one for one in factors)
        made = self._editor.put(
            op_class(operator.mul), ArgsAttr((data, ())), operands, [SymIntType(total)], op
        )
        return made.results[0]


def _factors(dim: SymExpr) -> tuple[Dim, ...]:
    """What a size is the product of; () if it is none."""
    if dim.head == "pow" and type(dim.args[1]) is int and dim.args[1] > 1:
        return (dim.args[0],) * dim.args[1]
    return dim.args if dim.head == "mul" else ()


__all__ = ["ComputedSizes"]
