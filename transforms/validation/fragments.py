"""What an application replaces and its replacement, as two modules that can be run or printed.

Both take the same arguments: the values that the match reads from outside, and one integer for each
symbol that their ops mention and no argument shows. Both return the match's outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue

from xductor.ir import (
    GetAttrOp,
    GraphOp,
    OutputOp,
    Ref,
    SymExpr,
    SymIntType,
    TensorType,
    TorchOp,
    print_ir,
)
from xductor.ir.dialect.arguments import leaves
from xductor.ir.dialect.graph import raw_args
from xductor.ir.symbolic.expressions import symbol
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.analysis.op_effects import subgraphs_of
from xductor.transforms.rewriting.contracts import kept_ops
from xductor.transforms.rewriting.driver import Application


@dataclass(frozen=True)
class Fragments:
    """One application, cut out of its graph.

    - `matched`, `replacement`: modules whose entry graphs take the same arguments.
    - `outputs`: for each output of the two graphs, the old and the new value in the original graph.
    """

    matched: ModuleOp
    replacement: ModuleOp
    outputs: tuple[tuple[SSAValue, SSAValue], ...]

    def texts(self) -> tuple[str, str]:
        """Both modules as text, as `xductor tv` compares files."""
        return print_ir(self.matched), print_ir(self.replacement)


def fragments_of(application: Application) -> Fragments:
    """The matched fragment and its replacement, cut out of their graph.

    Call it while the application is live: in a listener, before anything is connected. A matched
    value that the replacement goes on using comes with the ops that make it.
    """
    state, match = application.state, application.match
    key = state.order.key
    matched = sorted({op for _, op in match.matched_ops() if type(op) is not GetAttrOp}, key=key)
    pairs = [
        (old, new)
        for old, new in zip(match.outputs, application.new_outputs, strict=True)
        if new is not None
    ]
    before, after = [old for old, _ in pairs], [new for _, new in pairs]
    kept = kept_ops(match, application.made, after)
    replacement = [*[op for op in matched if op in kept], *application.made]
    arguments = list(dict.fromkeys((*_read(matched, before), *_read(replacement, after))))
    names = _names(arguments, match.bindings)
    hidden = _hidden_symbols((*matched, *replacement), arguments)
    cut = _Cut(application.graph, arguments, names, hidden)
    return Fragments(
        cut.module("matched", matched, before),
        cut.module("replacement", replacement, after),
        tuple(pairs),
    )


def _read(ops: Iterable[TorchOp], outputs: list[SSAValue]) -> Iterator[SSAValue]:
    """The values that some ops, or the outputs, read but that these ops do not make."""
    inside = {result for op in ops for result in op.results}
    for value in (*(operand for op in ops for operand in op.operands), *outputs):
        if value not in inside:
            yield value


def _names(arguments: list[SSAValue], bindings: dict[str, Any]) -> list[str]:
    """Names for the arguments: those of the rewrite's variables if they are bound to one."""
    known: dict[SSAValue, str] = {}
    for name, item in bindings.items():
        if isinstance(item, SSAValue):
            known.setdefault(item, name)
        elif isinstance(item, list):
            for place, part in enumerate(item):
                if isinstance(part, SSAValue):
                    known.setdefault(part, f"{name}_{place}")
    taken = set(known.values())
    names: list[str] = []
    for number, value in enumerate(arguments):
        name = known.get(value, f"v{number}")
        while value not in known and name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _hidden_symbols(ops: Iterable[TorchOp], arguments: list[SSAValue]) -> list[str]:
    """Symbols in the ops' constants that are no size, stride or value of an argument."""
    shown: set[str] = set()
    for value in arguments:
        type_: Any = value.type
        dims: tuple[Any, ...] = ()
        if isinstance(type_, TensorType):
            dims = (*type_.shape, *type_.stride)
        elif isinstance(type_, SymIntType):
            dims = (type_.expr,)
        shown |= {dim.text for dim in dims if type(dim) is SymExpr and dim.head == "symbol"}
    used: dict[str, None] = {}
    for op in ops:
        for leaf in leaves(op.args.data):
            if type(leaf) is SymExpr:
                used.update(dict.fromkeys(sorted(leaf.symbols)))
    return [name for name in used if name not in shown]


class _Cut:
    """Makes modules of some of the ops of a graph."""

    def __init__(
        self, graph: GraphOp, arguments: list[SSAValue], names: list[str], hidden: list[str]
    ) -> None:
        self.graph = graph
        self.arguments = arguments
        self.names = (*names, *hidden)
        self.types: list[Attribute] = [value.type for value in arguments]
        self.types += [SymIntType(symbol(name)) for name in hidden]

    def module(self, name: str, ops: list[TorchOp], outputs: list[SSAValue]) -> ModuleOp:
        block = Block(arg_types=self.types)
        mapped: dict[SSAValue, SSAValue] = dict(zip(self.arguments, block.args, strict=False))
        for op in ops:
            block.add_op(op.clone(value_mapper=mapped))
        returned = tuple(Ref(place) for place in range(len(outputs)))
        block.add_op(OutputOp.make(raw_args((returned,)), [mapped[one] for one in outputs], []))
        graph = GraphOp(
            name,
            self.graph.stage.data,
            block,
            self.graph.symbols.data,
            self.graph.ambient.data,
            arguments=self.names,
        )
        return ModuleOp([graph, *self._bodies(ops)])

    def _bodies(self, ops: list[TorchOp]) -> list[GraphOp]:
        """Copies of the graphs that the ops call, directly or through others."""
        module: Any = self.graph.parent_op()
        known = {} if module is None else {one.sym_name.data: one for one in graphs_of(module)}
        found: dict[str, GraphOp] = {}
        pending = [name for op in ops for name in subgraphs_of(op)]
        while pending:
            name = pending.pop(0)
            if name in found or name not in known:
                continue
            found[name] = known[name].clone()
            inner = [op for op in known[name].block.ops if isinstance(op, TorchOp)]
            pending += [one for op in inner for one in subgraphs_of(op)]
        return list(found.values())


__all__ = ["Fragments", "fragments_of"]
