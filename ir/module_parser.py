"""Parses text into a module; any text is either parsed or refused with a location.

This is xDSL's parser with additions that ensure this for any text. Every entry point uses
`parse_text`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.registry import UnknownOp
from xductor.ir.text.location_aliases import DEFINITION, ReadAliases
from xductor.ir.text.parsing import parse_location_alias
from xductor.ir.text.quoted_strings import TextError
from xductor.ir.text.resources import ResourceError, check_constants
from xductor.ir.text.scan_within_parser import refuse
from xductor.ir.text.scanner import MOST_DIGITS
from xductor.ir.verification.verifier import verify

_RESOURCES = "{-#"
_WIDEST_INTEGER = (1 << 24) - 1  # MLIR's limit
_INTEGER_TYPE = re.compile(r"[su]?i(\d+)")
#: How many characters of a line an error shows before and after the place; lines may be megabytes.
_SHOWN = 160


def parse_text(
    context: Context, text: str | bytes, name: str, *, implicit_module: bool = True
) -> ModuleOp:
    """Parse a text in a context.

    Raises only xDSL's ParseError, with file (`name`), line, column and what was expected.
    """
    try:
        parser = ModuleParser(context, text, name)
        return _parse(parser, implicit_module)
    except ParseError as error:
        error.span = _Shown(error.span.start, error.span.end, error.span.input)
        raise


def _parse(parser: ModuleParser, implicit_module: bool) -> ModuleOp:
    try:
        module = parser.parse_module(implicit_module)
        parser.finish_locations()
        if _RESOURCES in parser.lexer.input.content:
            _check_constants(module)
        return module
    except ParseError:
        raise
    except TextError as error:
        parser.raise_error(error.message, at_position=error.position)
    except (UnknownOp, ResourceError) as error:
        parser.raise_error(str(error))
    except Exception as error:  # xDSL's attributes may raise anything
        refuse(parser, error, parser.pos)


def _check_constants(module: ModuleOp) -> None:
    """Raise ResourceError if a blob does not fit its type: that is an error of the text.

    Constants of malformed modules are not read; the verifier reports such modules.
    """
    try:
        verify(module, "structure")
    except VerifyException:
        return
    check_constants(module)


class TextLexer(MLIRLexer):
    """xDSL's lexer, but in linear time for any text.

    The original pattern for string literals tries each way to cut a literal into pieces, so each
    further character of an unclosed literal doubles the time. Possessive repetition tries one way.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')
    _whitespace_regex = re.compile(r"(?://[^\n]*+\n?+|\s++)*+", re.ASCII)

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        if self._unescaped_characters_regex.match(self.input.content, start_pos) is None:
            self._refuse(start_pos, "the string is not closed, or an escape in it is unknown")
        return super()._lex_string_literal(start_pos)

    def _lex_number(self, start_pos: Position) -> MLIRToken:
        if not self.input.content[start_pos].isascii():
            self._refuse(start_pos, f"unexpected character '{self.input.content[start_pos]}'")
        token = super()._lex_number(start_pos)
        if len(token.span) > MOST_DIGITS:
            self._refuse(start_pos, f"a number of {len(token.span)} digits is too long")
        return token

    def _lex_bare_identifier(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_bare_identifier(start_pos)
        width = _INTEGER_TYPE.fullmatch(token.text)
        if width is not None and (len(width[1]) > 8 or int(width[1]) > _WIDEST_INTEGER):
            self._refuse(start_pos, f"an integer type has at most {_WIDEST_INTEGER} bits")
        return token

    def _refuse(self, position: Position, message: str) -> NoReturn:
        raise ParseError(Span(position, position + 1, self.input), message)


class ModuleParser(Parser):
    """xDSL's parser with our lexer; its errors say what was expected at the top of a file."""

    def __init__(self, ctx: Context, input: str | bytes, name: str = "<unknown>") -> None:
        text = input.decode("utf-8") if isinstance(input, bytes) else input
        super().__init__(ctx, "", name)
        whole = Input(text, name)
        nul = text.find("\0")
        if nul != -1:
            raise ParseError(Span(nul, nul + 1, whole), "a NUL character stands in no text")
        self._parser_state = ParserState(TextLexer(whole))
        self.location_aliases = ReadAliases()

    def finish_locations(self) -> None:
        """Read the definitions behind a module that is not implicit, and put all lines in.

        Raises TextError for a name without a line.
        """
        while self._current_token.kind is MLIRTokenKind.HASH_IDENT:
            self._parse_alias_def()
        self.location_aliases.resolve()

    def _parse_alias_def(self) -> None:
        start = self._current_token.span.start
        if DEFINITION.match(self.lexer.input.content, start) is None:
            super()._parse_alias_def()
            return
        self.location_aliases.define(*parse_location_alias(self))

    def parse_optional_operation(self) -> Operation | None:
        """Check in the generic format too that a graph has everything its class requires."""
        start = self.pos
        op = super().parse_optional_operation()
        if type(op) is GraphOp:
            try:
                GraphOp.get_irdl_definition().verify(op)
            except VerifyException as error:
                super().raise_error(f"fx.graph: {error}", start)
            if len(op.body.blocks) != 1:
                super().raise_error(
                    f"fx.graph has {len(op.body.blocks)} blocks, one is wanted", start
                )
        return op

    def raise_error(self, msg: str, at_position: Any = None, end_position: Any = None) -> NoReturn:
        if msg == "Could not parse entire input!":
            rest = self.lexer.input.content[self._current_token.span.start :][:24].split("\n")[0]
            msg = f"expected fx.graph @name, found {repr(rest) if rest else 'the end of the text'}"
        super().raise_error(msg, at_position, end_position)


@dataclass(frozen=True, repr=False)
class _Shown(Span[Any]):
    """A place in a text; only the surroundings of the place are shown of a long line."""

    def print_with_context(self, msg: str | None = None) -> str:
        first = self.input.get_start_of_line(self.start)
        last = self.input.get_end_of_line(self.start)
        if last - first <= 2 * _SHOWN:
            one_line = Span(self.start, min(self.end, last), self.input, self.line_offset)
            return one_line.print_with_context(msg)
        first, last = max(first, self.start - _SHOWN), min(last, self.start + _SHOWN)
        marks = "^" * max(min(self.end, last) - self.start, 1)
        indent = " " * (self.start - first)
        shown = [str(self.get_location()), self.input.content[first:last], indent + marks]
        return "\n".join([*shown, *([indent + msg] if msg is not None else []), ""])


__all__ = ["ModuleParser", "TextLexer", "parse_text"]
