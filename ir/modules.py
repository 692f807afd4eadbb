"""`print_ir`, `parse_ir`, and `same`: the equality that text carries."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.module_parser import parse_text
from xductor.ir.text.context import XductorContext
from xductor.ir.text.printing import (
    Locations,
    default_node_name,
    definitions,
    printing_locations,
    value_names,
)
from xductor.ir.text.resources import resource_section

_PATH = re.compile(r"[^\s\"(]{1,500}\.\w{1,5}")

Names = dict[SSAValue, str]


def print_ir(module: ModuleOp, *, with_constants: bool = False, locations: Locations = True) -> str:
    """The module as text, one op per line; `parse_ir` reads it back.

    Each op has the line of the user's code that it comes from, unless `locations` is False. With
    `locations="aliases"` it has a name for it, `loc(#loc1)`, and the lines stand behind the module.

    With `with_constants`, the tensors that `fx.get_attr` reads are written in a section after the
    module, if they are available. Without it, text only names them.

    Raises:
        TypeError: `module` is no module.
        ValueError: `locations` is none of True, False and "aliases".
    """
    if not isinstance(module, ModuleOp):
        raise TypeError(f"print_ir takes a module (from_fx gives one), not {type(module).__name__}")
    stream = StringIO()
    with printing_locations(locations) as aliases:
        Printer(stream=stream).print_op(module)
    text = stream.getvalue() + "\n" + definitions(aliases)
    return text + resource_section(module) if with_constants else text


def parse_ir(text: str, name: str = "<text>") -> ModuleOp:
    """Parse a module from text.

    Raises:
        ParseError: xDSL's, with file (`name`), line, column and what was expected.
        TypeError: `text` is not a string.
    """
    if not isinstance(text, str):
        raise TypeError(f"parse_ir takes the text of a module, not {type(text).__name__}")
    try:
        return parse_text(XductorContext(), text, name)
    except ParseError as error:
        if _PATH.fullmatch(text):
            error.msg += "; this looks like a path: pass what the file holds, Path(...).read_text()"
        raise


def same(left: ModuleOp, right: ModuleOp) -> bool:
    """Whether two modules agree in everything that text carries.

    That is ops, arguments (bit by bit), types, names, symbol tables, ambient modes, alias facts,
    and the textual metadata, but not live objects or other entries of `meta`.
    """
    ours, theirs = list(left.ops), list(right.ops)
    if len(ours) != len(theirs):
        return False
    return all(_same_graph(a, b) for a, b in zip(ours, theirs, strict=True))


def _same_graph(left: object, right: object) -> bool:
    if not isinstance(left, GraphOp) or not isinstance(right, GraphOp):
        return False
    if left.properties != right.properties:
        return False
    if [a.type for a in left.arguments] != [b.type for b in right.arguments]:
        return False
    ours, theirs = list(left.block.ops), list(right.block.ops)
    if len(ours) != len(theirs):
        return False
    names = value_names(left), value_names(right)
    if [names[0][a] for a in left.arguments] != [names[1][b] for b in right.arguments]:
        return False
    return all(_same_op(a, b, *names) for a, b in zip(ours, theirs, strict=True))


def _same_op(left: object, right: object, ours: Names, theirs: Names) -> bool:
    """Operands are compared by name: names are unique in a graph."""
    if not isinstance(left, TorchOp) or not isinstance(right, TorchOp) or left.name != right.name:
        return False
    if left.properties != right.properties or left.result_types != right.result_types:
        return False
    if [ours.get(value) for value in left.operands] != [
        theirs.get(value) for value in right.operands
    ]:
        return False
    if [ours[value] for value in left.results] != [theirs[value] for value in right.results]:
        return False
    if _node_name(left, ours) != _node_name(right, theirs):
        return False
    return (left.node.text_items(), left.node.location()) == (
        right.node.text_items(),
        right.node.location(),
    )


def _node_name(op: TorchOp, names: Names) -> str:
    return op.node.node or default_node_name(op, names)
