"""Converts the IR's arguments to FX's: values become nodes, constants and containers come back."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.fx as fx
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GraphOp, ListArg, OpaqueCallOp, Ref, SchemaOp, SymbolRef, SymExpr, TorchOp
from xductor.ir.dialect.arguments import DictArg, FunctionArg, Handle, Pack, SizeArg, SliceArg
from xductor.ir.dialect.results import leaf_paths
from xductor.ir.python import targets
from xductor.ir.symbolic.expressions import to_sympy
from xductor.ir.symbolic.symbols import make_symbols
from xductor.ir.text.printing import _same


class RaisingError(ValueError):
    """A module that cannot be raised; the message names the op and what is missing."""


class ValueNodes:
    """The FX node of every value of one graph; `getitem` nodes are made when first needed."""

    def __init__(
        self, graph: fx.Graph, source: GraphOp, subgraph: Callable[[str], fx.Node]
    ) -> None:
        self.graph = graph
        self.source = source
        self.subgraph = subgraph
        self.arguments: list[fx.Node] = []
        self.of_value: dict[SSAValue, fx.Node] = {}
        self.of_op: dict[TorchOp, fx.Node] = {}
        #: Ids of the ops of one result that stand unchanged: their node is their origin.
        self.standing: set[int] = set()
        self.made: list[fx.Node] = []
        self.undo: list[Callable[[], None]] = []
        self._symints: dict[SymExpr, Any] = {}

    def node(self, value: SSAValue) -> fx.Node:
        """The node that computes a value. Raises RaisingError for a value of another graph."""
        op: Any = value.op if type(value) is OpResult else None
        if op is not None and id(op) in self.standing:
            return op.node.origin
        found = self.of_value.get(value)
        if found is not None:
            return found
        if isinstance(op, TorchOp) and op in self.of_op:
            return self.getitem(op, value)  # type: ignore[arg-type]
        raise RaisingError(f"value {value} is used in a graph that does not define it")

    def getitem(self, op: TorchOp, value: OpResult) -> fx.Node:
        """A new `getitem` (or a chain of them, for a nested tuple) right after the call."""
        node = self.of_op[op]
        structure = op.structure
        path = (
            list(leaf_paths(structure.data))[value.index]
            if structure is not None
            else (value.index,)
        )
        name = op.node.names[value.index] if value.index < len(op.node.names) else ""
        for depth, index in enumerate(path):
            last = depth == len(path) - 1
            with self.graph.inserting_after(node):
                node = self.graph.create_node(
                    "call_function",
                    operator.getitem,
                    (node, index),
                    name=name if last and name else None,
                )
            self.made.append(node)
            self.undo.append(functools.partial(self.graph.erase_node, node))
        self.of_value[value] = node
        return node

    def define(self, op: TorchOp, node: fx.Node) -> None:
        """Record the node that makes an op's call."""
        self.of_op[op] = node
        if op.structure is None and len(op.results) == 1 and not returns_tuple(op):
            self.of_value[op.results[0]] = node

    def tree(self, op: TorchOp, item: Any) -> Any:
        """An argument tree of an op as FX arguments."""
        kind = type(item)
        if kind is Ref:
            return self.node(op._operands[item.index])
        if item is None or kind in (int, bool, float, str):
            return item
        if kind is ListArg:
            return [self.tree(op, part) for part in item]
        if kind is tuple:
            return tuple([self.tree(op, part) for part in item])
        if kind is Pack:
            return self.pack(op, item)
        if kind is SizeArg:
            parts = [self.tree(op, part) for part in item]
            return (
                tuple(parts)
                if any(isinstance(part, fx.Node) for part in parts)
                else torch.Size(parts)
            )
        if kind is SliceArg:
            return slice(*[self.tree(op, part) for part in item])
        if kind is DictArg:
            return {self.tree(op, key): self.tree(op, part) for key, part in item}
        if kind is SymbolRef:
            return self.subgraph(item.name)
        if kind is FunctionArg:
            return targets.resolve(item.name)
        if kind is Handle:
            return live_object(op, item)
        if kind is SymExpr:
            return self.symbolic_constant(op, item)
        return item

    def pack(self, op: TorchOp, item: Pack) -> Any:
        """The node of a call if `item` is all its results in order; else a tuple of nodes."""
        whole = _owner_of_all(op, item)
        if whole is not None and whole in self.of_op:  # ops of several results are never `standing`
            return self.of_op[whole]
        return tuple([self.tree(op, part) for part in item])

    def symbolic_constant(self, op: TorchOp, expr: SymExpr) -> Any:
        """A SymInt for an expression among the constants; it needs the graph's ShapeEnv."""
        found = self._symints.get(expr)
        if found is not None:
            return found
        live = self.source.live
        shape_env = live.types.shape_env if live is not None else None
        if shape_env is None:
            raise RaisingError(
                f"{op.name}: the constant sym<{expr}> needs a ShapeEnv, and parsed text has none"
            )
        value = shape_env.create_symintnode(
            to_sympy(expr, make_symbols(self.source.symbols.data)), hint=None
        )
        self._symints[expr] = value
        return value

    def call(self, op: TorchOp) -> tuple[str, Any, tuple[Any, ...], dict[str, Any]]:
        """The FX opcode, target and arguments of an op, in the shortest spelling."""
        if isinstance(op, SchemaOp):
            args, kwargs = self.schema_call(op)
            return "call_function", op.target, args, kwargs
        positional, keywords = op.args.data
        args = tuple([self.tree(op, item) for item in positional])
        kwargs = {name: self.tree(op, item) for name, item in keywords}
        if isinstance(op, OpaqueCallOp):
            return "call_function", args[0], args[1:], kwargs
        if op.fx_op == "get_attr":
            return "get_attr", args[0], (), {}
        return op.fx_op, op.target, args, kwargs

    def schema_call(self, op: SchemaOp) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in schema order, without trailing defaults; keyword-only ones by name."""
        data, defaults = op.args.data, op.table.defaults
        kwargs: dict[str, Any] = {}
        last = 0
        for position, param in enumerate(op.table.params):
            if param.has_default and _same(data[position], defaults[position]):
                continue
            if param.kwarg_only:
                kwargs[param.name] = self.tree(op, data[position])
            else:
                last = position + 1
        return tuple([self.tree(op, item) for item in data[:last]]), kwargs


def returns_tuple(op: TorchOp) -> bool:
    """Whether the schema of an op's call says that it returns a tuple or a list."""
    return not op.raw_arguments and op.table.is_tuple  # type: ignore[attr-defined]


def _owner_of_all(op: TorchOp, item: Pack) -> TorchOp | None:
    """The op whose results a `Pack` holds, all and in order; None if there is none."""
    owner: TorchOp | None = None
    count = 0

    def visit(part: Any) -> bool:
        nonlocal owner, count
        if type(part) is Pack:
            return all(visit(element) for element in part)
        if type(part) is not Ref:
            return False
        value = op._operands[part.index]
        if not isinstance(value, OpResult) or value.index != count:
            return False
        if owner is None:
            owner = value.op  # type: ignore[assignment]
        count += 1
        return value.op is owner

    if not visit(item) or owner is None or count != len(owner.results):
        return None
    return owner


def live_object(op: TorchOp, handle: Handle, bindings: Mapping[str, Any] | None = None) -> Any:
    """The object behind a handle. Raises RaisingError if it is lost, as for parsed text."""
    if handle.live is not None:
        return handle.live
    if bindings is not None and handle.ident in bindings:
        return bindings[handle.ident]
    raise RaisingError(
        f"{op.name}: {handle!r} is a live object that text only names; "
        f"pass bindings={{'{handle.ident}': object}}"
    )
