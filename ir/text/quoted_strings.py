"""Quoted strings of our text format, and the error for a wrong text."""

from __future__ import annotations

import json
import re

#: A quoted string; matching takes linear time even if it is not closed.
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')

_DECODER = json.JSONDecoder(strict=False)


class TextError(ValueError):
    """Text is not in our format; has the `position` in the input and what was expected."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def unquoted(text: str) -> str:
    """The value of a quoted string; line breaks in it are kept.

    Raises ValueError for an unknown escape.
    """
    return _DECODER.decode(text) if "\\" in text else text[1:-1]


def quoted_string(text: str) -> str:
    """The value of a text that is one quoted string. Raises ValueError for any other text."""
    if STRING.fullmatch(text) is None:
        raise ValueError(f"expected a quoted string, found '{text}'")
    return unquoted(text)


__all__ = ["STRING", "TextError", "quoted_string", "unquoted"]
