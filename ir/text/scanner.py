"""Scans the elements of our text format: names, constants, types, argument trees."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import torch
from xdsl.dialects.builtin import FileLineColLoc, StringAttr

from xductor.ir.dialect.arguments import (
    DictArg,
    FunctionArg,
    Handle,
    ListArg,
    Pack,
    SizeArg,
    SliceArg,
    SymbolRef,
)
from xductor.ir.dialect.dtypes import DTYPE_OF_TEXT, nearest_dtype
from xductor.ir.dialect.metadata import NodeMeta
from xductor.ir.symbolic.expressions import parse_expr
from xductor.ir.text.locations import text_location
from xductor.ir.text.quoted_strings import STRING, TextError, quoted_string, unquoted
from xductor.ir.text.type_text import type_of_text


class ElementName(str):
    """The name in text of an element without an FX name; it differs from every FX name."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is ElementName and str.__eq__(self, other)

    def __hash__(self) -> int:
        return hash((ElementName, str(self)))


# Repetition is possessive where a text can be long, so that the matcher never backtracks.
_SPACE = re.compile(r"(?:\s++|//[^\n]*+)*+")
#: Characters that begin neither whitespace nor a comment.
_NO_SPACE = frozenset(map(chr, range(ord("!"), ord("~") + 1))) - {"/"}
_WORD = re.compile(r"[A-Za-z_][\w.$]*")
_SSA = re.compile(r'%(?:([\w$.-]+)|("(?:[^"\\]++|\\.)*+"))(#[0-9]+)?')
_SYMBOL = re.compile(r'@(?:([A-Za-z_][\w$.]*)|("(?:[^"\\]++|\\.)*+"))')
_NUMBER = re.compile(r"-?(?:inf\b|nan\b|[0-9]+\.[0-9]*(?:e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+|[0-9]+)")
_TYPE = re.compile(r'!(fx\.\w+)(?:<((?:"(?:[^"\\]++|\\.)*+"|[^<>"]++|<[^<>]*+>)*+)>)?')
#: The characters at which `Scanner.balanced` stops for each pair of brackets.
_MARKS = {pair: re.compile(f'["{pair}]') for pair in ("<>", "()")}
_INTEGER = re.compile(r"-?[0-9]+")
_BITS = re.compile(r"0[xX][0-9A-Fa-f]{1,16}")

#: The most digits of a number: Python's time is quadratic in them. No double has more than 309.
MOST_DIGITS = 400

#: How deep arguments may be nested; the code that handles them is recursive.
_DEEPEST = 200

_types: dict[str, Any] = {}


