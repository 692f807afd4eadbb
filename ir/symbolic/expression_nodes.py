"""Interned symbolic expressions: the node, its canonical text and its normal form.

An expression is an `int`, or a `SymExpr` interned by its text, so equal text is the same object.
Everything that builds one (sympy, the parser, arithmetic) uses the constructors below.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Self, TypeAlias
from weakref import WeakValueDictionary

from xductor.ir.symbolic.expression_functions import FUNCTION_NAMES, UNORDERED, arity

_SHOWN = 500
#: The most bits of a number in an expression. Sizes have 64; larger results only take time.
MOST_BITS = 4096
LARGEST_EXPONENT = 1000
#: The most characters of an expression in a type: some thousand terms.
LONGEST = 1 << 15


class ExpressionError(ValueError):
    """Text or a sympy object is not an expression of the grammar.

    Attributes:
        text: the expression as it was given.
        column: where parsing failed, counted from 1; None if there is no text.
        expected: what would have been accepted there.
    """

    def __init__(self, message: str, text: str, column: int | None = None, expected: str = ""):
        self.text = text
        self.column = column
        self.expected = expected
        where = f" at column {column}" if column is not None else ""
        tail = f": expected {expected}" if expected else ""
        super().__init__(f"{message}{where} in '{_around(text, column or 1)}'{tail}")


def _around(text: str, column: int) -> str:
    """The part of a text that an error shows: of a long one, the surroundings of a column."""
    if len(text) <= 2 * _SHOWN:
        return text
    first, last = max(column - _SHOWN, 0), column + _SHOWN
    return f"{'...' if first else ''}{text[first:last]}{'...' if last < len(text) else ''}"


class SymExpr:
    """A symbolic expression, immutable and interned (weakly) by its canonical text.

    `head` is the kind of node: `symbol`, `constant`, `add`, `mul`, `pow` or the name of a function
    in the table; `args` are its parts. Equality is structural: whether two different expressions
    are equal as numbers is a question for `Facts`.
    """

    __slots__ = ("__weakref__", "args", "head", "symbols", "text", "value")

    head: str
    args: tuple[Expr, ...]
    text: str
    symbols: frozenset[str]
    #: The Python number of a float or bool constant.
    value: float | bool | None

    def __new__(cls, *_: object) -> Self:
        raise TypeError("SymExpr objects are interned: use parse_expr, from_sympy or call")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"SymExpr is immutable: cannot set '{name}'")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"SymExpr({self.text!r})"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _intern, (self.text, self.head, self.args, self.value, self.symbols)

    def __copy__(self) -> SymExpr:
        return self

    def __deepcopy__(self, memo: object) -> SymExpr:
        return self


Expr: TypeAlias = int | SymExpr

_INTERNED: WeakValueDictionary[str, SymExpr] = WeakValueDictionary()
_LOCK = threading.Lock()
_NO_SYMBOLS: frozenset[str] = frozenset()
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_INFINITE = {"oo": "-oo", "int_oo": "-int_oo", "inf": "-inf"}
_NEGATED = {**_INFINITE, **{v: k for k, v in _INFINITE.items()}, "nan": "nan", "zoo": "zoo"}
#: Words that are constants, so they cannot be the names of symbols.
RESERVED = frozenset({"true", "false", "nan", "zoo", *_INFINITE})


def _intern(
    text: str,
    head: str,
    args: tuple[Expr, ...] = (),
    value: float | bool | None = None,
    symbols: frozenset[str] | None = None,
) -> SymExpr:
    found = _INTERNED.get(text)
    if found is not None:
        return found
    if len(text) > LONGEST:
        raise ExpressionError(f"{len(text)} characters are too long", text)
    if symbols is None:
        parts = [arg.symbols for arg in args if isinstance(arg, SymExpr)]
        symbols = parts[0] if len(parts) == 1 else _NO_SYMBOLS.union(*parts)
    node: SymExpr = object.__new__(SymExpr)
    for name, content in (
        ("head", head),
        ("args", args),
        ("text", text),
        ("symbols", symbols),
        ("value", value),
    ):
        object.__setattr__(node, name, content)
    with _LOCK:
        # If another thread was first, its object must be used.
        return _INTERNED.setdefault(text, node)


def symbol(name: str) -> SymExpr:
    """The expression that is one symbol.

    Raises:
        ExpressionError: the name is not an identifier, or is a word of the grammar.
    """
    if not _IDENTIFIER.match(name) or name in RESERVED:
        raise ExpressionError("not a symbol name", name, 1, "an identifier that is no constant")
    return _intern(name, "symbol", symbols=frozenset((name,)))


def constant(value: float | bool) -> Expr:
    """A Python number as an expression; floats and bools keep their kind and every bit."""
    if isinstance(value, bool):
        return _intern("true" if value else "false", "constant", value=value)
    if isinstance(value, float):
        return _intern(repr(value), "constant", value=value)
    return int(value)


def named_constant(text: str) -> SymExpr:
    """One of `oo`, `int_oo`, `inf` (each with or without `-`), `nan`, `zoo`, `true`, `false`."""
    if text in ("inf", "-inf", "nan"):
        return _intern(text, "constant", value=float(text))
    if text in ("true", "false"):
        return _intern(text, "constant", value=text == "true")
    if text not in _NEGATED:
        raise ExpressionError("not a constant", text, 1, "oo, int_oo, inf, nan, zoo, true or false")
    return _intern(text, "constant")


def rational(value: Fraction | int) -> Expr:
    """An exact fraction; an int if the denominator is one.

    Raises:
        ExpressionError: the number has more than `MOST_BITS` bits.
    """
    _check_bits(value)
    if isinstance(value, int) or value.denominator == 1:
        return int(value)
    text = f"rational({value.numerator}, {value.denominator})"
    return _intern(text, "rational", (value.numerator, value.denominator))


def _check_bits(value: Fraction | int) -> None:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise ExpressionError(f"a number has more than {MOST_BITS} bits", "")


def _exact(e: Expr) -> Fraction | int | None:
    """The number that an int or a fraction node is, else None."""
    if isinstance(e, int):
        return e
    if e.head == "rational":
        return Fraction(*e.args)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return None


def _is_infinite(e: Expr) -> bool:
    return isinstance(e, SymExpr) and e.head == "constant" and e.text in _NEGATED


def _is_float(e: Expr) -> bool:
    return isinstance(e, SymExpr) and e.head == "constant" and type(e.value) is float


def negate(e: Expr) -> Expr:
    """`-e` in normal form."""
    if isinstance(e, SymExpr) and e.head == "constant":
        if e.text in _NEGATED:
            return named_constant(_NEGATED[e.text])
        if type(e.value) is float:
            return constant(-e.value)
    return make_mul((-1, e))


def split_coefficient(e: Expr) -> tuple[Fraction | int, Expr]:
    """Splits `3*s0*s1` into `(3, s0*s1)`; the second is 1 for a plain number."""
    number = _exact(e)
    if number is not None:
        return number, 1
    assert isinstance(e, SymExpr)
    if e.head == "mul":
        first = _exact(e.args[0])
        if first is not None:
            rest = e.args[1:]
            return first, rest[0] if len(rest) == 1 else _mul_node(rest)
    return 1, e


def scale(coefficient: Fraction | int, monomial: Expr) -> Expr:
    """`coefficient * monomial`, where the monomial has no exact coefficient itself."""
    if coefficient == 0 or monomial == 1:
        return rational(coefficient)
    if coefficient == 1:
        return monomial
    if isinstance(monomial, SymExpr) and monomial.head == "mul":
        return _mul_node((rational(coefficient), *monomial.args))
    return _mul_node((rational(coefficient), monomial))


def make_add(terms: Iterable[Expr]) -> Expr:
    """A sum: nested sums flattened, like terms collected, sorted by text, the number last."""
    total: Fraction | int = 0
    coefficients: dict[Expr, Fraction | int] = {}
    others: list[SymExpr] = []  # constants that must not be collected: oo - oo is not 0
    pending = list(terms)
    pending.reverse()
    while pending:
        term = pending.pop()
        if isinstance(term, int):
            total += term
        elif term.head == "add":
            pending.extend(reversed(term.args))
        elif term.head == "constant" or term.head == "bigfloat":
            others.append(term)
        else:
            factor, monomial = split_coefficient(term)
            if monomial == 1:
                total += factor
            else:
                coefficients[monomial] = coefficients.get(monomial, 0) + factor
    monomials = sorted((m for m, c in coefficients.items() if c != 0), key=str)
    parts: list[Expr] = [scale(coefficients[m], m) for m in monomials]
    parts.extend(sorted(others, key=str))
    if total != 0:
        parts.append(rational(total))
    if not parts:
        return 0
    return parts[0] if len(parts) == 1 else _add_node(tuple(parts))


def _add_node(args: tuple[Expr, ...]) -> SymExpr:
    pieces = [str(args[0])]
    for arg in args[1:]:
        text = str(arg)
        pieces.append(f" - {text[1:]}" if text.startswith("-") else f" + {text}")
    return _intern("".join(pieces), "add", args)


def make_mul(factors: Iterable[Expr]) -> Expr:
    """A product: flattened, exact numbers folded and first, equal bases joined, sorted by text.

    A number times a sum is distributed, as in sympy; other products of sums stay.
    """
    coefficient: Fraction | int = 1
    powers: dict[Expr, int] = {}
    others: list[Expr] = []
    pending = list(factors)
    pending.reverse()
    while pending:
        factor = pending.pop()
        number = _exact(factor)
        if number is not None:
            coefficient *= number
            _check_bits(coefficient)
            continue
        assert isinstance(factor, SymExpr)
        if factor.head == "mul":
            pending.extend(reversed(factor.args))
        elif factor.head == "constant" or factor.head == "bigfloat":
            if factor.text in _INFINITE.values():
                coefficient, factor = -coefficient, named_constant(factor.text[1:])
            others.append(factor)
        elif factor.head == "pow" and isinstance(factor.args[1], int):
            powers[factor.args[0]] = powers.get(factor.args[0], 0) + factor.args[1]
        else:
            powers[factor] = powers.get(factor, 0) + 1
    if coefficient == 0:
        return named_constant("nan") if any(map(_is_infinite, others)) else 0
    floats = sorted((f for f in others if not _is_infinite(f)), key=str)
    rest = [f for f in others if _is_infinite(f)]
    rest.extend(_power(base, exponent) for base, exponent in powers.items() if exponent != 0)
    parts = tuple(floats) + tuple(sorted(rest, key=str))
    return _with_coefficient(coefficient, parts)


def _with_coefficient(coefficient: Fraction | int, parts: tuple[Expr, ...]) -> Expr:
    if not parts:
        return rational(coefficient)
    if len(parts) == 1:
        only = parts[0]
        assert isinstance(only, SymExpr)
        if coefficient == 1:
            return only
        if only.head == "add":
            return make_add(make_mul((rational(coefficient), term)) for term in only.args)
        if coefficient == -1 and only.head == "constant" and only.text in _NEGATED:
            return named_constant(_NEGATED[only.text])
        return _mul_node((rational(coefficient), only))
    return _mul_node(parts if coefficient == 1 else (rational(coefficient), *parts))


def _mul_node(args: tuple[Expr, ...]) -> SymExpr:
    minus = ""
    shown = args
    if args[0] == -1:
        minus, shown = "-", args[1:]
    pieces: list[str] = []
    for position, arg in enumerate(shown):
        text = str(arg)
        signed = text.startswith("-") and (position > 0 or bool(minus))
        # After the minus of the coefficient -1, a literal would absorb the sign.
        literal = bool(minus) and position == 0 and text[0].isdigit() and "**" not in text
        if signed or literal or (isinstance(arg, SymExpr) and arg.head == "add"):
            text = f"({text})"
        pieces.append(text)
    return _intern(minus + "*".join(pieces), "mul", args)


def make_pow(base: Expr, exponent: Expr) -> Expr:
    """A power; integer exponents are folded into ints, products and powers."""
    if exponent == 1:
        return base
    if isinstance(exponent, int):
        number = _exact(base)
        if exponent == 0:
            return 1
        if number is not None and (exponent > 0 or number != 0):
            return _number_power(number, exponent)
        if isinstance(base, SymExpr) and base.head == "mul":
            return make_mul(make_pow(factor, exponent) for factor in base.args)
        if isinstance(base, SymExpr) and base.head == "pow" and isinstance(base.args[1], int):
            return make_pow(base.args[0], base.args[1] * exponent)
    return _power(base, exponent)


def _number_power(number: Fraction | int, exponent: int) -> Expr:
    bits = max(number.numerator.bit_length(), number.denominator.bit_length()) - 1
    if bits * abs(exponent) > MOST_BITS:
        raise ExpressionError(f"a number has more than {MOST_BITS} bits", f"{number}**{exponent}")
    return rational(Fraction(number) ** exponent)


def _power(base: Expr, exponent: Expr) -> Expr:
    if exponent == 1:
        return base
    if isinstance(exponent, int) and abs(exponent) > LARGEST_EXPONENT:
        raise ExpressionError("too large an exponent", f"({base})**{exponent}")
    shown: list[str] = []
    for part in (base, exponent):
        text = str(part)
        compound = isinstance(part, SymExpr) and part.head in ("add", "mul", "pow")
        shown.append(f"({text})" if compound or text.startswith("-") else text)
    return _intern("**".join(shown), "pow", (base, exponent))


def call(name: str, *arguments: Expr | float) -> SymExpr:
    """A call of a function in the table, e.g. `call("max", 1, s0)`; nothing is evaluated.

    Raises:
        ExpressionError: there is no such function, or the number of arguments is wrong.
    """
    args = tuple(a if isinstance(a, SymExpr) else constant(a) for a in arguments)
    shown = f"{name}({', '.join(map(str, args))})"
    if name not in FUNCTION_NAMES:
        raise ExpressionError(f"unknown function '{name}'", shown, 1, "a function of the table")
    wanted = arity(name)
    if wanted is not None and wanted != len(args):
        raise ExpressionError(f"'{name}' got {len(args)} arguments", shown, 1, f"{wanted}")
    if name in ("rational", "bigfloat", "nested_int"):
        return _number_call(name, args, shown)
    if name in UNORDERED:
        unique = args if name == "xor" else tuple(dict.fromkeys(args))
        if len(unique) != len(args) and arity(name) == 2:
            unique = args
        args = tuple(sorted(unique, key=str))
        shown = f"{name}({', '.join(map(str, args))})"
    return _intern(shown, name, args)


def _number_call(name: str, args: tuple[Expr, ...], shown: str) -> SymExpr:
    if not all(isinstance(arg, int) for arg in args):
        raise ExpressionError(f"'{name}' takes integer literals", shown, 1, "integers")
    if name == "rational":
        p, q = args
        assert isinstance(p, int)
        assert isinstance(q, int)
        if q <= 1 or math.gcd(p, q) != 1:
            raise ExpressionError("not a fraction in lowest terms", shown, 1, "coprime p, q > 1")
    return _intern(shown, name, args)


def symbols_of(expressions: Iterable[Expr]) -> frozenset[str]:
    """The names of all symbols in some expressions."""
    return _NO_SYMBOLS.union(*(e.symbols for e in expressions if isinstance(e, SymExpr)))


__all__: Sequence[str] = (
    "LARGEST_EXPONENT",
    "LONGEST",
    "MOST_BITS",
    "RESERVED",
    "Expr",
    "ExpressionError",
    "SymExpr",
    "call",
    "constant",
    "make_add",
    "make_mul",
    "make_pow",
    "named_constant",
    "negate",
    "rational",
    "scale",
    "split_coefficient",
    "symbol",
    "symbols_of",
)
