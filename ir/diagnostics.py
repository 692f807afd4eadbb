"""The one place that words errors about ops: what, where in the user's code, expected, found."""

from __future__ import annotations

from typing import Any, NoReturn

from xdsl.utils.exceptions import VerifyException

from xductor.ir.arguments import ArgsAttr
from xductor.ir.graph import GraphOp
from xductor.ir.operations import SchemaOp, TorchOp
from xductor.ir.printing import op_tail, value_names


def op_line(op: TorchOp) -> str:
    """The op as the graph's text shows it."""
    graph = op.parent_op()
    if not isinstance(graph, GraphOp):
        return op.name
    if not _well_formed(op):
        return f"{op.name} with args = {op.properties.get('args')}"
    names = value_names(graph)
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
    """An error text: the problem, the op, the user's line, what was expected and found."""
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
    """Raise VerifyException with such a text."""
    raise VerifyException(describe(op, problem, **details))
