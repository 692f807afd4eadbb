"""The text of graphs: one op per line, SSA names as in FX, complete and stable."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import torch
from xdsl.ir import SSAValue

from xductor.ir.dialect.arguments import (
    ArgsAttr,
    DictArg,
    FunctionArg,
    Handle,
    ListArg,
    Pack,
    Ref,
    SizeArg,
    SliceArg,
    SymbolRef,
    float_bits,
)
from xductor.ir.dialect.dtypes import TEXT_OF_DTYPE
from xductor.ir.dialect.graph import OUTPUT_NAME, GraphOp, OutputOp
from xductor.ir.dialect.metadata import NodeMeta
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.dialect.results import alias_text
from xductor.ir.dialect.types import VALUE_TYPES
from xductor.ir.symbolic.expressions import SymExpr
from xductor.ir.text.location_aliases import AliasTable
from xductor.ir.text.resources import keys_in_text

RefText = Callable[[Ref], str]

_QUIET_NAN = float_bits(float("nan"))

_PLAIN_NAME = re.compile(r"[A-Za-z_$.-][\w$.-]*|[0-9]+")
_PLAIN_OP = re.compile(r"[A-Za-z_][\w.$]*")
_PLAIN_SYMBOL = re.compile(r"[A-Za-z_][\w$.]*")


def quoted(text: str) -> str:
    """A string constant that preserves every character."""
    return json.dumps(text)


def ssa(name: str) -> str:
    """A value's name in text; names that are not identifiers are quoted."""
    return f"%{name}" if _PLAIN_NAME.fullmatch(name) else f"%{quoted(name)}"


def symbol(name: str) -> str:
    """A symbol's name in text: `@forward`, `@"odd name"`."""
    if _PLAIN_SYMBOL.fullmatch(name):
        return f"@{name}"
    return (
        f"@{json.dumps(name, ensure_ascii=False)}"  # xDSL, which also reads it, has no \u escapes
    )


def op_name(name: str) -> str:
    """An op's name in text; the path of a submodule may need quotes."""
    return name if _PLAIN_OP.fullmatch(name) else quoted(name)


def float_text(value: float) -> str:
    """A float that parses to the same bits; an unusual NaN is written by its bits."""
    if value == value or float_bits(value) == _QUIET_NAN:
        return repr(value)
    return f"float<{float_bits(value) & 0xFFFF_FFFF_FFFF_FFFF:#x}>"


def constant_text(item: Any, ref_text: RefText) -> str:
    """An argument tree as text; `ref_text` names the values."""
    kind = type(item)
    if kind is Ref:
        return ref_text(item)
    if item is None:
        return "none"
    if kind is bool:
        return "true" if item else "false"
    if kind is int:
        return str(item)
    printer = _CONSTANTS.get(kind)
    if printer is not None:
        return printer(item)
    brackets = _BRACKETS.get(kind)
    if brackets is not None:
        opening, closing = brackets
        inner = ", ".join([constant_text(element, ref_text) for element in item])
        if kind is tuple and len(item) == 1:
            inner += ","
        return f"{opening}{inner}{closing}"
    if kind is DictArg:
        pairs = [
            f"{constant_text(key, ref_text)}: {constant_text(value, ref_text)}"
            for key, value in item
        ]
        return "{" + ", ".join(pairs) + "}"
    raise TypeError(f"{item!r} ({kind.__name__}) cannot stand among an op's arguments")


_BRACKETS: dict[type, tuple[str, str]] = {
    tuple: ("(", ")"),
    ListArg: ("[", "]"),
    SizeArg: ("size(", ")"),
    Pack: ("pack(", ")"),
    SliceArg: ("slice(", ")"),
}

_CONSTANTS: dict[type, Callable[[Any], str]] = {
    float: float_text,
    complex: lambda value: f"complex({float_text(value.real)}, {float_text(value.imag)})",
    str: quoted,
    type(...): lambda _: "...",
    torch.dtype: lambda value: TEXT_OF_DTYPE[value],
    torch.device: lambda value: f"device<{value}>",
    torch.layout: lambda value: f"layout<{str(value).removeprefix('torch.')}>",
    torch.memory_format: lambda value: f"memory_format<{str(value).removeprefix('torch.')}>",
    range: lambda value: f"range({value.start}, {value.stop}, {value.step})",
    SymExpr: lambda value: f"sym<{value.text}>",
    SymbolRef: lambda value: symbol(value.name),
    FunctionArg: lambda value: f"fn<{value.name}>",
    Handle: lambda value: f"opaque<{value.kind}, {quoted(value.ident)}>",
}


