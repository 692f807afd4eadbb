"""Parser of the text form of a symbol table.

table := "symbols(" [entry ("," entry)*] ")"
entry := name ":" kind word* "[" sum "," sum "]" ["hint" number] ("source" string)*
       | name "=" sum
"""

from __future__ import annotations

import re
from typing import cast

from xductor.ir.symbolic.expression_nodes import Expr, ExpressionError, SymExpr
from xductor.ir.symbolic.expression_parser import parse_expr
from xductor.ir.symbolic.symbols import Kind, SymbolInfo, SymbolTable

_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_HINT = re.compile(r"nested_int\([^)]*\)|[-+.\w]+")
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"')
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class _Scanner:
    def __init__(self, text: str, at: int = 0):
        self.text = text
        self.at = at

    def error(self, expected: str) -> ExpressionError:
        self.skip()
        found = self.text[self.at : self.at + 1]
        what = f"unexpected '{found}'" if found else "unexpected end"
        return ExpressionError(what, self.text, self.at + 1, expected)

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def accept(self, mark: str) -> bool:
        self.skip()
        if self.text.startswith(mark, self.at):
            self.at += len(mark)
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            raise self.error(f"'{mark}'")

    def match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.error(expected)
        self.at = found.end()
        return found

    def peek_word(self) -> str:
        self.skip()
        found = _WORD.match(self.text, self.at)
        return found[0] if found else ""

    def expression(self, stops: str) -> Expr:
        """An expression that ends before one of the marks `stops`, outside all parentheses."""
        depth, start = 0, self.at
        while self.at < len(self.text):
            mark = self.text[self.at]
            if depth == 0 and mark in stops:
                break
            depth += (mark == "(") - (mark == ")")
            self.at += 1
        try:
            return parse_expr(self.text[start : self.at])
        except ExpressionError as error:
            column = start + error.column if error.column is not None else start + 1
            message = str(error).split(" at column ")[0]
            raise ExpressionError(message, self.text, column, error.expected) from None


def _entry(scanner: _Scanner) -> SymbolInfo | tuple[str, Expr]:
    name = scanner.match(_WORD, "a symbol's name")[0]
    if scanner.accept("="):
        return name, scanner.expression(",)")
    scanner.expect(":")
    kind = scanner.peek_word()
    if kind not in ("int", "float", "bool"):
        raise scanner.error("int, float or bool")
    scanner.at += len(kind)
    words: list[str] = []
    while word := scanner.peek_word():
        _check_assumption(scanner, word)
        scanner.at += len(word)
        words.append(word)
    scanner.expect("[")
    lower = scanner.expression(",]")
    scanner.expect(",")
    start = scanner.at
    upper = scanner.expression("]")
    if isinstance(lower, int) and isinstance(upper, int) and lower > upper:
        scanner.at = start
        raise scanner.error(f"an upper bound that is not below {lower}")
    scanner.expect("]")
    hint = _hint(scanner) if scanner.accept("hint") else None
    sources: list[str] = []
    while scanner.accept("source"):
        quoted = scanner.match(_STRING, "a quoted source")[1]
        sources.append(re.sub(r"\\.", lambda m: _ESCAPES.get(m[0], m[0][1]), quoted))
    return SymbolInfo(
        name=name,
        kind=cast(Kind, kind),
        assumptions=tuple(w for w in words if w not in ("unbacked", "size_like")),
        backed="unbacked" not in words,
        size_like="size_like" in words,
        hint=hint,
        lower=lower,
        upper=upper,
        sources=tuple(sources),
    )


def _check_assumption(scanner: _Scanner, word: str) -> None:
    from sympy.core.assumptions import _assume_defined

    if word in ("unbacked", "size_like") or word.removeprefix("not_") in _assume_defined:
        return
    raise scanner.error("unbacked, size_like, an assumption of sympy such as positive, or '['")


def _hint(scanner: _Scanner) -> float | SymExpr:
    start = scanner.at
    text = scanner.match(_HINT, "a number")[0]
    try:
        value = parse_expr(text)
    except ExpressionError:
        value = None
    if isinstance(value, int):
        return value
    if isinstance(value, SymExpr) and type(value.value) is float:
        return value.value
    if isinstance(value, SymExpr) and value.head == "nested_int":
        return value
    scanner.at = start
    raise scanner.error("a number")


def _parse(scanner: _Scanner) -> SymbolTable:
    scanner.expect("symbols")
    scanner.expect("(")
    infos: list[SymbolInfo] = []
    replacements: dict[str, Expr] = {}
    names: set[str] = set()
    if not scanner.accept(")"):
        while True:
            scanner.skip()
            begin = scanner.at
            entry = _entry(scanner)
            name = entry.name if isinstance(entry, SymbolInfo) else entry[0]
            if name in names:
                scanner.at = begin
                raise scanner.error(f"another name: '{name}' already stands in the table")
            names.add(name)
            if isinstance(entry, SymbolInfo):
                infos.append(entry)
            else:
                replacements[name] = entry[1]
            if not scanner.accept(","):
                break
        if not scanner.accept(")"):
            raise scanner.error("',' or ')'")
    return SymbolTable(infos, replacements)


def parse_symbol_table(text: str) -> SymbolTable:
    """Parse the text form of a symbol table.

    Raises:
        ExpressionError: with the text, the column and what was expected there.
    """
    scanner = _Scanner(text)
    table = _parse(scanner)
    scanner.skip()
    if scanner.at != len(text):
        raise scanner.error("the end")
    return table
