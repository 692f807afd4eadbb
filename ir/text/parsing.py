"""Parses our text into xDSL's IR; errors have file, line, column and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xdsl.ir import Block, SSAValue
from xdsl.parser import AttrParser, Parser

from xductor.ir.dialect.arguments import ArgsAttr, Ref, map_tree
from xductor.ir.dialect.graph import OUTPUT_NAME, STAGES, GraphOp, OutputOp
from xductor.ir.dialect.metadata import TEXTUAL_KEYS, NodeMeta
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.dialect.registry import UnknownOp, op_class_by_name
from xductor.ir.dialect.results import LEAF, AliasAttr, StructureAttr, count_leaves
from xductor.ir.dialect.schema import normalise
from xductor.ir.dialect.symbol_attr import Ambient
from xductor.ir.dialect.types import NONE
from xductor.ir.symbolic.symbol_parser import parse_symbol_table
from xductor.ir.symbolic.symbols import SymbolTable
from xductor.ir.text.location_aliases import ALIAS, Location
from xductor.ir.text.quoted_strings import TextError
from xductor.ir.text.resources import GraphConstants, Resources
from xductor.ir.text.scan_within_parser import no_values, scan
from xductor.ir.text.scanner import ElementName, Scanner
from xductor.ir.text.type_text import type_of_text


def parse_type_body(name: str, parser: AttrParser) -> Any:
    """The body of `!fx.tensor<...>`, for xDSL's attribute parser."""

    def read(scanner: Scanner) -> Any:
        if name == "fx.none":
            return NONE.data
        body_at = scanner.position + 1
        return type_of_text(name, scanner.balanced("<", ">"), body_at).data

    return None if name == "fx.none" else scan(parser, read)


def parse_args_body(parser: AttrParser) -> tuple[Any, ...]:
    return scan(parser, args_body)


def args_body(scanner: Scanner) -> tuple[Any, ...]:
    values, scanner.value_of = scanner.value_of, no_values
    scanner.expect("<")
    items = tuple(scanner.items(">"))
    scanner.value_of = values
    return items


def parse_node_body(parser: AttrParser) -> NodeMeta:
    return scan(parser, node_body)


def node_body(scanner: Scanner) -> NodeMeta:
    """`<"a", "b" : "split" {tag = "is_forward"} loc("model.py":7)>`."""
    scanner.expect("<")
    names: list[str] = []
    while scanner.peek() == '"':
        names.append(scanner.string())
        scanner.accept(",")
    node = scanner.string() if scanner.accept(":") else ""
    textual = _attributes(scanner)
    location = _location(scanner)
    scanner.expect(">")
    return _located(scanner, location, NodeMeta(tuple(names), node=node, textual=textual))


def parse_structure_body(parser: AttrParser) -> Any:
    return scan(parser, structure_body)


def structure_body(scanner: Scanner) -> Any:
    scanner.expect("<")
    structure = _structure(scanner)
    scanner.expect(">")
    return structure


def parse_alias_body(parser: AttrParser) -> Any:
    return scan(parser, alias_body)


def alias_body(scanner: Scanner) -> Any:
    scanner.expect("<")
    return _aliases(scanner, ">")


def parse_symbols_body(parser: AttrParser) -> SymbolTable:
    return scan(parser, lambda scanner: _symbol_table(scanner, scanner.balanced("<", ">")))


def parse_ambient_body(parser: AttrParser) -> Ambient:
    return scan(parser, lambda scanner: _ambient(scanner, scanner.balanced("<", ">")))


def _symbol_table(scanner: Scanner, body: str, start: int | None = None) -> SymbolTable:
    text = body if body.strip().startswith("symbols") or not body.strip() else f"symbols({body})"
    try:
        return parse_symbol_table(text)
    except ValueError as error:
        raise scanner.error(str(error), start) from None


def _ambient(scanner: Scanner, body: str, start: int | None = None) -> Ambient:
    try:
        return Ambient.parse(body)
    except ValueError as error:
        raise scanner.error(str(error), start) from None


