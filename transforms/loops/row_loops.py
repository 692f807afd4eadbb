"""Turns calls that run a graph once per row of some tensors into a `while_loop`.

A buffer for each result of a step is made before the loop. The loop counts rows, runs the graph on
the current row, and writes its results to the buffers. The graph of a step is copied into the body
of the loop, so that code generation sees all of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from xductor.ir import (
    ArgsAttr,
    GetAttrOp,
    GraphOp,
    OutputOp,
    RawOp,
    Ref,
    SymbolRef,
    SymbolTable,
    SymBoolType,
    SymExpr,
    SymIntType,
    TensorType,
    TorchOp,
    aten,
    graph_named,
    op_class_by_name,
)
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.results import flat_structure
from xductor.ir.dialect.types import Dim as Expr
from xductor.ir.functions.op_functions import building
from xductor.ir.symbolic.expressions import add, call, mul, sub, symbol
from xductor.ir.symbolic.symbols import INT_OO, SymbolInfo
from xductor.transforms.analysis.graphs import facts_of, free_subgraph_name
from xductor.transforms.editing.editor import Editor
from xductor.transforms.loops.graph_copies import (
    copied_results,
    returned_leaves,
    with_own_storage,
)
from xductor.transforms.loops.stays import Stays
from xductor.transforms.passes.applications import applied
from xductor.transforms.rewriting.building import ReplacementBuilder, Unbuildable
from xductor.transforms.rewriting.handles import Dim

_INDEX = TensorType.get(torch.int64, ())
_CPU = torch.device("cpu")


@dataclass(frozen=True)
class RowLoop:
    """A call that runs a graph once per row.

    - `carried`: what a step passes on to the next one; the first results are its last values.
    - `rows`: tensors of which each step gets a row.
    - `shared`: what every step gets unchanged.

    The graph takes all three in this order, and returns the carried values, then those to stack.
    """

    op: RawOp
    step: GraphOp
    carried: tuple[SSAValue, ...]
    rows: tuple[SSAValue, ...]
    shared: tuple[SSAValue, ...]

    @classmethod
    def of(cls, op: RawOp, module: ModuleOp, carries: bool) -> RowLoop:
        """Read a call of `scan` or, if nothing is carried, of `map_impl`.

        Raises Stays if the call cannot become a loop.
        """
        body, *groups = op.positional
        step = graph_named(module, body.name) if type(body) is SymbolRef else None
        if step is None or step.is_declaration or op.keywords:
            raise Stays("the graph that it runs is not known")
        if not carries:
            groups = [(), *groups]
        if len(groups) != 3 or not all(
            isinstance(one, SSAValue) for each in groups for one in each
        ):
            raise Stays("its arguments are not tensors and sizes in three groups")
        carried, rows, shared = map(tuple, groups)
        made = cls(op, step, carried, rows, shared)
        made._check()
        return made

    def _check(self) -> None:
        if not self.rows or not all(type(one.type) is TensorType for one in self.rows):
            raise Stays("it has no rows")
        if not all(type(one) is Ref for one in returned_leaves(self.step.output.tree)):
            raise Stays("a step gives something that is no value")
        if len(self.step.output.operands) != len(self.op.results) or not all(
            type(one.type) is TensorType for one in self.stacked
        ):
            raise Stays("what it stacks are not tensors")
        if any(type(one) is GetAttrOp for one in self.step.block.ops):
            raise Stays("a step reads a constant of its own")
        given = [*self.carried, *self.rows, *self.shared]
        if len(given) != len(self.step.arguments):
            raise Stays("a step takes another number of arguments")
        row_types = {value: _row(value.type) for value in self.rows}  # type: ignore[arg-type]
        for value, argument in zip(given, self.step.arguments, strict=True):
            if _sizes(row_types.get(value, value.type)) != _sizes(argument.type):
                raise Stays("the sizes that a step was written for are not those that it gets")

    @property
    def length(self) -> Expr:
        """The number of rows."""
        return _tensor(self.rows[0].type).shape[0]

    @property
    def stacked(self) -> tuple[SSAValue, ...]:
        """The results that hold the stacked results of the steps."""
        return tuple(self.op.results[len(self.carried) :])


class LoopMaker:
    """Replaces calls by loops in one graph."""

    def __init__(self, module: ModuleOp, editor: Editor) -> None:
        self.module = module
        self.editor = editor
        self.graph = editor.graph
        self.facts = facts_of(editor.graph)

    def replace(self, row_loop: RowLoop) -> None:
        """Replace a call by a loop.

        Raises Stays if a buffer cannot be made; the graph is then unchanged.
        """
        op = row_loop.op
        first, buffers = self._before(row_loop)
        carried = [first, *buffers, *row_loop.carried, *row_loop.rows]
        table = self._symbols(row_loop)
        names = []
        for kind, build in (("cond", _Condition), ("body", _Body)):
            name = free_subgraph_name(self.module, self.graph, f"while_loop_{kind}_graph_0")
            made = build(self, row_loop, carried, table).build(name)
            self.module.body.block.add_op(made)
            names.append(SymbolRef(name))
        count = len(carried)
        places = [Ref(place) for place in range(count + len(row_loop.shared))]
        args = raw_args((*names, tuple(places[:count]), tuple(places[count:])))
        stacks, ends = len(buffers), len(row_loop.carried)
        types = [
            *(with_own_storage(one.type) for one in carried[: 1 + stacks]),
            *(with_own_storage(one.type) for one in op.results[:ends]),
            *(with_own_storage(one.type) for one in row_loop.rows),
        ]
        loop = self.editor.put(
            op_class_by_name("higher_order.while_loop"),
            args,
            [*carried, *row_loop.shared],
            types,
            op,
            structure=flat_structure(len(types)),
        )
        results = [*loop.results[1 + stacks : 1 + stacks + ends], *loop.results[1 : 1 + stacks]]
        applied(op, *results)
        self.editor.replace(op, *results, counted=False)

    def _before(self, row_loop: RowLoop) -> tuple[SSAValue, list[SSAValue]]:
        """The number of the first row, and a buffer for each stacked result."""
        op = row_loop.op
        key = self.editor.analyses.order.key

        def in_scope(value: SSAValue) -> bool:
            return isinstance(value.owner, Block) or key(value.owner) < key(op)

        values = [
            *self.graph.block.args,
            *(result for one in self.editor.analyses.ops for result in one.results),
        ]
        symints = [one for one in values if type(one.type) is SymIntType]
        builder = ReplacementBuilder(
            self.editor.env, self.facts, op.node, list(op._operands), lambda: symints, in_scope
        )
        try:
            with building(builder):
                first: Any = aten.full([], 0, dtype=torch.int64, device=_CPU)
                buffers: list[Any] = [self._buffer(_tensor(one.type)) for one in row_loop.stacked]
        except Unbuildable as error:
            builder.discard()
            raise Stays(f"a buffer for its results cannot be made: {error}") from error
        for made in builder.made:
            self.editor.insert(made, op)
        return first.value, [one.value for one in buffers]

    def _buffer(self, type_: TensorType) -> Any:
        dims = [[Dim(one, self.facts) for one in group] for group in (type_.shape, type_.stride)]
        return aten.empty_strided(*dims, dtype=type_.dtype, device=type_.device)

    def _symbols(self, row_loop: RowLoop) -> SymbolTable:
        """The symbols of the graph and of a step."""
        tables = [self.graph.symbols.data, row_loop.step.symbols.data]
        found = {name: info for table in tables for name, info in table.items()}
        replaced = {
            name: to for table in tables for name, to in table.replacements.items()
            if name not in found
        }  # fmt: skip
        return SymbolTable(found.values(), replaced)


class _LoopGraph(ABC):
    """A graph that takes what the loop carries and what all steps share."""

    def __init__(
        self, maker: LoopMaker, row_loop: RowLoop, carried: list[SSAValue], table: SymbolTable
    ) -> None:
        self.row_loop = row_loop
        self.table = table
        self.maker = maker
        self.node = row_loop.op.node.inherited(("",))
        self.block = Block(
            arg_types=[with_own_storage(one.type) for one in (*carried, *row_loop.shared)]
        )
        self.index = self.block.args[0]
        stacks, ends = len(row_loop.stacked), len(row_loop.carried)
        starts = [1, 1 + stacks, 1 + stacks + ends, len(carried), len(self.block.args)]
        self.buffers, self.carried, self.rows, self.shared = (
            self.block.args[a:b] for a, b in pairwise(starts)
        )

    def build(self, name: str) -> GraphOp:
        """The graph, called `name`."""
        output = self.fill()
        self.block.add_op(output)
        graph = self.maker.graph
        return GraphOp(
            name,
            graph.stage.data,
            self.block,
            self.table,
            graph.ambient.data,
            arguments=[f"arg_{place}" for place in range(len(self.block.args))],
        )

    @abstractmethod
    def fill(self) -> OutputOp:
        """Add the ops, and return the output op."""

    def put(self, name: str, arguments: tuple[Any, ...], type_: Any, **more: Any) -> SSAValue:
        """The result of a new call of the given type."""
        operands = [one for one in arguments if isinstance(one, SSAValue)]
        places = {value: Ref(place) for place, value in enumerate(operands)}
        data = tuple([places[one] if isinstance(one, SSAValue) else one for one in arguments])
        cls: Any = op_class_by_name(name)
        types = [] if type_ is None else [type_]
        node = self.row_loop.op.node.inherited(("",) * len(types))
        if more:
            vars(node)["textual"] = {**node.text_items(), **more}
        args = raw_args(data) if cls.raw_arguments else ArgsAttr(data)
        op = cls.make(args, operands, types, node)
        self.block.add_op(op)
        return op.results[0] if types else None  # type: ignore[return-value]

    def length(self) -> int | SSAValue:
        """The number of rows: a number, or a value of this graph."""
        length = self.row_loop.length
        if type(length) is int:
            return length
        return self.put("aten.sym_size.int", (self.rows[0], 0), SymIntType(length))


class _Condition(_LoopGraph):
    """The condition of the loop: whether there is another row."""

    def fill(self) -> OutputOp:
        less = TensorType.get(torch.bool, ())
        result = self.put("aten.lt.Scalar", (self.index, self.length()), less)
        return OutputOp.make(raw_args((Ref(0),)), [result], [])


class _Body(_LoopGraph):
    """The body of the loop: one step on the current row, and the writes to the buffers."""

    def fill(self) -> OutputOp:
        row, number = self._row_number()
        slices = [self._select(one, row, number) for one in self.rows]
        given = [*self.carried, *slices, *self.shared]
        results = self._copied(given)
        ends = len(self.carried)
        for value, buffer in zip(results[ends:], self.buffers, strict=True):
            part = self._select(buffer, row, number)
            self.put("aten.copy_.default", (part, value, False), part.type)
        following = self.put("aten.add.Tensor", (self.index, 1, 1), _INDEX)
        values = [following, *self.buffers, *results[:ends], *self.rows]
        tree = tuple([Ref(place) for place in range(len(values))])
        return OutputOp.make(raw_args((tree,)), values, [])

    def _row_number(self) -> tuple[SSAValue, SymExpr]:
        """The row number as a size, asserted to be in range."""
        name = next(f"u{n}" for n in range(len(self.table) + 1) if f"u{n}" not in self.table)
        length = self.row_loop.length
        upper = INT_OO if type(length) is SymExpr else sub(length, 1)
        info = SymbolInfo(name, backed=False, lower=0, upper=upper)
        self.table = SymbolTable([*self.table.values(), info], self.table.replacements)
        number = symbol(name)
        row = self.put(
            "aten._local_scalar_dense.default",
            (self.index,),
            SymIntType(number),
            unbacked_bindings=f"{name} = self",
        )
        for function, limit, bound in (("ge", 0, 0), ("lt", self.length(), length)):
            expression = call(function, number, bound)
            holds = self.put(f"pyfn._operator.{function}", (row, limit), SymBoolType(expression))
            message = f"row {expression} of {self.row_loop.op.name}"
            self.put("aten._assert_scalar.default", (holds, message), None)
        return row, number

    def _select(self, value: SSAValue, row: SSAValue, number: SymExpr) -> SSAValue:
        fields = _tensor(value.type).data
        offset = add(fields.offset, mul(number, fields.stride[0]))
        part = fields._replace(shape=fields.shape[1:], stride=fields.stride[1:], offset=offset)
        return self.put("aten.select.int", (value, 0, row), TensorType(part))

    def _copied(self, given: list[SSAValue]) -> list[SSAValue]:
        """Copy the ops of a step for some arguments, and return its results."""

        def make(op: TorchOp, operands: list[SSAValue]) -> Sequence[SSAValue]:
            copy = type(op).make(
                op.args,
                operands,
                op.result_types,
                op.node.inherited(op.node.names, op.node.node),
                structure=op.structure,
                aliases=op.aliases,
            )
            self.block.add_op(copy)
            return copy.results

        return copied_results(self.row_loop.step, given, make)


def _row(type_: TensorType) -> TensorType:
    fields = type_.data
    return TensorType(fields._replace(shape=fields.shape[1:], stride=fields.stride[1:]))


def _sizes(type_: Any) -> Any:
    return (type_.dtype, type_.shape, type_.device) if type(type_) is TensorType else type_


def _tensor(type_: Any) -> TensorType:
    assert type(type_) is TensorType
    return type_


__all__ = ["LoopMaker", "RowLoop"]