class Scanner:
    """A cursor over the text; every method first skips whitespace and comments."""

    __slots__ = (
        "_counted", "_depth", "_file", "_line", "_line_start", "aliased", "position", "text",
        "value_of",
    )  # fmt: skip

    def __init__(
        self, text: str, position: int, value_of: Callable[[str, int], Any], file: str = "<text>"
    ) -> None:
        self.text = text
        self.position = position
        self.value_of = value_of
        self._file = StringAttr(file)
        self._counted, self._line, self._line_start = 0, 1, 0
        self._depth = 0
        #: Who has a name for its line: the name, where it stands, and the metadata that lacks it.
        self.aliased: list[tuple[str, int, NodeMeta]] = []

    def location(self) -> FileLineColLoc:
        """File, line and column of the next token. Lines are counted once, going forward."""
        self.skip()
        text, position = self.text, self.position
        breaks = text.count("\n", self._counted, position)
        if breaks:
            self._line += breaks
            self._line_start = text.rfind("\n", self._counted, position) + 1
        self._counted = position
        return text_location(self._file, self._line, position - self._line_start + 1)

    def error(self, message: str, position: int | None = None) -> TextError:
        return TextError(message, self.position if position is None else position)

    def enter(self) -> None:
        """Enter a bracket. Raises TextError if brackets are nested too deep."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.error(f"nested too deeply: {_DEEPEST} brackets are open")

    def leave(self) -> None:
        self._depth -= 1

    def skip(self) -> None:
        text, position = self.text, self.position
        if text[position : position + 1] == " ":  # usually one space, or none
            position += 1
        if text[position : position + 1] not in _NO_SPACE:
            position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        self.position = position

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        found = pattern.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def accept(self, literal: str) -> bool:
        """Skip a punctuation mark if it comes next, and return whether it did."""
        self.skip()
        if self.text.startswith(literal, self.position):
            self.position += len(literal)
            return True
        return False

    def accept_word(self, word: str) -> bool:
        """Skip a whole word if it comes next, and return whether it did."""
        self.skip()
        found = _WORD.match(self.text, self.position)
        if found is not None and found.group() == word:
            self.position = found.end()
            return True
        return False

    def peek(self) -> str:
        self.skip()
        return self.text[self.position : self.position + 1]

    def expect(self, literal: str, what: str = "") -> None:
        if not self.accept(literal):
            raise self.error(
                f"expected '{literal}'{f' {what}' if what else ''}, found {self.found()}"
            )

    def found(self) -> str:
        """The text at the cursor, for an error."""
        self.skip()
        rest = self.text[self.position : self.position + 24].split("\n")[0]
        return f"'{rest}'" if rest else "the end of the text"

    def word(self, what: str) -> str:
        found = self.match(_WORD)
        if found is None:
            raise self.error(f"expected {what}, found {self.found()}")
        return found.group()

    def string(self, what: str = "a string") -> str:
        found = self.match(STRING)
        if found is None:
            if self.peek() == '"':
                raise self.error("the string is not closed")
            raise self.error(f"expected {what}, found {self.found()}")
        return self.unquoted(found.group(), found.start())

    def unquoted(self, text: str, position: int) -> str:
        """The value of a quoted string at a position; line breaks in it are kept."""
        try:
            return unquoted(text)
        except ValueError as error:
            raise self.error(f"the string has an unknown escape: {error}", position) from None

    def integer(self, what: str) -> int:
        found = self.match(_INTEGER)
        if found is None:
            raise self.error(f"expected {what}, found {self.found()}")
        return int(self.number(found))

    def number(self, found: re.Match[str]) -> int | float:
        """The value of a matched number; a float if it is written as one."""
        digits = found.end() - found.start()
        if digits > MOST_DIGITS:
            raise self.error(f"a number of {digits} digits is too long", found.start())
        return _number(found.group())

    def ssa_name(self) -> str | None:
        """A value's name; `split#1` for an element of a tuple without a name in FX."""
        found = self.match(_SSA)
        if found is None:
            return None
        plain, quoted, element = found.groups()
        name = plain if plain is not None else self.unquoted(quoted, found.start(2))
        return name if element is None else ElementName(name + element)

    def symbol_name(self) -> str | None:
        found = self.match(_SYMBOL)
        if found is None:
            return None
        plain, quoted = found.groups()
        return plain if plain is not None else self.unquoted(quoted, found.start(2))

    def balanced(self, opening: str, closing: str) -> str:
        """The text between the bracket that comes next and its partner."""
        self.expect(opening)
        start, depth, marks = self.position, 1, _MARKS[opening + closing]
        while depth:
            found = marks.search(self.text, self.position)
            if found is None:
                raise self.error(f"'{opening}' is not closed", start)
            char = found.group()
            if char == '"':
                quote = found.start()
                found = STRING.match(self.text, quote)
                if found is None:
                    raise self.error("the string is not closed", quote)
            else:
                depth += 1 if char == opening else -1
            self.position = found.end()
        return self.text[start : self.position - 1]

    def type(self) -> Any:
        """A value type, `!fx.tensor<...>`."""
        self.skip()
        start = self.position
        found = _TYPE.match(self.text, start)
        if found is None:
            raise self.error(f"expected a type (!fx.tensor<...>), found {self.found()}")
        self.position = found.end()
        if found.group(2) is None and self.text.startswith("<", self.position):
            raise self.error(f"'<' of !{found.group(1)} is not closed")
        text = found.group()
        known = _types.get(text)
        if known is None:
            body_at = found.start(2) if found.group(2) is not None else found.end()
            known = type_of_text(found.group(1), found.group(2), body_at)
            if len(_types) > 8192:
                _types.clear()
            _types[text] = known
        return known

    def items(self, closing: str) -> list[Any]:
        """Arguments up to a closing bracket, separated by commas; a trailing comma is allowed."""
        found: list[Any] = []
        self.enter()
        while not self.accept(closing):
            found.append(self.argument())
            if not self.accept(","):
                self.expect(closing)
                break
        self.leave()
        return found

    def argument(self) -> Any:
        """A value or a constant, with its containers."""
        char = self.peek()
        if char == "%":
            start = self.position
            name = self.ssa_name()
            if name is None:
                raise self.error("expected a value's name after '%'")
            return self.value_of(name, start)
        if char == "[":
            self.position += 1
            return ListArg(self.items("]"))
        if char == "(":
            self.position += 1
            return tuple(self.items(")"))
        if char == "{":
            self.position += 1
            return self._dict()
        if char == '"':
            return self.string()
        if char == "@":
            name = self.symbol_name()
            if name is None:
                raise self.error("expected a symbol's name after '@'")
            return SymbolRef(name)
        if self.accept("..."):
            return ...
        number = self.match(_NUMBER)
        if number is not None:
            return self.number(number)
        return self._named_constant()

    def _dict(self) -> DictArg:
        pairs: list[tuple[Any, Any]] = []
        self.enter()
        while not self.accept("}"):
            key = self.argument()
            self.expect(":", "after a dict's key")
            pairs.append((key, self.argument()))
            if not self.accept(","):
                self.expect("}")
                break
        self.leave()
        return DictArg(pairs)

    def _named_constant(self) -> Any:
        start = self.position
        found = self.match(_WORD)
        if found is None:
            raise self.error(f"expected an argument, found {self.found()}")
        word = found.group()
        if word in _WORDS:
            return _WORDS[word]
        if word == "complex" and self.text.startswith("<", self.position):
            word += f"<{self.balanced('<', '>')}>"
        dtype = DTYPE_OF_TEXT.get(word)
        if dtype is not None:
            return dtype
        if word in _CALLS:
            self.expect("(")
            return self._called(word, self.items(")"), start)
        reader = _ANGLED_CONSTANTS.get(word)
        if reader is None:
            meant = nearest_dtype(word) or "".join(
                get_close_matches(word.lower(), _CONSTANT_WORDS, n=1)
            )
            hint = f"; did you mean {meant}?" if meant else ""
            raise self.error(f"'{word}' is no constant of this format{hint}", start)
        try:
            return reader(self.balanced("<", ">"))
        except TextError as error:
            raise self.error(error.message, start) from None
        except (ValueError, AttributeError, RuntimeError) as error:
            raise self.error(f"bad {word}: {error}", start) from None

    def _called(self, word: str, parts: list[Any], start: int) -> Any:
        """The value of `word(parts)`."""
        if word in _NUMBERS_OF_CALL:
            fewest, most, kinds = _NUMBERS_OF_CALL[word]
            named = " or ".join(kind.__name__ for kind in kinds)
            if not fewest <= len(parts) <= most or any(type(part) not in kinds for part in parts):
                count = str(fewest) if fewest == most else f"{fewest} to {most}"
                raise self.error(f"{word}(...) takes {count} numbers ({named})", start)
        elif word == "slice" and len(parts) != 3:
            raise self.error("slice(...) takes start, stop and step", start)
        try:
            return _CALLS[word](parts)
        except (ValueError, OverflowError) as error:
            raise self.error(f"bad {word}: {error}", start) from None