def _structure(scanner: Scanner) -> Any:
    if scanner.accept(LEAF):
        return LEAF
    scanner.expect("(", "or '*' of a result structure")
    parts: list[Any] = []
    scanner.enter()
    while not scanner.accept(")"):
        parts.append(_structure(scanner))
        if not scanner.accept(","):
            scanner.expect(")")
            break
    scanner.leave()
    return tuple(parts)


def _aliases(scanner: Scanner, closing: str) -> tuple[tuple[int, bool] | None, ...]:
    facts: list[tuple[int, bool] | None] = []
    while not scanner.accept(closing):
        if scanner.accept_word("none"):
            facts.append(None)
        else:
            certain = not scanner.accept_word("may")
            facts.append((scanner.integer("an operand number"), certain))
        if not scanner.accept(","):
            scanner.expect(closing)
            break
    return tuple(facts)


def parse_graph(parser: Parser) -> GraphOp:
    """`fx.graph` after its name, for xDSL's parser."""
    graph = scan(parser, _graph)
    dialect = parser.ctx.get_optional_dialect("fx")
    resources = dialect.get_interface(Resources) if dialect is not None else None
    if resources is not None:  # the section comes after the graphs, so it is read when needed
        graph.constants = GraphConstants(resources, graph.sym_name.data)
    return graph


def _graph(scanner: Scanner) -> GraphOp:
    location = scanner.location()
    name = scanner.symbol_name()
    if name is None:
        raise scanner.error(f"expected the graph's name (@forward), found {scanner.found()}")
    stage, symbols, ambient = _clauses(scanner)
    names, types = _graph_arguments(scanner)
    block = Block(arg_types=types)
    values: dict[str, SSAValue] = dict(zip(names, block.args, strict=True))
    declared = scanner.accept_word("declared")
    if not declared:
        scanner.expect("{", "of the graph's body")
        _body(scanner, block, values)
    graph = GraphOp(name, stage, block, symbols, ambient, arguments=names, declared=declared)
    graph.location = location
    return graph


def _clauses(scanner: Scanner) -> tuple[str, SymbolTable, Ambient]:
    stage, symbols, ambient = "joint", SymbolTable(), Ambient()
    while scanner.peek() != "(":
        start = scanner.position
        word = scanner.word("stage(...), symbols(...), ambient(...) or the graph's arguments")
        body = scanner.balanced("(", ")")
        if word == "stage":
            stage = body.strip()
            if stage not in STAGES:
                raise scanner.error(
                    f"'{stage}' is no stage; expected one of {', '.join(STAGES)}", start
                )
        elif word == "symbols":
            symbols = _symbol_table(scanner, f"symbols({body})", start)
        elif word == "ambient":
            ambient = _ambient(scanner, body, start)
        else:
            raise scanner.error(f"'{word}' is no clause of fx.graph", start)
    return stage, symbols, ambient


def _graph_arguments(scanner: Scanner) -> tuple[list[str], list[Any]]:
    names: list[str] = []
    taken: set[str] = set()
    types: list[Any] = []
    scanner.expect("(")
    while not scanner.accept(")"):
        start = scanner.position
        name = scanner.ssa_name()
        if name is None:
            raise scanner.error(f"expected an argument (%x : type), found {scanner.found()}")
        if name in taken:
            raise scanner.error(f"the name %{name} is taken", start)
        scanner.expect(":")
        names.append(name)
        taken.add(name)
        types.append(scanner.type())
        if not scanner.accept(","):
            scanner.expect(")")
            break
    return names, types


def _body(scanner: Scanner, block: Block, values: dict[str, SSAValue]) -> None:
    def value_of(name: str, position: int) -> SSAValue:
        found = values.get(name)
        if found is None:
            raise TextError(f"value %{name} is used before its definition", position)
        return found

    scanner.value_of = value_of
    while not scanner.accept("}"):
        start = scanner.position
        location = scanner.location()
        names = _result_names(scanner)
        for name in names:
            if name in values:
                raise scanner.error(f"the name %{name} is taken", start)
        op = _op(scanner, names, start)
        op.location = location
        block.add_op(op)
        values.update(zip(names, op.results, strict=True))


