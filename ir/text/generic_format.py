"""Ops of a graph in MLIR's generic format: `%y = "aten.neg.default"(%x) <{args = ...}> : ...`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xductor.ir.dialect.arguments import ArgsAttr
from xductor.ir.dialect.metadata import NodeMeta
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.dialect.results import AliasAttr, StructureAttr
from xductor.ir.text.parsing import (
    alias_body,
    args_body,
    fx_names,
    node_body,
    structure_body,
    told_node_name,
)
from xductor.ir.text.scanner import Scanner

_GENERIC: dict[str, Callable[[Scanner], Any]] = {
    "args": lambda scanner: ArgsAttr(args_body(scanner)),
    "structure": lambda scanner: StructureAttr(structure_body(scanner)),
    "aliases": lambda scanner: AliasAttr(alias_body(scanner)),
    "node": lambda scanner: node_body(scanner),
}


def generic_op(cls: type[TorchOp], scanner: Scanner, names: Sequence[str], start: int) -> TorchOp:
    """An op of a graph in MLIR's generic format, from behind its quoted name."""
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
