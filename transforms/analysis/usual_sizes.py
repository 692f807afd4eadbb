"""Sizes as numbers, to tell what pays: those of symbols as they were while a graph was traced."""

from __future__ import annotations

from functools import cached_property
from math import prod

from xdsl.ir import SSAValue

from xductor.ir import GraphOp, TensorType
from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic.symbol_values import Number, number, symbol_values


class UsualSizes:
    """The sizes of one graph. What is right must not depend on them."""

    def __init__(self, graph: GraphOp) -> None:
        self._graph = graph

    @cached_property
    def _symbols(self) -> dict[str, Number]:
        return symbol_values(self._graph.symbols.data)

    def usual(self, size: Dim) -> int:
        """A size; a symbol is what it was while the graph was traced."""
        return size if type(size) is int else int(number(size, self._symbols))

    def elements(self, value: SSAValue) -> int:
        """How many elements a tensor has."""
        type_ = value.type
        assert type(type_) is TensorType
        return prod(self.usual(size) for size in type_.shape)


__all__ = ["UsualSizes"]