def _result_names(scanner: Scanner) -> list[str]:
    names: list[str] = []
    while scanner.peek() == "%":
        name = scanner.ssa_name()
        if name is None:
            raise scanner.error("expected a value's name after '%'")
        names.append(name)
        if not scanner.accept(","):
            scanner.expect("=")
            break
    return names


def _op(scanner: Scanner, names: Sequence[str], start: int) -> TorchOp:
    quoted = scanner.peek() == '"'
    position = scanner.position
    name = scanner.string() if quoted else scanner.word("an op (aten.add.Tensor)")
    try:
        cls = op_class_by_name(name)
    except UnknownOp as error:
        raise scanner.error(str(error), position) from None
    if not issubclass(cls, TorchOp):
        raise scanner.error(f"{name} cannot stand in a graph's body", position)
    if quoted and scanner.text.startswith("(", scanner.position):
        return _generic_op(cls, scanner, names, start)
    return op_of_text(cls, scanner, names, start)


def fx_names(names: Sequence[str]) -> tuple[str, ...]:
    """The FX names of results: none for `%split#1`."""
    return tuple(["" if type(name) is ElementName else name for name in names])


def op_of_text(cls: type[TorchOp], scanner: Scanner, names: Sequence[str], start: int) -> TorchOp:
    """An op from what follows its name; `names` are those of its results."""
    positional, keywords = _call(scanner)
    types = _result_types(scanner)
    if len(types) != len(names):
        raise scanner.error(f"{len(names)} results are named but {len(types)} types given", start)
    aliases = structure = None
    if scanner.accept_word("aliases"):
        scanner.expect("(")
        aliases = AliasAttr(_aliases(scanner, ")"))
    if scanner.accept_word("as"):
        structure = StructureAttr(_structure(scanner))
        if count_leaves(structure.data) != len(types):
            raise scanner.error("the result structure and the number of types differ", start)
    textual = _attributes(scanner)
    location = _location(scanner)
    operands: list[SSAValue] = []
    data = _arguments(cls, positional, keywords, operands, scanner, start)
    for fact in aliases.data if aliases is not None else ():
        if fact is not None and not 0 <= fact[0] < len(operands):
            raise scanner.error(
                f"aliases({fact[0]}): the op has {len(operands)} operands, counted from 0", start
            )
    own_name = textual.pop("node", None)
    node = _located(
        scanner, location, NodeMeta(fx_names(names), node=own_name or "", textual=textual)
    )
    op = cls.make(ArgsAttr(data), operands, types, node, structure=structure, aliases=aliases)
    if own_name is None:
        vars(node)["node"] = told_node_name(op, names)
    return op


def told_node_name(op: TorchOp, names: Sequence[str]) -> str:
    """The name of the call if text leaves it out."""
    if type(op) is OutputOp:
        return OUTPUT_NAME
    return fx_names(names)[0] if len(names) == 1 and not op.tuple_valued else ""


#: Clauses that may follow an op without arguments; `loc = 1` is an argument.
_CLAUSE = re.compile(r"(?:aliases|loc)\s*\(|as\s*[(*]")


