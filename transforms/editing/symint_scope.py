"""Sizes as arguments of new ops: constants, or values that the graph has at that place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from xdsl.ir import Operation, SSAValue

from xductor.ir import GraphOp, ListArg, Ref, SymExpr, SymIntType
from xductor.ir.dialect.types import Dim


class SymintScope:
    """The symbolic integers among the values of a graph, by their expressions."""

    def __init__(self, graph: GraphOp, position: Callable[[Operation], int]) -> None:
        self._graph = graph
        self._position = position

    @cached_property
    def _values(self) -> dict[SymExpr, SSAValue]:
        """The first value of each expression."""
        found: dict[SymExpr, SSAValue] = {}
        block = self._graph.block
        for value in chain(block.args, (result for op in block.ops for result in op.results)):
            if type(value._type) is SymIntType and type(value._type.expr) is SymExpr:
                found.setdefault(value._type.expr, value)
        return found

    def before(self, expression: SymExpr, op: Operation) -> SSAValue | None:
        """The first value with that expression, if it is defined when `op` runs."""
        value = self._values.get(expression)
        if value is None:
            return None
        owner = value.owner
        if not isinstance(owner, Operation):
            return value
        return value if self._position(owner) < self._position(op) else None

    def sizes(self, dims: Sequence[Dim], op: Operation, operands: list[SSAValue]) -> ListArg | None:
        """Sizes as a list argument of an op in place of `op`; None if one is not available.

        The values that the list refers to are appended to `operands`.
        """
        found: list[Any] = []
        for dim in dims:
            if type(dim) is not SymExpr:
                found.append(dim)
                continue
            value = self.before(dim, op)
            if value is None:
                return None
            found.append(Ref(len(operands)))
            operands.append(value)
        return ListArg(found)
