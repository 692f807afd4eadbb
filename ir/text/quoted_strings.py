"""Quoted strings of our text format, and the error of a text."""

from __future__ import annotations

import json
import re

#: A quoted string, in linear time also where it is not closed.
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')

_DECODER = json.JSONDecoder(strict=False)


class TextError(ValueError):
    """Text that is not ours: `position` in the input, what was expected."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def unquoted(text: str) -> str:
    """The string that a quoted text stands for; line breaks in it are kept.

    Raises ValueError for an unknown escape.
    """
    return _DECODER.decode(text) if "\\" in text else text[1:-1]


def quoted_string(text: str) -> str:
    """The string of a text that is one quoted string. Raises ValueError for any other."""
    if STRING.fullmatch(text) is None:
        raise ValueError(f"expected a quoted string, found '{text}'")
    return unquoted(text)


__all__ = ["STRING", "TextError", "quoted_string", "unquoted"]