def _call(scanner: Scanner) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Positional and keyword arguments, up to the first text that cannot begin one."""
    positional: list[Any] = []
    keywords: list[tuple[str, Any]] = []
    if not _argument_follows(scanner):
        return positional, keywords
    while True:
        name = _keyword(scanner)
        if name is not None:
            keywords.append((name, scanner.argument()))
        else:
            positional.append(scanner.argument())
        if not scanner.accept(","):
            return positional, keywords


def _argument_follows(scanner: Scanner) -> bool:
    """False at the end of an op without arguments: a type, a clause, or the next line."""
    name_end = scanner.position
    char = scanner.peek()
    if char in ("", ":", "}") or "\n" in scanner.text[name_end : scanner.position]:
        return False
    saved = scanner.position
    clause = scanner.match(_CLAUSE) is not None
    scanner.position = saved
    return not clause


def _keyword(scanner: Scanner) -> str | None:
    saved = scanner.position
    scanner.skip()
    char = scanner.peek()
    if char.isalpha() or char == "_":
        name = scanner.word("a name")
        if scanner.accept("=") and scanner.peek() != "=":
            return name
    scanner.position = saved
    return None


def _result_types(scanner: Scanner) -> list[Any]:
    types: list[Any] = []
    if scanner.accept(":"):
        types.append(scanner.type())
        while scanner.accept(","):
            types.append(scanner.type())
    return types


def _attributes(scanner: Scanner) -> dict[str, str]:
    items: dict[str, str] = {}
    before = scanner.position
    if scanner.peek() != "{" or "\n" in scanner.text[before : scanner.position]:
        return items
    scanner.expect("{")
    while not scanner.accept("}"):
        start = scanner.position
        key = scanner.word("a metadata name")
        if key not in TEXTUAL_KEYS:
            raise scanner.error(
                f"'{key}' is no metadata of an op; known: {', '.join(TEXTUAL_KEYS)}", start
            )
        scanner.expect("=")
        items[key] = scanner.string()
        if not scanner.accept(","):
            scanner.expect("}")
            break
    return items


def _location(scanner: Scanner) -> Location | _Alias | None:
    """A line of the user's code, `loc("model.py":3)`, or its name, `loc(#loc1)`."""
    if not scanner.accept_word("loc"):
        return None
    scanner.expect("(")
    scanner.skip()
    start = scanner.position
    alias = scanner.match(ALIAS)
    if alias is not None:
        scanner.expect(")")
        return _Alias(alias.group(), start)
    return _place(scanner)


def _place(scanner: Scanner) -> Location:
    """File and line up to the closing bracket."""
    file = scanner.string("a file name")
    scanner.expect(":")
    line = scanner.integer("a line number")
    scanner.expect(")")
    return file, line


class _Alias(NamedTuple):
    """The name of a line, and where it stands in the text."""

    name: str
    position: int


def _located(scanner: Scanner, location: Location | _Alias | None, node: NodeMeta) -> NodeMeta:
    """Give new metadata its line; a name is remembered, and the line put in later."""
    if isinstance(location, _Alias):
        scanner.aliased.append((location.name, location.position, node))
    elif location is not None:
        held: dict[str, Any] = vars(node)
        held["loc"] = location
    return node


def parse_location_alias(parser: Parser) -> tuple[str, Location, int]:
    """`#loc1 = loc("model.py":3)`: the name, the line, and the position of the name."""

    def read(scanner: Scanner) -> tuple[str, Location, int]:
        scanner.skip()
        start = scanner.position
        name = scanner.match(ALIAS)
        if name is None:
            raise scanner.error(f"expected the name of a location, found {scanner.found()}")
        scanner.expect("=")
        if not scanner.accept_word("loc"):
            raise scanner.error(f"expected loc(...), found {scanner.found()}")
        scanner.expect("(")
        return name.group(), _place(scanner), start

    return scan(parser, read)


def _arguments(
    cls: type[TorchOp],
    positional: list[Any],
    keywords: list[tuple[str, Any]],
    operands: list[SSAValue],
    scanner: Scanner,
    start: int,
) -> tuple[Any, ...]:
    """The op's argument tree; its values are appended to `operands` in order."""

    def leaf(item: Any) -> Any:
        if isinstance(item, SSAValue):
            operands.append(item)
            return Ref(len(operands) - 1)
        return item

    if not issubclass(cls, SchemaOp):
        first = map_tree(tuple(positional), leaf)
        return first, tuple((name, map_tree(item, leaf)) for name, item in keywords)
    table = cls.table
    if len(positional) > table.positional:
        raise scanner.error(
            f"{cls.name} takes {table.positional} positional arguments, {len(positional)} given",
            start,
        )
    given: dict[str, Any] = {}
    for param, item in zip(table.params, positional, strict=False):
        given[param.name] = item
    for name, item in keywords:
        if name not in table.index:
            known = ", ".join(table.index)
            raise scanner.error(f"{cls.name} has no argument '{name}'; it has: {known}", start)
        if name in given:
            raise scanner.error(f"argument '{name}' of {cls.name} is given twice", start)
        given[name] = item
    data: list[Any] = []
    for position, param in enumerate(table.params):
        if param.name in given:
            data.append(map_tree(normalise(param, given[param.name]), leaf))
        elif param.has_default:
            data.append(table.defaults[position])
        else:
            raise scanner.error(f"{cls.name} needs its argument '{param.name}'", start)
    return tuple(data)


