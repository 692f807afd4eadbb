"""The symbol table and the ambient modes of a graph, as attributes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xductor.ir.symbolic.symbols import SymbolTable


class SymbolTableAttr(Data[SymbolTable]):
    """The symbols in a graph's types, with assumptions, range, hint and source."""

    name = "fx.symbols"

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.text}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SymbolTable:
        from xductor.ir.text.parsing import parse_symbols_body

        return parse_symbols_body(parser)


@dataclass(frozen=True, slots=True)
class Ambient:
    """Modes that were active when a graph was captured, and on which its ops depend.

    `autocast` lists (device type, dtype name) pairs; None in a field means PyTorch's default.
    """

    autocast: tuple[tuple[str, str], ...] = ()
    grad: bool | None = None
    inference: bool | None = None
    deterministic: bool | None = None
    default_dtype: str | None = None
    default_device: str | None = None

    @property
    def text(self) -> str:
        """`autocast cpu bf16, grad false`; empty for PyTorch's defaults."""
        parts = [f"autocast {device} {dtype}" for device, dtype in self.autocast]
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value is not None:
                shown = str(value).lower() if isinstance(value, bool) else value
                parts.append(f"{field.name} {shown}")
        return ", ".join(parts)

    @classmethod
    def parse(cls, text: str) -> Ambient:
        """Parse modes from text. Raises ValueError for an unknown word."""
        autocast: list[tuple[str, str]] = []
        values: dict[str, Any] = {}
        names = {field.name for field in fields(cls)}
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            word, *rest = part.split()
            if word == "autocast" and len(rest) == 2:
                autocast.append((rest[0], rest[1]))
            elif word in names and word != "autocast" and len(rest) == 1:
                values[word] = {"true": True, "false": False}.get(rest[0], rest[0])
            else:
                raise ValueError(f"'{part}' is no ambient mode; expected one of {sorted(names)}")
        return cls(tuple(autocast), **values)


class AmbientAttr(Data[Ambient]):
    """The ambient modes of a graph."""

    name = "fx.ambient"

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.text}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Ambient:
        from xductor.ir.text.parsing import parse_ambient_body

        return parse_ambient_body(parser)
