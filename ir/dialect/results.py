"""How an op's results relate to the call's Python value and to the storages of its operands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

LEAF = "*"
#: `"*"` for one value, or a tuple of structures.
Structure = Any


class StructureAttr(Data[Structure]):
    """The nesting of a tuple-valued call, `(*, (*, *))`; its leaves are the results in order."""

    name = "fx.structure"

    @property
    def text(self) -> str:
        return structure_text(self.data)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Structure:
        from xductor.ir.text.parsing import parse_structure_body

        return parse_structure_body(parser)


def structure_text(structure: Structure) -> str:
    if structure == LEAF:
        return LEAF
    inner = ", ".join(structure_text(part) for part in structure)
    return f"({inner},)" if len(structure) == 1 else f"({inner})"


def flat_structure(count: int) -> StructureAttr:
    """A tuple of `count` values."""
    return StructureAttr((LEAF,) * count)


def count_leaves(structure: Structure) -> int:
    return 1 if structure == LEAF else sum(count_leaves(part) for part in structure)


def leaf_paths(structure: Structure, prefix: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The `getitem` indices that lead to each leaf, in result order."""
    if structure == LEAF:
        yield prefix
        return
    for index, part in enumerate(structure):
        yield from leaf_paths(part, (*prefix, index))


class AliasAttr(Data[tuple[tuple[int, bool] | None, ...]]):
    """For each result, the operand whose storage it shares: `(operand, certain)`, or None.

    It is used only if the schema does not say this. Certain facts were read from the storages of
    the values when the graph was lowered.
    """

    name = "fx.aliases"

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{alias_text(self.data)}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        from xductor.ir.text.parsing import parse_alias_body

        return parse_alias_body(parser)


@cache
def alias_of_one(operand: int) -> AliasAttr:
    """That a call's one result shares the storage of an operand."""
    return AliasAttr(((operand, True),))


def alias_text(facts: tuple[tuple[int, bool] | None, ...]) -> str:
    """`0, none, may 1`: an operand number for each result."""
    return ", ".join(
        "none" if fact is None else f"{'' if fact[1] else 'may '}{fact[0]}" for fact in facts
    )
