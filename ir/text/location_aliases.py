"""Names for the lines of the user's code in a text, as MLIR has them: `loc(#loc1)`.

Each line is written once, behind the module: `#loc1 = loc("model.py":3)`. Who reads a text meets
the names before the lines, so these are put in at the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from xductor.ir.dialect.metadata import NodeMeta
from xductor.ir.text.quoted_strings import TextError

Location = tuple[str, int]

#: The name of an alias, in a definition and in `loc(...)`.
ALIAS = re.compile(r"#[A-Za-z_][\w$.]*+")
#: The beginning of a definition. Other aliases, of attributes, are xDSL's own.
DEFINITION = re.compile(r"#[A-Za-z_][\w$.]*+[ \t]*+=\s*+loc\b")


@dataclass
class AliasTable:
    """The names that a text gives to lines, in the order of their first use."""

    names: dict[Location, str] = field(default_factory=dict[Location, str])

    def name(self, location: Location) -> str:
        """The name of a line; a new one for a line that has none."""
        return self.names.setdefault(location, f"#loc{len(self.names) + 1}")


@dataclass
class ReadAliases:
    """What a text says of aliases: their lines, and who uses them at which position."""

    lines: dict[str, Location] = field(default_factory=dict[str, Location])
    uses: list[tuple[str, int, NodeMeta]] = field(default_factory=list[tuple[str, int, NodeMeta]])

    def define(self, name: str, location: Location, position: int) -> None:
        """Add a definition. Raises TextError for a name that has one."""
        if name in self.lines:
            raise TextError(f"the location {name} is defined twice", position)
        self.lines[name] = location

    def resolve(self) -> None:
        """Give the users their lines. Raises TextError for a name without a definition."""
        for name, position, node in self.uses:
            if name not in self.lines:
                wanted = f'expected a line {name} = loc("file.py":1) outside of the graphs'
                raise TextError(f"the location {name} is not defined; {wanted}", position)
            held: dict[str, Any] = vars(node)
            held["loc"] = self.lines[name]


__all__ = ["ALIAS", "DEFINITION", "AliasTable", "Location", "ReadAliases"]
