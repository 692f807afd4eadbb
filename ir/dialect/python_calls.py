"""Makes the positional and keyword arguments of a Python call from an op's `args`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xductor.ir.dialect.arguments import (
    DictArg,
    FunctionArg,
    Handle,
    ListArg,
    Pack,
    Ref,
    SizeArg,
    SliceArg,
    SymbolRef,
)
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.symbolic.expressions import SymExpr


class NoPythonValue(ValueError):
    """A constant has no Python value here (a handle in parsed text, a lone symbol)."""


class CallArguments:
    """Turns argument trees into Python values.

    - `number`: the value of a symbolic expression.
    - `subgraph`: the callable of a subgraph's name.
    Both may raise NoPythonValue.
    """

    def __init__(self, number: Callable[[SymExpr], Any], subgraph: Callable[[str], Any]) -> None:
        self.number = number
        self.subgraph = subgraph

    def of(
        self, cls: type[TorchOp], data: tuple[Any, ...], values: Sequence[Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments for a call of `cls.target`; `values` are those of the operands."""
        if issubclass(cls, SchemaOp):
            table = cls.table
            built = [self.tree(item, values) for item in data]
            keywords = {
                param.name: value
                for param, value in zip(
                    table.params[table.positional :], built[table.positional :], strict=True
                )
            }
            return built[: table.positional], keywords
        positional, named = data
        return (
            [self.tree(item, values) for item in positional],
            {name: self.tree(item, values) for name, item in named},
        )

    def tree(self, item: Any, values: Sequence[Any]) -> Any:
        """One argument: containers keep their kind, references become values."""
        kind = type(item)
        if kind is Ref:
            return values[item.index]
        if kind in (tuple, Pack):
            return tuple([self.tree(part, values) for part in item])
        if kind is ListArg:
            return [self.tree(part, values) for part in item]
        if kind is SizeArg:
            import torch

            parts = [self.tree(part, values) for part in item]
            return torch.Size(parts) if all(type(part) is int for part in parts) else tuple(parts)
        if kind is DictArg:
            return {self.tree(key, values): self.tree(part, values) for key, part in item}
        if kind is SliceArg:
            return slice(*[self.tree(part, values) for part in item])
        return self.constant(item, kind)

    def constant(self, item: Any, kind: type) -> Any:
        if kind is SymExpr:
            return item.value if item.value is not None else self.number(item)
        if kind is SymbolRef:
            return self.subgraph(item.name)
        if kind is FunctionArg:
            from xductor.ir.python.targets import UnknownTarget, resolve

            try:
                return resolve(item.name)
            except UnknownTarget as error:
                raise NoPythonValue(str(error)) from error
        if kind is Handle:
            if item.live is None:
                raise NoPythonValue(f"{item!r} stands for no object here")
            return item.live
        return item


__all__ = ["CallArguments", "NoPythonValue"]
