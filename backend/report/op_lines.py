"""The text of graphs in parts, so that a page can show types apart and compare the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from torch.fx import GraphModule
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import GraphOp, TorchOp
from xductor.ir.dialect.results import alias_text
from xductor.ir.text.printing import graph_header, op_arguments, op_name, value_names


@dataclass(frozen=True)
class OpLine:
    """An op of a graph, or the header of a graph, as a line of text.

    - `results`, `op`, `arguments`: `%a`, `aten.neg.default`, `%x`.
    - `types`: those of the results; `facts`: alias facts and nesting of the results.
    - `operands`: the type of each value that the arguments name.
    - `tags`: metadata as text; `location`: file and line of the user's code.

    Lines are equal if they read the same: what is only shown on demand does not count.
    """

    op: str
    results: tuple[str, ...] = ()
    arguments: str = ""
    types: tuple[str, ...] = ()
    facts: str = ""
    operands: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    tags: str = field(default="", compare=False)
    location: tuple[str, int] | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The line without types and metadata."""
        head = f"{', '.join(self.results)} = " if self.results else ""
        return f"{head}{self.op}{' ' if self.arguments else ''}{self.arguments}{self.facts}"


@dataclass(frozen=True)
class GraphText:
    """The graphs of a module, line by line.

    - `problem`: why the lines are those of the FX graph and have no types, if so.
    """

    lines: tuple[OpLine, ...]
    problem: str = ""

    @property
    def ops(self) -> int:
        """How many ops there are."""
        return sum(line.op not in ("fx.graph", "fx.output") for line in self.lines)


def module_lines(module: ModuleOp) -> GraphText:
    """The graphs of a module in order. Raises what printing raises, for a damaged module."""
    return GraphText(
        tuple([line for op in module.ops if isinstance(op, GraphOp) for line in _lines(op)])
    )


def graph_lines(graph: GraphOp) -> GraphText:
    """One graph."""
    return GraphText(tuple(_lines(graph)))


def fx_lines(gm: GraphModule, problem: str) -> GraphText:
    """An FX graph that the IR does not hold, because of `problem`."""
    return GraphText(tuple([OpLine(line.strip()) for line in str(gm.graph).splitlines()]), problem)


def _lines(graph: GraphOp) -> Iterator[OpLine]:
    names = value_names(graph)
    yield OpLine("fx.graph", arguments=graph_header(graph, names).strip())
    if graph.is_declaration:
        return
    for op in graph.block.ops:
        if isinstance(op, TorchOp):
            yield _line(op, names)
        else:
            yield OpLine(str(op))


def _line(op: TorchOp, names: dict[SSAValue, str]) -> OpLine:
    operands = op._operands
    facts = "" if op.aliases is None else f" aliases({alias_text(op.aliases.data)})"
    if op.structure is not None:
        facts += f" as {op.structure.text}"
    return OpLine(
        op_name(op.name),
        tuple([names[result] for result in op.results]),
        op_arguments(op, lambda ref: names[operands[ref.index]]),
        tuple([str(result.type) for result in op.results]),
        facts,
        tuple(dict.fromkeys([(names[value], str(value.type)) for value in operands])),
        ", ".join([f"{key} = {text}" for key, text in op.node.text_items().items()]),
        op.node.location(),
    )


__all__ = ["GraphText", "OpLine", "fx_lines", "graph_lines", "module_lines"]