def schema_arguments(op: SchemaOp, args: ArgsAttr, ref_text: RefText) -> str:
    """Arguments in schema order, without trailing ones at their defaults."""
    table, data = op.table, args.data
    last = 0
    keywords: list[str] = []
    for position, param in enumerate(table.params):
        at_default = param.has_default and _same(data[position], table.defaults[position])
        if at_default:
            continue
        if param.kwarg_only:
            keywords.append(f"{param.name} = {constant_text(data[position], ref_text)}")
        else:
            last = position + 1
    parts = [constant_text(item, ref_text) for item in data[:last]]
    return ", ".join(parts + keywords)


def _same(item: Any, default: Any) -> bool:
    if item is default:
        return True
    if type(item) is not type(default):
        return False
    if isinstance(item, tuple):
        return len(item) == len(default) and all(map(_same, item, default))
    return item == default and repr(item) == repr(default)


def raw_arguments(args: ArgsAttr, ref_text: RefText) -> str:
    """Positional and keyword arguments as in the graph."""
    positional, keywords = args.data
    parts = [constant_text(item, ref_text) for item in positional]
    parts += [f"{name} = {constant_text(item, ref_text)}" for name, item in keywords]
    return ", ".join(parts)


def op_arguments(op: TorchOp, ref_text: RefText) -> str:
    if isinstance(op, SchemaOp):
        return schema_arguments(op, op.args, ref_text)
    return raw_arguments(op.args, ref_text)


def op_tail(op: TorchOp, names: dict[SSAValue, str], *, locations: bool = True) -> str:
    """The text after an op's name: arguments, result types, facts, metadata, location."""
    operands = op._operands
    text = op_arguments(op, lambda ref: names[operands[ref.index]])
    if text:
        text = f" {text}"
    if op.results:
        text += " : " + ", ".join([_type_text(result._type) for result in op.results])
    if op.aliases is not None:
        text += f" aliases({alias_text(op.aliases.data)})"
    if op.structure is not None:
        text += f" as {op.structure.text}"
    node = op.node
    items = node.text_items()
    if node.node and node.node != default_node_name(op, names):
        items = {"node": node.node, **items}
    return text + _items_text(items) + (_location_text(node) if locations else "")


def _type_text(type_: Any) -> str:
    """A type in text; an op in an error message may have a type of another dialect."""
    return type_.text if isinstance(type_, VALUE_TYPES) else str(type_)


def default_node_name(op: TorchOp, names: dict[SSAValue, str]) -> str:
    """The name of a call that text leaves out: the name of its value, if it has one value."""
    if type(op) is OutputOp:
        return OUTPUT_NAME
    if len(op.results) != 1 or op.tuple_valued:
        return ""
    name = names[op.results[0]][1:]
    return json.loads(name) if name.startswith('"') else name


def node_text(node: NodeMeta) -> str:
    """A node's metadata in the generic format: `"a", "b" : "split" {tag = "x"} loc(...)`."""
    text = ", ".join(quoted(name) for name in node.names)
    if node.node:
        text += f" : {quoted(node.node)}"
    return text + _items_text(node.text_items()) + _location_text(node)


def _items_text(items: dict[str, str]) -> str:
    pairs = ", ".join(f"{key} = {quoted(value)}" for key, value in items.items())
    return f" {{{pairs}}}" if pairs else ""


#: Whether text has the lines of the user's code: none, each in its place, or by a name.
Locations = bool | Literal["aliases"]

_locations: ContextVar[bool | AliasTable] = ContextVar("xductor_print_locations", default=True)


@contextmanager
def printing_locations(wanted: Locations) -> Iterator[AliasTable]:
    """Whether what is printed inside the block has the lines of the user's code.

    With `"aliases"` the text needs the `definitions` of the table as well. Raises ValueError for
    what is none of True, False and "aliases".
    """
    if not isinstance(wanted, bool) and wanted != "aliases":
        raise ValueError(f"locations is {wanted!r}; expected True, False or 'aliases'")
    aliases = AliasTable()
    token = _locations.set(aliases if wanted == "aliases" else wanted)
    try:
        yield aliases
    finally:
        _locations.reset(token)


def definitions(aliases: AliasTable) -> str:
    """The lines that say what the names stand for, to be put behind a module."""
    named = aliases.names.items()
    return "".join([f"{name} = loc({_place_text(place)})\n" for place, name in named])


