"""Copies the ops of a graph, so that they compute in another graph what the first one returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import (
    ArgsAttr,
    GetAttrOp,
    GraphOp,
    ListArg,
    NodeMeta,
    NotInferred,
    OutputOp,
    Ref,
    SymExpr,
    SymIntType,
    TensorType,
    TorchOp,
    infer_call,
    result_aliases,
)
from xductor.ir.dialect.arguments import map_tree
from xductor.ir.dialect.results import AliasAttr
from xductor.ir.dialect.types import Dim, symbols_of
from xductor.ir.inference.infer import NotApplicable
from xductor.ir.inference.subgraph_types import renamed
from xductor.ir.symbolic.expression_arithmetic import substitute
from xductor.ir.symbolic.expressions import add, sub
from xductor.ir.text.resources import constant
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.analysis.op_effects import effects_of, subgraphs_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.loops.stays import Stays

#: What they give depends on where their operands begin.
_ASK_FOR_OFFSET = frozenset(
    f"aten.{name}"
    for name in (
        *("as_strided.default", "as_strided_copy.default", "as_strided_scatter.default"),
        *("storage_offset.default", "sym_storage_offset.default"),
    )
)

#: A call that has it rounds to 16 bits as eager does in generated code; it is not copied.
_ROUNDS = "low_precision_pointwise_barrier"

#: Makes the results of an op that is copied, for the operands that the copy has.
Make = Callable[[Any, list[Any]], Sequence[Any]]


def copied_results(
    source: GraphOp, given: Sequence[Any], make: Make, only: Collection[Any] | None = None
) -> list[Any]:
    """What a graph returns for some arguments, leaf by leaf, where `make` copies its ops.

    - `only`: the ops to copy, if not all. What others give is None.
    """
    values: dict[SSAValue, Any] = dict(zip(source.arguments, given, strict=True))
    for op in source.block.ops:
        assert isinstance(op, TorchOp)
        if isinstance(op, OutputOp):
            operands = op._operands
            return [
                values.get(operands[leaf.index]) if type(leaf) is Ref else leaf
                for leaf in returned_leaves(op.tree)
            ]
        if only is None or op in only:
            results = make(op, [values[one] for one in op._operands])
            values.update(zip(op.results, results, strict=True))
    raise Stays(f"@{source.sym_name.data} has no end")


def returned_leaves(tree: Any) -> list[Any]:
    """The leaves of what a graph returns."""
    if isinstance(tree, tuple | ListArg):
        return [leaf for part in tree for leaf in returned_leaves(part)]
    return [tree]


@dataclass
class GraphCopies:
    """Copies of ops that are about to stand above `above`, and are in no graph yet.

    The symbols of a graph that is copied become what they are for the arguments it is given, and
    sizes that become numbers are constants. Types are inferred anew where operands have other
    layouts than those that the graph was written for. What does not change from one copy of a graph
    to the next is copied once. All ops are put into the graph, or none.

    - `made`: the ops, in order.
    """

    editor: Editor
    above: TorchOp
    made: list[TorchOp] = field(default_factory=list[TorchOp])
    _reads: dict[Any, TorchOp] = field(default_factory=dict[Any, TorchOp])
    _place: NodeMeta | None = None
    _known: dict[Any, Sequence[Any]] = field(default_factory=dict[Any, Sequence[Any]])

    def copy(
        self, source: GraphOp, given: Sequence[Any], only: Collection[Any] | None = None
    ) -> list[Any]:
        """Copy the ops of a graph; returns its results for arguments, values or numbers.

        Raises Stays.
        """
        bound = bound_symbols(source, given, self.editor.graph)

        def make(op: Any, operands: list[Any]) -> Sequence[Any]:
            if not effects_of(op).pure or subgraphs_of(op):
                return self._copy(source, op, operands, bound)
            key = op, *operands
            if key not in self._known:
                self._known[key] = self._copy(source, op, operands, bound)
            return self._known[key]

        return copied_results(source, given, make, only)

    def call(self, name: str, *arguments: Any) -> SSAValue:
        """The result of another call. Raises Stays if its type is not known."""
        try:
            op = self.editor.build(name, arguments, above=self.above)
        except (NotInferred, NotApplicable) as error:
            raise Stays(f"{name} cannot be applied: {error}") from error
        self.made.append(op)
        return op.results[0]

    def insert(self, results: Sequence[Any]) -> None:
        """Put all ops into the graph that are needed for some results, or draw random numbers."""
        kept: list[TorchOp] = []
        for op in reversed(self.made):
            is_read = any(one.first_use is not None or one in results for one in op.results)
            if not is_read and effects_of(op).pure and not subgraphs_of(op):
                op.erase()
            else:
                kept.append(op)
        self.made[:] = reversed(kept)
        for op in self.made:
            self.editor.insert(op, self.above)

    def discard(self) -> None:
        """Forget all ops; nothing in the graph uses them."""
        for op in reversed(self.made):
            op.erase(safe_erase=False)
        self.made.clear()
        for read in self._reads.values():
            self.editor.graph.new_constants.pop(read.args.data[0][0])
            self.editor.erase(read)
        self._reads.clear()

    def _copy(
        self, source: GraphOp, op: Any, operands: list[Any], bound: Mapping[str, Dim]
    ) -> Sequence[Any]:
        if type(op) is GetAttrOp:
            return [self._constant(source, op)]
        if op.node.origin is not None and op.node.origin.meta.get(_ROUNDS):
            raise Stays(f"{op.name} has to round to 16 bits as eager does")
        types: Sequence[Any] = [renamed(one, bound) for one in op.result_types]
        if types and all(type(one) is SymIntType and type(one.data) is int for one in types):
            return [one.data for one in types]
        if bound and subgraphs_of(op):
            raise Stays(f"the graphs that {op.name} runs are written for other sizes")
        args, values = arguments_for(op, operands, bound)
        aliases = op.aliases
        before = [renamed(one.type, bound) for one in op._operands]
        is_renumbered = aliases is not None and len(values) != len(operands)
        after = [type_of(one) for one in operands]
        shifted = None if is_renumbered else _shifted(op, types, before, after)
        if shifted is None:
            types, aliases = self._inferred(op, args, values)
        else:
            types = shifted
        self._check_symbols(op, [args, *types])
        node = self._node(len(types))
        copy = type(op).make(args, values, types, node, structure=op.structure, aliases=aliases)
        self.made.append(copy)
        return copy.results

    def _inferred(
        self, op: Any, args: ArgsAttr, values: list[SSAValue]
    ) -> tuple[Sequence[Any], AliasAttr | None]:
        try:
            found, _ = infer_call(
                type(op), args, [one.type for one in values], self.editor.env, values
            )
        except (NotInferred, NotApplicable) as error:
            raise Stays(f"{op.name} on an operand of another layout: {error}") from error
        if found.assumed or found.equated or found.fresh:
            raise Stays(f"{op.name} needs a guard for an operand of another layout")
        return found.types, found.aliases

    def _check_symbols(self, op: Any, parts: Sequence[Any]) -> None:
        table = self.editor.graph.symbols.data
        for name in sorted(frozenset().union(*map(symbols_of, parts))):
            if name not in table and name not in table.replacements:
                raise Stays(f"{op.name} makes a size that is known only when it runs")

    def _node(self, results: int) -> NodeMeta:
        """Metadata of an op at the place of the call; what it inherits is read only once."""
        if self._place is None:
            self._place = self.above.node.inherited(())
        made = self._place.renamed(("",) * results)
        textual = dict(self._place.textual or {})
        textual.pop("unbacked_bindings", None)
        vars(made)["textual"] = textual
        return made

    def _constant(self, source: GraphOp, op: GetAttrOp) -> SSAValue:
        """A constant of the graph that is copied, read once."""
        key = id(source), op.path
        read = self._reads.get(key)
        if read is None:
            tensor = constant(source, op)
            if tensor is None:
                raise Stays(f'it reads "{op.path}", which is not known')
            read = self._reads[key] = self.editor.constant(tensor, op.results[0].type, self.above)
        return read.results[0]


def _shifted(
    op: Any, types: Sequence[Any], before: Sequence[Any], after: Sequence[Any]
) -> Sequence[Any] | None:
    """The types of results if operands do but begin elsewhere in their storage, as views then do.

    None if operands differ in more, or the op asks where they begin.
    """
    if before == after:
        return types
    moved: list[Dim] = []
    for old, new in zip(before, after, strict=True):
        if old != new and not (type(old) is type(new) is TensorType and _at(old, 0) == _at(new, 0)):
            return None
        moved.append(0 if old == new else sub(new.offset, old.offset))
    if op.name in _ASK_FOR_OFFSET or op.raw_arguments:
        return None
    found: list[Any] = []
    for type_, fact in zip(types, result_aliases(op), strict=True):
        by = 0 if fact is None else moved[fact[0]]
        if by != 0 and (fact is None or not fact[1] or type(type_) is not TensorType):
            return None
        found.append(type_ if by == 0 else _at(type_, add(type_.offset, by)))
    return found


def _at(type_: TensorType, offset: Dim) -> TensorType:
    return TensorType(type_.data._replace(offset=offset))


def with_own_storage(type_: Any) -> Any:
    """The type of a tensor of the same layout with a storage of its own; any other type itself."""
    return (
        TensorType(type_.data._replace(offset=0, flags=())) if type(type_) is TensorType else type_
    )


def arguments_for(
    op: Any, operands: Sequence[Any], bound: Mapping[str, Dim]
) -> tuple[ArgsAttr, list[SSAValue]]:
    """The arguments of an op for other operands, and those of these that are values."""
    values: list[SSAValue] = []

    def leaf(item: Any) -> Any:
        if type(item) is SymExpr:
            return substitute(item, bound)
        if type(item) is not Ref:
            return item
        operand = operands[item.index]
        if not isinstance(operand, SSAValue):
            return operand
        values.append(operand)
        return Ref(len(values) - 1)

    return ArgsAttr(map_tree(op.args.data, leaf)), values


def bound_symbols(source: GraphOp, given: Sequence[Any], caller: GraphOp) -> dict[str, Dim]:
    """What the symbols of a graph are for some arguments, where they are not the caller's own.

    Raises Stays if the arguments do not tell, or do not fit.
    """
    if len(given) != len(source.arguments):
        raise Stays(f"@{source.sym_name.data} takes another number of arguments")
    pairs = [(one.type, type_of(value)) for one, value in zip(source.arguments, given, strict=True)]
    bound: dict[str, Dim] = {}
    equal: set[str] = set()
    for expected, found in pairs:
        for ours, theirs in zip(_dims(expected), _dims(found), strict=False):
            if type(ours) is SymExpr and ours.head == "symbol":
                bound.setdefault(ours.text, theirs)
            elif type(ours) is SymExpr and ours == theirs:
                equal |= ours.symbols
    is_one_program = source.live is not None and caller.live is not None
    for name in source.symbols.data:
        if name not in bound and name not in equal and not is_one_program:
            raise Stays(f"its arguments do not tell what {name} is")
    facts = facts_of(caller)
    for expected, found in pairs:
        if not _fits(renamed(expected, bound), found, facts):
            raise Stays(f"@{source.sym_name.data} is written for {expected}, and gets {found}")
    return {
        name: dim for name, dim in bound.items() if type(dim) is not SymExpr or dim.text != name
    }


def _fits(expected: Any, found: Any, facts: Any) -> bool:
    """Whether a value has the type of an argument; its strides and offset may be others."""
    if type(expected) is not type(found):
        return False
    if type(expected) is TensorType:
        a, b = expected.data, found.data
        same = (a.dtype, a.device, a.layout, a.subclass) == (
            b.dtype,
            b.device,
            b.layout,
            b.subclass,
        )
        return same and known_equal(a.shape, b.shape, facts)
    if type(expected) is SymIntType:
        return known_equal((expected.expr,), (found.expr,), facts)
    return expected == found


def _dims(type_: Any) -> tuple[Dim, ...]:
    """Where a type may mention symbols."""
    if type(type_) is TensorType:
        return (*type_.shape, *type_.stride, type_.offset)
    return (type_.expr,) if type(type_) is SymIntType else ()


def type_of(value: Any) -> Any:
    """The type of a value or a number. Raises Stays for anything else."""
    if isinstance(value, SSAValue):
        return value.type
    if type(value) is int:
        return SymIntType(value)
    raise Stays(f"{value!r} is passed, which is neither a tensor nor a size")


__all__ = [
    "GraphCopies",
    "bound_symbols",
    "copied_results",
    "returned_leaves",
    "type_of",
    "with_own_storage",
]
