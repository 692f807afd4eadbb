"""The graphs of a compile as the data that a page's script draws them from.

A line that stands in many graphs is stored once, and graphs are ranges of line numbers: what a page
weighs depends on what changed.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from typing import Any

from xductor.backend.report.compile_data import StageData, StepData
from xductor.backend.report.op_lines import OpLine
from xductor.backend.report.side_by_side import Differs, Marks


class PageData:
    """Lines, types and places by number, in the order in which they were first met."""

    def __init__(self) -> None:
        self._lines: dict[Any, int] = {}
        self._types: dict[str, int] = {}
        self._places: dict[tuple[str, int], int] = {}
        self._rows: list[list[Any]] = []
        self.diffs: dict[str, dict[str, Any]] = {}

    def add_diff(self, name: str, of: StageData | StepData) -> None:
        """Add the graphs before and after a stage or a step under a name, if there are both."""
        before, after = of.before, of.after
        if before is None or after is None:
            return
        if bool(before.problem) != bool(after.problem):
            problem = before.problem or after.problem
            self.diffs[name] = {"problem": f"One of the two graphs is not in the IR: {problem}"}
            return
        numbers = [[self._line(line) for line in text.lines] for text in (before, after)]
        rows: list[Any] = []
        for row in of.rows:
            if isinstance(row, Differs):
                pair = [
                    -1 if place is None else side[place]
                    for place, side in zip((row.left, row.right), numbers, strict=True)
                ]
                marks = [_flat(row.left_marks), _flat(row.right_marks)]
                rows.append([0, row.left, row.right, *pair, *(marks if any(marks) else ())])
            else:
                run = numbers[1][row.right : row.right + row.count]
                rows.append([row.count, row.left, row.right, *ranges(run)])
        self.diffs[name] = {"rows": rows, "problem": before.problem}

    def content(self) -> dict[str, Any]:
        """All of it as lists, text and numbers."""
        return {
            "lines": self._rows,
            "types": list(self._types),
            "places": [[file, line, source_line(file, line)] for file, line in self._places],
            "diffs": self.diffs,
        }

    def _line(self, line: OpLine) -> int:
        key = (line, line.operands, line.tags, line.location)
        number = self._lines.get(key)
        if number is None:
            number = self._lines[key] = len(self._lines)
            place = -1 if line.location is None else _number(self._places, line.location)
            self._rows.append(
                [
                    ", ".join(line.results),
                    line.op,
                    line.arguments,
                    line.facts,
                    [_number(self._types, text) for text in line.types],
                    [[name, _number(self._types, text)] for name, text in line.operands],
                    line.tags,
                    place,
                ]
            )
        return number


def ranges(numbers: Iterable[int]) -> list[int]:
    """Ascending runs of numbers as their firsts and lengths: 4, 5, 6, 9 as 4, 3, 9, 1."""
    found: list[int] = []
    for number in numbers:
        if found and number == found[-2] + found[-1]:
            found[-1] += 1
        else:
            found += [number, 1]
    return found


def source_line(file: str, line: int) -> str:
    """A line of source; empty if it cannot be read."""
    return linecache.getline(file, line).rstrip()


def _number(table: dict[Any, int], key: Any) -> int:
    return table.setdefault(key, len(table))


def _flat(marks: Marks) -> Sequence[int]:
    return [end for mark in marks for end in mark]


__all__ = ["PageData", "ranges", "source_line"]
