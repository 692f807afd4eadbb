"""`Editor`, the one way in which procedural passes make, insert, replace, move and erase ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any, Self

from xdsl.ir import Operation, SSAValue

from xductor.ir import (
    ArgsAttr,
    GetAttrOp,
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
from xductor.transforms.analysis.analyses import Analyses, analyses_of
from xductor.transforms.passes.applications import applied


class Editor:
    """Changes one graph, and keeps what is known of it (`analyses`) up to date.

    New ops are placed above the op that they are made for, and inherit its location in the user's
    program. Use it as a context manager if types are inferred.

    - `analyses`: those of somebody else who changes the graph too; by default those that are kept.
    """

    def __init__(self, graph: GraphOp, analyses: Analyses | None = None) -> None:
        self.graph = graph
        self.analyses = analyses_of(graph) if analyses is None else analyses

    @cached_property
    def env(self) -> InferenceEnv:
        """The environment in which types are inferred."""
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
        """Insert a call of an operator above an op.

        - `arguments`: all arguments of its schema, in order, with values of the graph among them.
        - `types`: the types of its results; inferred if not given. An op on a device that is not
          present has no kernel to infer them from.
        - `named`: it also takes the name of `above`, which it is to replace.
        - `placed`: it inherits the location of `above`.

        Nothing is inserted if this raises.

        Raises:
            NotInferred: If the types cannot be inferred.
            NotApplicable: If the operator refuses these operands.
        """
        made = self.build(name, arguments, above=above, types=types, named=named, placed=placed)
        self.insert(made, above)
        return made

    def build(
        self,
        name: str,
        arguments: Sequence[Any],
        *,
        above: TorchOp,
        types: Sequence[Any] | None = None,
        named: bool = False,
        placed: bool = True,
    ) -> TorchOp:
        """Make what `call` inserts, which is not in the graph yet."""
        cls: Any = op_class_by_name(name)
        operands: list[SSAValue] = []
        args = ArgsAttr(tuple([_referred(one, operands) for one in arguments]))
        aliases: AliasAttr | None = None
        if types is None:
            found, _ = infer_call(cls, args, [one.type for one in operands], self.env, operands)
            types, aliases = found.types, found.aliases
        node = _node(above, len(types), named) if placed else NodeMeta(("",) * len(types))
        return cls.make(args, operands, types, node, aliases=aliases)

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
        """Insert an op whose types are known above another."""
        node = _node(above, len(types), named)
        made: TorchOp = cls.make(args, operands, types, node, structure=structure, aliases=aliases)
        self.insert(made, above)
        return made

    def constant(self, tensor: Any, type_: Any, above: TorchOp, *, named: bool = False) -> TorchOp:
        """Insert a read of a tensor that the graph did not hold before, above another op.

        The graph holds it under a path of Inductor's form that nothing has (`new_constants`).
        """
        path = self._free_path()
        self.graph.new_constants[path] = tensor
        return self.put(GetAttrOp, raw_args((path,)), [], [type_], above, named=named)

    def _free_path(self) -> str:
        """`_frozen_param` and a number with which neither the graph nor its module has one."""
        taken, live = self._paths, self.graph.live
        taken.update(self.graph.new_constants)
        for number in count(len(taken)):
            path = f"_frozen_param{number}"
            if path not in taken and (live is None or not hasattr(live.gm, path)):
                return path
        raise AssertionError("count has no end")

    @cached_property
    def _paths(self) -> set[str]:
        """The paths that the graph reads, and has read; more of them come from `constant` alone."""
        return {op.path for op in self.analyses.named((GetAttrOp.name,))}

    def insert(self, made: Operation, above: Operation) -> None:
        """Insert an op that was made elsewhere above another."""
        self.analyses.insert(made, above)
        if (memory := self.analyses.known_memory) is not None:
            memory.puts(made, above)

    def replace(self, op: TorchOp, *values: SSAValue, counted: bool = True) -> None:
        """Replace the results of an op by `values`, and erase it.

        - `counted`: it is reported as an application of its own.
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
        """Erase an op that nothing uses. Raises ValueError if something does."""
        self.analyses.erase(op)

    def move(self, op: TorchOp, above: TorchOp) -> None:
        """Move an op of the graph above another."""
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
    """An argument with references in place of values, which are appended to `operands`."""

    def refer(leaf: Any) -> Any:
        if not isinstance(leaf, SSAValue):
            return leaf
        operands.append(leaf)
        return Ref(len(operands) - 1)

    return map_tree(item, refer)


__all__ = ["Editor", "raw_call_args"]