def _location_text(node: NodeMeta) -> str:
    how = _locations.get()
    location = node.location() if how is not False else None
    if location is None:
        return ""
    text = how.name(location) if isinstance(how, AliasTable) else _place_text(location)
    return f" loc({text})"


def _place_text(location: tuple[str, int]) -> str:
    return f"{quoted(location[0])}:{location[1]}"


def value_names(graph: GraphOp) -> dict[SSAValue, str]:
    """The printed name of every value of a graph: FX's if there is one, else a fresh one.

    An element of a tuple without a `getitem` prints as `%split#1`. It stays without a name when
    parsed, so that raising makes no `getitem` for it.
    """
    names: dict[SSAValue, str] = {}
    taken: set[str] = set()
    calls: set[str] = set()
    unnamed: list[tuple[SSAValue, str]] = []

    def give(value: SSAValue, name: str, base: str) -> None:
        if name and name not in taken:
            taken.add(name)
            names[value] = ssa(name)
        else:
            unnamed.append((value, base))

    for argument, name in zip(graph.arguments, graph.argument_names, strict=True):
        give(argument, name, "arg")
    for op in graph.block.ops:
        if not op.results:
            continue
        node = op.node if isinstance(op, TorchOp) else None
        known = node.names if node is not None else ()
        base = (
            (node.node if node is not None else "")
            or op.name.rpartition(".")[0].rpartition(".")[2]
            or "v"
        )
        if len(op.results) == 1 and not (isinstance(op, TorchOp) and op.tuple_valued):
            give(op.results[0], known[0] if known else "", base)
            continue
        call = ""
        for index, result in enumerate(op.results):
            name = known[index] if index < len(known) else ""
            if name and name not in taken:
                give(result, name, base)
                continue
            call = call or _fresh(base, calls)
            names[result] = f"{ssa(call)}#{index}"
    for value, base in unnamed:
        names[value] = ssa(_fresh(base, taken))
    return names


def _fresh(base: str, taken: set[str]) -> str:
    """The name, with a number appended if it is taken; the result is added to `taken`."""
    name, count = base, 0
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name


def graph_header(graph: GraphOp, names: dict[SSAValue, str]) -> str:
    """`@forward stage(joint) symbols(...) (%x : type)`."""
    text = f" {symbol(graph.sym_name.data)} stage({graph.stage.data})"
    symbols = graph.symbols.data
    if symbols or symbols.replacements:
        text += f" {symbols.text}"
    ambient = graph.ambient.data.text
    if ambient:
        text += f" ambient({ambient})"
    block: Any = graph.block
    arguments = ", ".join(f"{names[argument]} : {argument._type.text}" for argument in block.args)
    return f"{text} ({arguments})"


def print_graph(graph: GraphOp, printer: Any) -> None:
    """A graph in our own format, for xDSL's printer."""
    names = value_names(graph)
    printer._ssa_values.update({value: name[1:] for value, name in names.items()})
    printer.print_string(graph_header(graph, names))
    if graph.is_declaration:
        printer.print_string(" declared")
        return
    printer.print_string(" {")
    messages = printer.diagnostic.op_messages
    with printer.indented():
        for op in graph.block.ops:
            printer._print_new_line()
            if not isinstance(op, TorchOp):
                printer.print_op(op)
                continue
            start = printer._current_column
            results = ", ".join([names[result] for result in op.results])
            head = f"{results} = {op_name(op.name)}" if results else op_name(op.name)
            printer.print_string(head)
            for message in messages.get(op, ()):
                printer._add_message_on_next_line(message, start, start + len(head))
            printer.print_string(op_tail(op, names))
    printer._print_new_line()
    printer.print_string("}")
    if graph.constants is not None:
        # xDSL's tools print only mentioned resources, and the op's text does not mention ours.
        printer._dialect_resources.setdefault("fx", set()).update(keys_in_text(graph))


def print_lone_op(op: TorchOp, printer: Any) -> None:
    """An op outside of its graph's text, as in an error message."""
    parent = op.parent_op()
    names = dict(value_names(parent)) if isinstance(parent, GraphOp) else {}
    for value in (*op.operands, *op.results):
        if value not in names:
            known = printer._ssa_values.get(value)
            names[value] = ssa(known) if known is not None else _detached_name(value)
    printer.print_string(op_tail(op, names))


def _detached_name(value: SSAValue) -> str:
    owner = value.owner
    if isinstance(owner, TorchOp):
        node, index = owner.node, owner.results.index(value)
        if index < len(node.names) and node.names[index]:
            return ssa(node.names[index])
    return ssa(value.name_hint or "unnamed")
