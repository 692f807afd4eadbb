"""Arguments of FX nodes as `ArgsAttr`: in schema order for overloads, else as spelled."""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xductor.frontend import known_calls
from xductor.frontend.errors import LoweringError
from xductor.frontend.node_types import TypeReader
from xductor.ir import ArgsAttr, ListArg, Ref, SchemaOp, TorchOp
from xductor.ir.dialect.arguments import (
    CONSTANT_TYPES,
    DictArg,
    FunctionArg,
    Handle,
    Pack,
    SizeArg,
    SliceArg,
)
from xductor.ir.dialect.schema import normalise
from xductor.ir.python.targets import qualified_name

_PLAIN = frozenset(CONSTANT_TYPES)
_VALUES = frozenset((OpResult, BlockArgument))
_REFS = [Ref(index) for index in range(64)]


class ArgumentReader:
    """Reads the arguments of one graph's nodes."""

    def __init__(self, env: dict[fx.Node, Any], types: TypeReader, handles: HandleNames) -> None:
        self.env = env
        self.types = types
        self.handles = handles

    def in_schema_order(
        self, node: fx.Node, cls: type[SchemaOp], operands: list[SSAValue]
    ) -> ArgsAttr:
        """An overload's arguments in schema order; defaults filled in, constants normalized."""
        spelling = known_calls.spelling_of(cls, node, self.env, operands)
        if spelling is None:
            operands.clear()
            return self._in_schema_order(node, cls, operands)
        args = known_calls.recall(spelling)
        if args is None:
            operands.clear()
            args = self._in_schema_order(node, cls, operands)
            known_calls.remember(spelling, args)
        return args

    def _in_schema_order(
        self, node: fx.Node, cls: type[SchemaOp], operands: list[SSAValue]
    ) -> ArgsAttr:
        table = cls.table
        env: dict[Any, Any] = self.env
        args, kwargs = node.args, node.kwargs
        given, taken = len(args), 0
        if given > table.positional:
            raise LoweringError(
                node,
                f"{given} positional arguments given, {cls.name} takes {table.positional}",
                str(table.overload._schema),
            )
        data: list[Any] = []
        for position, param in enumerate(table.params):
            if position < given:
                item = args[position]
            elif param.name in kwargs:
                item = kwargs[param.name]
                taken += 1
            elif param.has_default:
                data.append(table.defaults[position])
                continue
            elif param.optional:
                data.append(None)
                continue
            else:
                raise LoweringError(
                    node,
                    f"{cls.name} needs its argument '{param.name}'",
                    str(table.overload._schema),
                )
            kind = type(item)
            if kind is fx.Node:
                found: Any = env.get(item)
                if type(found) in _VALUES:
                    data.append(_REFS[len(operands)] if len(operands) < 64 else Ref(len(operands)))
                    operands.append(found)
                    continue
            data.append(normalise(param, self.tree(node, item, operands)))
        if taken != len(kwargs):
            unknown = sorted(set(kwargs) - set(table.index))
            raise LoweringError(
                node,
                f"{cls.name} has no argument {unknown} or has it twice",
                f"it has: {', '.join(table.index)}",
            )
        return ArgsAttr(tuple(data))

    def raw_call(self, node: fx.Node, cls: type[TorchOp], operands: list[SSAValue]) -> ArgsAttr:
        """The arguments of a call without a schema, as in the node."""
        spelling = known_calls.spelling_of(cls, node, self.env, operands)
        args = None if spelling is None else known_calls.recall(spelling)
        if args is None:
            operands.clear()
            args = self.raw(node, node.args, node.kwargs, operands)
            if spelling is not None:
                known_calls.remember(spelling, args)
        return args

    def raw(
        self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any], operands: list[SSAValue]
    ) -> ArgsAttr:
        """The positional and keyword arguments as in the node."""
        positional = tuple([self.tree(node, item, operands) for item in args])
        keywords = tuple([(name, self.tree(node, item, operands)) for name, item in kwargs.items()])
        return ArgsAttr((positional, keywords))

    def tree(self, node: fx.Node, item: Any, operands: list[SSAValue]) -> Any:
        """One argument: values become references, containers keep their kind."""
        kind = type(item)
        if kind in _PLAIN:
            return item
        if kind is fx.Node:
            return self.value(node, item, operands)
        if isinstance(item, torch.Size):
            return SizeArg([self.tree(node, part, operands) for part in item])
        if isinstance(item, list):
            if _PLAIN.issuperset(map(type, item)):
                return ListArg(item)
            return ListArg([self.tree(node, part, operands) for part in item])
        if isinstance(item, tuple):
            if hasattr(item, "_fields"):
                return self.handle(item)
            return tuple([self.tree(node, part, operands) for part in item])
        if isinstance(item, dict):
            return DictArg(
                [
                    (self.tree(node, key, operands), self.tree(node, part, operands))
                    for key, part in item.items()
                ]
            )
        if kind is slice:
            return SliceArg(
                [self.tree(node, part, operands) for part in (item.start, item.stop, item.step)]
            )
        if isinstance(item, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.types.dim(item)
        return self.other(item)

    def value(self, node: fx.Node, source: fx.Node, operands: list[SSAValue]) -> Any:
        """A reference to the result of a node: a value, all values of a tuple, or a subgraph."""
        try:
            found = self.env[source]
        except KeyError:
            raise LoweringError(
                node,
                f"uses '{source.name}', which is not defined above it",
                "the graph is not topologically sorted or fails graph.lint()",
            ) from None
        return self.refer(found, operands)

    def refer(self, found: Any, operands: list[SSAValue]) -> Any:
        if type(found) in _VALUES:
            operands.append(found)
            return Ref(len(operands) - 1)
        if type(found) is Pack:
            return Pack([self.refer(part, operands) for part in found])
        return found

    def other(self, item: Any) -> Any:
        """Names for callables and classes, handles for every other object."""
        if isinstance(item, (bool, int, float, complex, str)):
            return _base_constant(item)
        if callable(item) or isinstance(item, type):
            name = qualified_name(item)
            if name is not None:
                return FunctionArg(name)
        return self.handle(item)

    def handle(self, item: Any) -> Handle:
        return self.handles.object(item)


class HandleNames:
    """Handles for the live objects of one module; each object has one handle.

    They are numbered in order of appearance, so that text is the same in every run.
    """

    def __init__(self) -> None:
        self._handles: dict[int, Handle] = {}
        self._count: dict[tuple[str, str], int] = {}

    def object(self, item: Any) -> Handle:
        kind = type(item)
        return self._named(item, f"{kind.__module__}.{kind.__qualname__}", "")

    def callable(self, item: Any) -> Handle:
        return self._named(item, "callable", getattr(item, "__qualname__", type(item).__name__))

    def _named(self, item: Any, kind: str, label: str) -> Handle:
        found = self._handles.get(
            id(item)
        )  # the handle keeps its object alive, so the id is not reused
        if found is None:
            number = self._count.get((kind, label), 0)
            self._count[kind, label] = number + 1
            ident = f"{label}.{number}" if label and number else label or str(number)
            found = self._handles[id(item)] = Handle(kind, ident, item)
        return found


def _base_constant(item: Any) -> Any:
    """The plain constant for an enum or another subclass of a number or string."""
    for base in (bool, int, float, complex, str):
        if isinstance(item, base):
            plain: Any = base
            return plain(item)
    return item


__all__ = ["ArgumentReader"]
