"""`print_ir`, `parse_ir`, and `same`: the equality that text carries."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from xductor.ir.context import XductorContext
from xductor.ir.graph import GraphOp
from xductor.ir.operations import TorchOp


def print_ir(module: ModuleOp) -> str:
    """The module as text, one op a line; `parse_ir` reads it back."""
    stream = StringIO()
    Printer(stream=stream).print_op(module)
    return stream.getvalue() + "\n"


def parse_ir(text: str, name: str = "<text>") -> ModuleOp:
    """The module of a text.

    Raises xDSL's ParseError with file (`name`), line, column and what was expected.
    """
    return Parser(XductorContext(), text, name).parse_module()


def same(left: ModuleOp, right: ModuleOp) -> bool:
    """True where two modules agree in all that text carries.

    Ops, arguments (bit by bit), types, names, symbol tables, ambient modes, alias facts, and the
    textual metadata; not live objects or other entries of `meta`.
    """
    ours, theirs = list(left.ops), list(right.ops)
    if len(ours) != len(theirs):
        return False
    return all(_same_graph(a, b) for a, b in zip(ours, theirs, strict=True))


def _same_graph(left: object, right: object) -> bool:
    if not isinstance(left, GraphOp) or not isinstance(right, GraphOp):
        return False
    if left.properties != right.properties or left.argument_names != right.argument_names:
        return False
    if [a.type for a in left.arguments] != [b.type for b in right.arguments]:
        return False
    values: dict[SSAValue, SSAValue] = dict(zip(left.arguments, right.arguments, strict=True))
    ours, theirs = list(left.block.ops), list(right.block.ops)
    return len(ours) == len(theirs) and all(
        _same_op(a, b, values) for a, b in zip(ours, theirs, strict=True)
    )


def _same_op(left: object, right: object, values: dict[SSAValue, SSAValue]) -> bool:
    if not isinstance(left, TorchOp) or not isinstance(right, TorchOp) or left.name != right.name:
        return False
    if left.properties != right.properties or left.result_types != right.result_types:
        return False
    if [values.get(value) for value in left.operands] != list(right.operands):
        return False
    ours, theirs = left.node, right.node
    if ours.names != theirs.names or ours.node != theirs.node:
        return False
    if ours.text_items() != theirs.text_items() or ours.location() != theirs.location():
        return False
    values.update(zip(left.results, right.results, strict=True))
    return True
