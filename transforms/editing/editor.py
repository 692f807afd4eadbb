"""The way in which passes change a graph: ops are made, put, replaced, moved and erased here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from xdsl.ir import Operation, SSAValue

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    InferenceEnv,
    NodeMeta,
    Ref,
    TorchOp,
    infer_call,
    op_class_by_name,
)
from xductor.ir.dialect.arguments import map_tree
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.results import AliasAttr, StructureAttr
from xductor.transforms.analysis.analyses import analyses_of
from xductor.transforms.passes.applications import applied


class Editor:
    """Changes one graph, and keeps up to date what is known of it (`analyses`).

    What it makes stands above the op that it is made for, and comes from where that op comes from
    in the user's program. A context manager, where types are inferred.
    """

    def __init__(self, graph: GraphOp) -> None:
        self.graph = graph
        self.analyses = analyses_of(graph)

    @cached_property
    def env(self) -> InferenceEnv:
        """Where types are inferred."""
        return InferenceEnv.of(self.graph)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if "env" in vars(self):
            self.env.__exit__(*error)

    def call(
        self,
        name: str,
        arguments: Sequence[Any],
        *,
        above: TorchOp,
        types: Sequence[Any] | None = None,
        named: bool = False,
        placed: bool = True,
    ) -> TorchOp:
        """Put a call of an operator above an op.

        - `arguments`: all that its schema has, in order, with values of the graph among them.
        - `types`: of its results; inferred if not given. What is made on a device that is not here
          has no kernel to infer from.
        - `named`: it takes the name of `above` too, which it is to replace.
        - `placed`: it comes from where `above` comes from.

        Raises:
            NotInferred, NotApplicable: the types are not known, or the operator refuses these
                operands; nothing was put.
        """
        cls: Any = op_class_by_name(name)
        operands: list[SSAValue] = []
        args = ArgsAttr(tuple([_referred(one, operands) for one in arguments]))
        aliases: AliasAttr | None = None
        if types is None:
            found, _ = infer_call(cls, args, [one.type for one in operands], self.env, operands)
            types, aliases = found.types, found.aliases
        node = _node(above, len(types), named) if placed else NodeMeta(("",) * len(types))
        made: TorchOp = cls.make(args, operands, types, node, aliases=aliases)
        self.insert(made, above)
        return made

    def put(
        self,
        cls: Any,
        args: ArgsAttr,
        operands: Sequence[SSAValue],
        types: Sequence[Any],
        above: TorchOp,
        *,
        named: bool = False,
        structure: StructureAttr | None = None,
        aliases: AliasAttr | None = None,
    ) -> TorchOp:
        """Put an op with types that are known above another."""
        node = _node(above, len(types), named)
        made: TorchOp = cls.make(args, operands, types, node, structure=structure, aliases=aliases)
        self.insert(made, above)
        return made

    def insert(self, made: Operation, above: Operation) -> None:
        """Put an op that was made elsewhere above another."""
        self.analyses.insert(made, above)
        if (memory := self.analyses.known_memory) is not None:
            memory.puts(made, above)

    def replace(self, op: TorchOp, *values: SSAValue, counted: bool = True) -> None:
        """Let values stand for the results of an op, and erase it.

        - `counted`: it is an application of its own, for the record.
        """
        if counted:
            applied(op, *values)
        for old, new in zip(op.results, values, strict=True):
            self.take_over(old, new)
        self.analyses.erase(op)

    def take_over(self, old: SSAValue, new: SSAValue) -> None:
        """Let `new` take over the uses of `old`."""
        memory = self.analyses.known_memory
        if memory is not None:
            memory.unite(old, new)
        old.replace_all_uses_with(new)

    def erase(self, op: TorchOp) -> None:
        """Erase an op that nothing uses. Raises ValueError where something does."""
        self.analyses.erase(op)

    def move(self, op: TorchOp, above: TorchOp) -> None:
        """Put an op of the graph above another one."""
        self.analyses.move(op, above)


def _node(above: TorchOp, results: int, named: bool) -> NodeMeta:
    node = above.node
    return node.inherited(node.names, node.node) if named else node.inherited(("",) * results)


def raw_call_args(
    arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[ArgsAttr, list[SSAValue]]:
    """The arguments of a call without a schema, and the operands that they refer to."""
    operands: list[SSAValue] = []
    positional = tuple([_referred(one, operands) for one in arguments])
    named = tuple([(name, _referred(one, operands)) for name, one in keywords.items()])
    return raw_args(positional, named), operands


def _referred(item: Any, operands: list[SSAValue]) -> Any:
    """An argument with references in the place of values, which join the operands."""

    def refer(leaf: Any) -> Any:
        if not isinstance(leaf, SSAValue):
            return leaf
        operands.append(leaf)
        return Ref(len(operands) - 1)

    return map_tree(item, refer)


__all__ = ["Editor", "raw_call_args"]