def parse_lone_op(cls: type[TorchOp], parser: Any) -> TorchOp:
    """An op outside of an `fx.graph`; its operands are values known to xDSL's parser."""

    def value_of(name: str, position: int) -> SSAValue:
        found = parser.ssa_values.get(name)
        if not found:
            raise TextError(f"value %{name} is used before its definition", position)
        return found[0]

    def read(scanner: Scanner) -> TorchOp:
        line_start = scanner.text.rfind("\n", 0, scanner.position) + 1
        head = Scanner(scanner.text, line_start, value_of)
        names = _result_names(head) if head.peek() == "%" else []
        return op_of_text(cls, scanner, names, line_start)

    return scan(parser, read, value_of)


_GENERIC: dict[str, Callable[[Scanner], Any]] = {
    "args": lambda scanner: ArgsAttr(args_body(scanner)),
    "structure": lambda scanner: StructureAttr(structure_body(scanner)),
    "aliases": lambda scanner: AliasAttr(alias_body(scanner)),
    "node": lambda scanner: node_body(scanner),
}


def _generic_op(cls: type[TorchOp], scanner: Scanner, names: Sequence[str], start: int) -> TorchOp:
    """An op in MLIR's generic format, from after its quoted name.

    `%y = "aten.neg.default"(%x) <{args = ...}> : ...`
    """
    scanner.expect("(")
    operands = scanner.items(")")
    found = _generic_entries(scanner, "<{", "}>") | _generic_entries(scanner, "{", "}")
    if "args" not in found:
        raise scanner.error(f"expected <{{args = #fx.args<...>}}> of {cls.name}", start)
    if found["args"].refs != len(operands):
        count = found["args"].refs
        raise scanner.error(
            f"the arguments refer to {count} operands, {len(operands)} given", start
        )
    scanner.expect(":", "before the op's type")
    taken = _type_list(scanner)
    scanner.expect("->")
    types = _type_list(scanner)
    if taken != [operand.type for operand in operands]:
        raise scanner.error(
            f"the types of {cls.name}'s operands are not those of its values", start
        )
    if len(types) != len(names):
        raise scanner.error(f"{len(names)} results are named but {len(types)} types given", start)
    node = found.get("node")
    if node is None or len(node.names) != len(names):
        node = NodeMeta(fx_names(names), textual={})
    op = cls.make(
        found["args"],
        operands,
        types,
        node,
        structure=found.get("structure"),
        aliases=found.get("aliases"),
    )
    if found.get("node") is not node:
        vars(node)["node"] = told_node_name(op, names)
    return op


def _generic_entries(scanner: Scanner, opening: str, closing: str) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    if not scanner.accept(opening):
        return entries
    while not scanner.accept(closing):
        start = scanner.position
        key = scanner.string() if scanner.peek() == '"' else scanner.word("an attribute's name")
        scanner.expect("=")
        reader = _GENERIC.get(key)
        if reader is None:
            raise scanner.error(
                f"'{key}' is no attribute of an op; known: {', '.join(_GENERIC)}", start
            )
        scanner.expect("#", f"of #fx.{key}<...>")
        position = scanner.position
        word = scanner.word("an attribute")
        if word != f"fx.{key}":
            raise scanner.error(f"expected #fx.{key}<...>, found '#{word}'", position)
        entries[key] = reader(scanner)
        if not scanner.accept(","):
            scanner.expect(closing)
            break
    return entries


def _type_list(scanner: Scanner) -> list[Any]:
    """`type`, or `(type, type)`."""
    if not scanner.accept("("):
        return [scanner.type()]
    types: list[Any] = []
    while not scanner.accept(")"):
        types.append(scanner.type())
        if not scanner.accept(","):
            scanner.expect(")")
            break
    return types


__all__ = ["parse_graph", "parse_location_alias", "parse_lone_op"]
