"""Texts of errors about ops: what is wrong, where in the user's code, expected, found.

The errors are `OpError`s; an error about an op from a file begins with file, line and column.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xductor.ir.dialect.arguments import ArgsAttr
from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.text.locations import place_in_text
from xductor.ir.text.printing import op_tail, value_names

Names = dict[SSAValue, str]


class OpError(VerifyException):
    """An op or a graph is wrong.

    - `problem`: what is wrong, without names of nodes, so it is the same for the same mistake.
    - `place`: file, line and column of the op in the text from which it was parsed, if any.
    - `description`: the whole message, without the place.
    """

    def __init__(self, op: Operation, problem: str, description: str) -> None:
        self.problem = f"{op.name}: {problem}"
        self.place = place_in_text(op)
        self.description = description
        super().__init__(self._leading_place() + description)

    def _leading_place(self) -> str:
        if self.place is None:
            return ""
        file, line, column = self.place
        return f"{file}:{line}:{column}: "


_names: ContextVar[dict[GraphOp, Names] | None] = ContextVar("xductor_kept_names", default=None)


@contextmanager
def keeping_names() -> Iterator[None]:
    """Find the names of a graph's values once for all lines inside the block.

    A line of an op that was made meanwhile is found anew.
    """
    token = _names.set({})
    try:
        yield
    finally:
        _names.reset(token)


def _names_around(op: TorchOp, graph: GraphOp) -> Names:
    kept = _names.get()
    if kept is None:
        return value_names(graph)
    names = kept.get(graph)
    if names is None or any(value not in names for value in (*op.operands, *op.results)):
        names = kept[graph] = value_names(graph)
    return names


def op_line(op: TorchOp) -> str:
    """The op as in the graph's text."""
    graph = op.parent_op()
    if not isinstance(graph, GraphOp):
        return op.name
    if not _well_formed(op):
        return f"{op.name} with args = {op.properties.get('args')}"
    names = _names_around(op, graph)
    for operand in op.operands:
        names.setdefault(operand, "%<not of this graph>")
    results = ", ".join(names[result] for result in op.results)
    return f"{results} = {op.name}{op_tail(op, names, locations=False)}".removeprefix(" = ")


def _well_formed(op: TorchOp) -> bool:
    """Whether the arguments have the form that our format prints."""
    args = op.properties.get("args")
    if type(args) is not ArgsAttr or args.refs != len(op.operands):
        return False
    return len(args.data) == (len(op.table.params) if isinstance(op, SchemaOp) else 2)


def describe(
    op: TorchOp, problem: str, *, expected: str = "", found: str = "", hint: str = ""
) -> str:
    """An error message: the problem, the op, the user's line, what was expected and found."""
    node = op.node
    label = node.node or next(iter(node.names), "")
    lines = [f"{op.name}{f' (node {label})' if label else ''}: {problem}"]
    if expected:
        lines.append(f"  expected: {expected}")
    if found:
        lines.append(f"  found:    {found}")
    lines.append(f"  op:       {op_line(op)}")
    location = node.location()
    if location is not None:
        lines.append(f"  user code: {location[0]}:{location[1]}")
    if hint:
        lines.append(f"  {hint}")
    return "\n".join(lines)


def fail(op: TorchOp, problem: str, **details: Any) -> NoReturn:
    """Raise a VerifyException with the message of `describe`."""
    raise OpError(op, problem, describe(op, problem, **details))


def fail_graph(graph: GraphOp, problem: str) -> NoReturn:
    """Raise a VerifyException about a graph as a whole; `problem` begins with a verb."""
    raise OpError(graph, problem, f"fx.graph @{graph.sym_name.data} {problem}")
