"""Turns what a RUN line prints into FileCheck lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_GRAPH = re.compile(r"^\s*fx\.graph (@(?:[\w.$]+|\"[^\"]*\")) (stage\(\w+\))(.*)$")
_VALUE = re.compile(r"%(?:[\w$.-]+|\"(?:[^\"\\]|\\.)*\")(?:#\d+)?")
_PLACE = re.compile(r"(\.mlir):\d+:\d+")
_SPLIT = re.compile(r"^// -----\s*$", re.MULTILINE)


@dataclass
class Graph:
    """The text of one `fx.graph`: its name, its head line and the lines of its body."""

    name: str
    head: str
    line: int
    body: list[str] = field(default_factory=list[str])


@dataclass
class Chunk:
    """A piece of a text between `// -----` lines: its graphs, and the other lines that matter."""

    first_line: int
    last_line: int
    graphs: list[Graph]
    rest: list[str]


def chunks(text: str, *, split: bool, printed: bool = False) -> list[Chunk]:
    """The pieces of a text; one if it is not to be split.

    - `printed`: graphs stand in a `builtin.module`, as the printer has them; what looks like one
      elsewhere is quoted by an error.
    """
    pieces = _SPLIT.split(text) if split else [text]
    found: list[Chunk] = []
    line = 0
    for piece in pieces:
        lines = piece.split("\n")
        found.append(_chunk(lines, line, printed))
        line += len(lines) - 1
    return found


def _chunk(lines: list[str], first: int, printed: bool) -> Chunk:
    graphs: list[Graph] = []
    rest: list[str] = []
    current: Graph | None = None
    indent, in_module = 0, not printed
    for number, line in enumerate(lines, first):
        stripped = line.strip()
        in_module |= stripped == "builtin.module {"
        match = _GRAPH.match(line) if in_module else None
        if match is not None:
            current = Graph(match[1], stripped, number)
            indent = len(line) - len(line.lstrip())
            graphs.append(current)
            if not stripped.endswith("{"):  # a declaration
                current = None
        elif current is not None:
            if stripped == "}" and len(line) - len(line.lstrip()) == indent:
                current = None
            elif stripped and not stripped.startswith("//"):
                current.body.append(stripped)
        elif stripped not in ("builtin.module {", "}"):
            rest.append(stripped)
    while rest and not rest[-1]:
        rest.pop()
    return Chunk(first, first + len(lines) - 1, graphs, rest)


class Captures:
    """Names of FileCheck variables for the values that the test's own text does not name."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = set(known)
        self._variables: dict[str, str] = {}

    def line(self, text: str) -> str:
        """A line of IR as a FileCheck pattern; the first sight of a new value captures its name."""
        defined = 0
        parts: list[str] = []
        for match in _VALUE.finditer(text):
            parts.append(escaped(text[defined : match.start()]))
            parts.append(self._value(match[0]))
            defined = match.end()
        return "".join([*parts, escaped(text[defined:])])

    def _value(self, name: str) -> str:
        if name in self._known:
            return escaped(name)
        variable = self._variables.get(name)
        if variable is not None:
            return f"[[{variable}]]"
        base = re.sub(r"\W+", "_", name[1:]).strip("_").upper() or "VALUE"
        base = base if not base[0].isdigit() else f"V{base}"
        taken = set(self._variables.values())
        variable, count = base, 0
        while variable in taken:
            count += 1
            variable = f"{base}_{count}"
        self._variables[name] = variable
        return f"[[{variable}:%.+]]"


def escaped(text: str) -> str:
    """Text in which FileCheck sees no pattern."""
    return text.replace("{{", "{{[{][{]}}").replace("[[", "{{\\[\\[}}")


def values_in(lines: Iterable[str]) -> set[str]:
    """The value names that lines of IR mention."""
    return {match[0] for line in lines for match in _VALUE.finditer(line)}


def graph_checks(graph: Graph, source: Graph | None, prefix: str) -> list[str]:
    """The check lines for a printed graph, of which `source` is the graph in the test's text."""
    known = values_in([source.head, *source.body]) if source is not None else set[str]()
    captures = Captures(known)
    match = _GRAPH.match(graph.head)
    assert match is not None
    name, stage, rest = match.groups()
    lines = [f"{prefix}-LABEL: fx.graph {name} {stage}"]
    lines.append(f"{prefix}-SAME: {captures.line(rest.strip())}")
    lines += [f"{prefix}-NEXT: {captures.line(line)}" for line in graph.body]
    return lines


def text_checks(lines: Sequence[str], prefix: str, folders: Sequence[str]) -> list[str]:
    """The check lines for output that is no graph.

    Paths below `folders` may lie elsewhere, and the checks themselves move the lines of the test.
    """
    made: list[str] = []
    adjacent = False
    for line in lines:
        if line:
            pattern = escaped(line)
            for folder in folders:
                pattern = pattern.replace(folder, "{{.*}}")
            pattern = _PLACE.sub(r"\1:{{[0-9]+:[0-9]+}}", pattern)
            made.append(f"{prefix}{'-NEXT' if adjacent else ''}: {pattern}")
        adjacent = bool(line)
    return made
