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

    @cached_property
    def _seen(self) -> set[str]:
        """The symbols of which a value was seen."""
        table = self._graph.symbols.data
        seen = {name for name, info in table.items() if isinstance(info.hint, int | float)}
        for name, target in table.replacements.items():
            if isinstance(target, int) or target.symbols <= seen:
                seen.add(name)
        return seen

    def usual(self, size: Dim) -> int:
        """A size; a symbol is what it was while the graph was traced.

        One that is known only at run time is a small number.
        """
        return size if type(size) is int else int(number(size, self._symbols))

    def seen(self, size: Dim) -> Number | None:
        """The same, but None if it was not seen while the graph was traced."""
        if isinstance(size, int):
            return size
        return number(size, self._symbols) if size.symbols <= self._seen else None

    def seen_symbols(self, *sizes: Dim) -> dict[str, Number]:
        """The symbols of some sizes, with what they were."""
        found = frozenset[str]().union(*(one.symbols for one in sizes if not isinstance(one, int)))
        return {name: self._symbols[name] for name in sorted(found & self._seen)}

    def elements(self, value: SSAValue) -> int:
        """How many elements a tensor has."""
        type_ = value.type
        assert type(type_) is TensorType
        return prod(self.usual(size) for size in type_.shape)


__all__ = ["UsualSizes"]