_WORDS: dict[str, Any] = {
    "none": None,
    "true": True,
    "false": False,
    "inf": float("inf"),
    "nan": float("nan"),
}
_CALLS: dict[str, Callable[[list[Any]], Any]] = {
    "size": SizeArg,
    "pack": Pack,
    "slice": SliceArg,
    "complex": lambda parts: complex(*parts),
    "range": lambda parts: range(*parts),
}
#: The least and the greatest number of arguments of a call, and their types.
_NUMBERS_OF_CALL: dict[str, tuple[int, int, tuple[type, ...]]] = {
    "complex": (2, 2, (float, int)),
    "range": (1, 3, (int,)),
}


def _torch_constant(kind: type) -> Callable[[str], Any]:
    def read(body: str) -> Any:
        value = getattr(torch, body.strip(), None)
        if not isinstance(value, kind):
            raise ValueError(f"torch has no {kind.__name__} '{body}'")
        return value

    return read


def _handle(body: str) -> Handle:
    kind, _, ident = body.partition(",")
    return Handle(kind.strip(), quoted_string(ident.strip()))


def _float_of_bits(body: str) -> float:
    if _BITS.fullmatch(body) is None:
        raise ValueError(f"expected 16 hexadecimal digits after 0x, found '{body}'")
    return struct.unpack("<d", struct.pack("<Q", int(body, 16)))[0]


_ANGLED_CONSTANTS: dict[str, Callable[[str], Any]] = {
    "device": lambda body: torch.device(body.strip()),
    "layout": _torch_constant(torch.layout),
    "memory_format": _torch_constant(torch.memory_format),
    "sym": lambda body: parse_expr(body),
    "fn": lambda body: FunctionArg(body.strip()),
    "opaque": _handle,
    "float": _float_of_bits,
}


_CONSTANT_WORDS = (*_WORDS, *_CALLS, *_ANGLED_CONSTANTS)


def _number(text: str) -> int | float:
    return float(text) if any(mark in text for mark in ".en") else int(text)
