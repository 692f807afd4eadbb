"""Reads `// expected-error {{text}}` comments, as mlir-opt's `--verify-diagnostics` does."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.utils.exceptions import ParseError

from xductor.ir.text.diagnostics import OpError

_COMMENT = re.compile(
    r"//\s*expected-error(?P<re>-re)?\s*(?:@(?P<at>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)


@dataclass(frozen=True)
class Expected:
    """An error that a comment at line `written` expects at `line` (None: anywhere)."""

    text: str
    line: int | None
    written: int
    is_regex: bool = False

    def fits(self, message: str, line: int | None) -> bool:
        if self.line is not None and self.line != line:
            return False
        if self.is_regex:
            return re.search(self.text, message) is not None
        return self.text in " ".join(message.split()) or self.text in message


def expectations(text: str) -> list[Expected]:
    """The expectations in the comments of a text.

    `@+1` and `@-1` count lines from the comment; `@above` and `@below` are the nearest lines
    without such a comment; `@unknown` is an error without a place. In `expected-error-re` the text
    is a regular expression.
    """
    lines = text.splitlines()
    marked = {number for number, line in enumerate(lines, 1) if _COMMENT.search(line)}
    found: list[Expected] = []
    for number in sorted(marked):
        for match in _COMMENT.finditer(lines[number - 1]):
            line = _line(match["at"], number, marked)
            found.append(Expected(match["text"], line, number, match["re"] is not None))
    return found


def _line(at: str | None, number: int, marked: set[int]) -> int | None:
    if at is None:
        return number
    if at == "unknown":
        return None
    if at in ("above", "below"):
        step = -1 if at == "above" else 1
        number += step
        while number in marked:
            number += step
        return number
    return number + int(at)


def compare(expected: list[Expected], errors: list[Exception], file: str) -> list[str]:
    """Complaints about errors that nothing expects, and expected ones that did not come."""
    left = list(expected)
    complaints: list[str] = []
    for error in errors:
        message, line = described(error)
        fitting = next((one for one in left if one.fits(message, line)), None)
        if fitting is not None:
            left.remove(fitting)
            continue
        where = file if line is None else f"{file}:{line}"
        complaints.append(f"{where}: unexpected error: {message}")
    complaints += [
        f'{file}:{one.written}: expected error "{one.text}" was not produced'
        + (f" at line {one.line}" if one.line is not None else "")
        for one in left
    ]
    return complaints


def described(error: Exception) -> tuple[str, int | None]:
    """The text of an error, and its line in the input."""
    if isinstance(error, ParseError):
        span = error.span
        content = span.input.content
        newline = "\n" if isinstance(content, str) else b"\n"
        return error.msg, content[: span.start].count(newline) + 1  # type: ignore[arg-type]
    if isinstance(error, OpError):
        return error.description, None if error.place is None else error.place[1]
    return str(error), None
