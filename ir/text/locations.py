"""The location of a parsed op in its text: file, line and column, for errors about it."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation


def text_location(file: StringAttr, line: int, column: int) -> FileLineColLoc:
    """`FileLineColLoc(file, IntAttr(line), IntAttr(column))`, made in a tenth of the time.

    Every parsed op has one; the constructors' checks would take a third of the time of parsing.
    """
    numbers: list[Any] = []
    for number in (line, column):
        made: Any = object.__new__(IntAttr)
        vars(made)["data"] = number
        numbers.append(made)
    location: Any = object.__new__(FileLineColLoc)
    vars(location).update(filename=file, line=numbers[0], column=numbers[1])
    return location


def place_in_text(op: Operation) -> tuple[str, int, int] | None:
    """File, line and column of an op that was parsed.

    An op that a pass made has none; the place of the innermost enclosing op is used instead.
    """
    around: Operation | None = op
    while around is not None:
        location = around.location
        if isinstance(location, FileLineColLoc):
            return location.filename.data, location.line.data, location.column.data
        around = around.parent_op()
    return None


__all__ = ["place_in_text", "text_location"]
