"""Recursive-descent parser of the expression grammar.

sum     := ["-"] product (("+" | "-") product)*
product := power ("*" power)*
power   := atom ["**" atom]
atom    := integer | float | word | function "(" [sum ("," sum)*] ")" | "(" sum ")"
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from xductor.ir.symbolic.expression_functions import FUNCTION_NAMES
from xductor.ir.symbolic.expression_nodes import (
    LARGEST_EXPONENT,
    LONGEST,
    RESERVED,
    Expr,
    ExpressionError,
    call,
    constant,
    make_add,
    make_mul,
    make_pow,
    named_constant,
    negate,
    symbol,
)

_TOKEN = re.compile(
    r"\s*(?:(?P<float>\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(?P<int>\d+)"
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9]*)|(?P<mark>\*\*|[-+*(),]))"
)
_MOST_DIGITS = 100  # sizes have 19
_ATOM = "an integer, a float, a symbol, a function call or '('"


class _Token(NamedTuple):
    kind: str  # int, float, word, mark, end
    text: str
    column: int


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            column = position + len(text[position:]) - len(text[position:].lstrip()) + 1
            wrong = text[column - 1]
            hint = "a function such as floordiv, mod, eq" if wrong in "/%=<>!&|~" else _ATOM
            raise ExpressionError(f"unexpected '{wrong}'", text, column, hint)
        kind = match.lastgroup
        assert kind is not None
        tokens.append(_Token(kind, match[kind], match.start(kind) + 1))
        position = match.end()
    tokens.append(_Token("end", "", end + 1))
    return tokens


class _Parser:
    def __init__(self, text: str):
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0

    def error(self, expected: str) -> ExpressionError:
        token = self.tokens[self.at]
        found = f"unexpected '{token.text}'" if token.text else "unexpected end"
        return ExpressionError(found, self.text, token.column, expected)

    def accept(self, mark: str) -> bool:
        token = self.tokens[self.at]
        if token.kind == "mark" and token.text == mark:
            self.at += 1
            return True
        return False

    def expect(self, mark: str, expected: str) -> None:
        if not self.accept(mark):
            raise self.error(expected)

    def whole(self) -> Expr:
        result = self.sum()
        if self.tokens[self.at].kind != "end":
            raise self.error("'+', '-', '*', '**' or the end")
        return result

    def sum(self) -> Expr:
        terms = [self.product(negative=self.accept("-"))]
        while True:
            if self.accept("+"):
                terms.append(self.product(negative=False))
            elif self.accept("-"):
                terms.append(self.product(negative=True))
            else:
                return terms[0] if len(terms) == 1 else make_add(terms)

    def product(self, negative: bool) -> Expr:
        # A minus before a float belongs to the literal: -0.0 is not 0.0 times -1.
        literal = self.tokens[self.at].kind == "float" and self.tokens[self.at + 1].text != "**"
        factors = [self.power()]
        if negative and literal:
            factors[0] = negate(factors[0])
        while self.accept("*"):
            factors.append(self.power())
        if negative and not literal:
            if len(factors) == 1:
                return negate(factors[0]) if self.is_word() else make_mul((-1, *factors))
            factors.insert(0, -1)
        return factors[0] if len(factors) == 1 else make_mul(factors)

    def is_word(self) -> bool:
        """Whether the factor just read was a single word, so that -inf is the constant."""
        return self.tokens[self.at - 1].kind == "word"

    def power(self) -> Expr:
        base = self.atom()
        if not self.accept("**"):
            return base
        exponent = self.atom()
        if isinstance(exponent, int) and abs(exponent) > LARGEST_EXPONENT:
            raise ExpressionError("too large an exponent", self.text)
        return make_pow(base, exponent)

    def atom(self) -> Expr:
        token = self.tokens[self.at]
        if token.kind == "int":
            if len(token.text) > _MOST_DIGITS:
                raise ExpressionError("a number has too many digits", self.text, token.column)
            self.at += 1
            return int(token.text)
        if token.kind == "float":
            self.at += 1
            return constant(float(token.text))
        if token.kind == "word":
            self.at += 1
            if self.accept("("):
                return self.call(token)
            return named_constant(token.text) if token.text in RESERVED else symbol(token.text)
        if self.accept("("):
            inner = self.sum()
            self.expect(")", "')'")
            return inner
        raise self.error(_ATOM)

    def call(self, name: _Token) -> Expr:
        if name.text not in FUNCTION_NAMES:
            known = ", ".join(sorted(FUNCTION_NAMES))
            raise ExpressionError(
                f"unknown function '{name.text}'", self.text, name.column, f"one of {known}"
            )
        args: list[Expr] = []
        if not self.accept(")"):
            args.append(self.sum())
            while self.accept(","):
                args.append(self.sum())
            self.expect(")", "',' or ')'")
        try:
            return call(name.text, *args)
        except ExpressionError as error:
            message = str(error).split(" at column ")[0]
            raise ExpressionError(message, self.text, name.column, error.expected) from None


@lru_cache(maxsize=1 << 14)
def parse_expr(text: str) -> Expr:
    """Parse an expression; `parse_expr(e.text) is e` for every `SymExpr`.

    Args:
        text: e.g. `2*s0 + floordiv(u0, 4) - 1`.

    Raises:
        ExpressionError: the text is not in the grammar; the error has the text, the column and what
            was expected.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"{len(text)} characters are too long", text)
    try:
        return _Parser(text).whole()
    except RecursionError:
        raise ExpressionError("nested too deeply", text) from None
    except ExpressionError as error:
        if error.text == text:
            raise
        message = str(error).rpartition(" in '")[0]  # it quotes what the text folds into
        raise ExpressionError(message, text) from None
