"""Runs our scanner within xDSL's parser, from its position; errors have a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from xductor.ir.dialect.arguments import Ref
from xductor.ir.text.location_aliases import ReadAliases
from xductor.ir.text.quoted_strings import TextError
from xductor.ir.text.scanner import Scanner

_MOST_OPERANDS = 1 << 16


def _start(parser: Any) -> int:
    """The position of xDSL's parser: the token that it has read ahead."""
    return parser._current_token.span.start


def _resume(parser: Any, position: int) -> None:
    parser.lexer.pos = position
    parser._parser_state.current_token = parser.lexer.lex()


def scan(parser: Any, read: Callable[[Scanner], Any], value_of: Any = None) -> Any:
    """Run our scanner from the position of xDSL's parser, and let xDSL continue after it."""
    source = parser.lexer.input
    scanner = Scanner(source.content, _start(parser), value_of or no_values, source.name)
    try:
        result = read(scanner)
        if scanner.aliased:
            _aliases_of(parser).uses.extend(scanner.aliased)
    except TextError as error:
        parser.raise_error(error.message, at_position=error.position)
        raise
    except ParseError:
        raise
    except Exception as error:  # the text is at fault, and the scanner knows the place
        refuse(parser, error, scanner.position)
    _resume(parser, scanner.position)
    return result


def _aliases_of(parser: Any) -> ReadAliases:
    """Where a parser keeps the names of lines. Raises ValueError for a parser without them."""
    found = getattr(parser, "location_aliases", None)
    if found is None:  # xDSL's own parser, with our context
        raise ValueError("names of locations, loc(#loc1), are read by parse_ir and xductor-opt")
    return found


def refuse(parser: Any, error: Exception, position: int) -> NoReturn:
    """Refuse a text because of an error without a place.

    Raises ParseError, caused by the error unless the text is nested too deeply.
    """
    if isinstance(error, RecursionError):
        raise ParseError(_place(parser, position), "nested too deeply") from None
    found = str(error).strip()
    message = f"{type(error).__name__}: {found}" if found else type(error).__name__
    raise ParseError(_place(parser, position), message) from error


def _place(parser: Any, position: int) -> Span[str]:
    return Span(position, position, parser.lexer.input)


def no_values(name: str, position: int) -> Any:
    if name.isdecimal() and name.isascii():
        if len(name) > len(str(_MOST_OPERANDS)) or int(name) >= _MOST_OPERANDS:
            raise TextError(f"an op has at most {_MOST_OPERANDS} operands", position)
        return Ref(int(name))
    raise TextError(f"expected an operand number, found '%{name}'", position)


__all__ = ["no_values", "refuse", "scan"]
