"""Symbolic integers, floats and booleans of types and arguments.

Dims are `int | SymExpr`. A `SymExpr` knows its canonical text and its parts, and nothing of a
ShapeEnv, a sympy Symbol or a FakeTensor; sympy appears only in `from_sympy` and `to_sympy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from xductor.ir.expression_functions import FUNCTION_NAMES, function_class, function_name
from xductor.ir.expression_nodes import (
    Expr,
    ExpressionError,
    SymExpr,
    call,
    constant,
    make_add,
    make_mul,
    make_pow,
    named_constant,
    negate,
    rational,
    scale,
    split_coefficient,
    symbol,
    symbols_of,
)
from xductor.ir.expression_parser import parse_expr

if TYPE_CHECKING:
    import sympy

__all__ = (
    "FUNCTION_NAMES",
    "Expr",
    "ExpressionError",
    "SymExpr",
    "add",
    "call",
    "constant",
    "floordiv",
    "from_sympy",
    "mul",
    "negate",
    "parse_expr",
    "sub",
    "symbol",
    "symbols_of",
    "to_sympy",
)

# --- from sympy ---------------------------------------------------------------------------------


def from_sympy(expr: sympy.Basic | float | bool) -> Expr:
    """The expression of a `SymInt.node.expr` (or of a SymFloat's or SymBool's).

    Args:
        expr: a sympy object, or a plain Python number.

    Returns:
        An `int` for an integer, else the interned `SymExpr`.

    Raises:
        ExpressionError: a sympy class that has no entry in the table of functions.
    """
    if isinstance(expr, (int, float)):
        return constant(expr)
    return _from_sympy(expr)


@lru_cache(maxsize=1 << 14)
def _from_sympy(expr: sympy.Basic) -> Expr:
    handler = _FROM_SYMPY.get(type(expr).__name__)
    if handler is not None:
        return handler(expr)
    name = function_name(type(expr))
    if name is not None:
        return call(name, *map(_from_sympy, expr.args))
    # Integer and Rational have subclasses for single numbers (Zero, One, Half).
    if getattr(expr, "is_Integer", False):
        return int(cast(Any, expr))
    if getattr(expr, "is_Rational", False):
        number = cast(Any, expr)
        return rational(Fraction(int(number.p), int(number.q)))
    if getattr(expr, "is_Symbol", False):
        return symbol(cast(Any, expr).name)
    raise ExpressionError(
        f"no entry for the sympy class {type(expr).__module__}.{type(expr).__name__}", str(expr)
    )


def _from_float(expr: Any) -> Expr:
    if expr._prec == 53:
        return constant(float(expr))
    sign, mantissa, exponent, _ = expr._mpf_
    return call("bigfloat", -int(mantissa) if sign else int(mantissa), int(exponent), expr._prec)


def _from_nested_int(expr: Any) -> Expr:
    return call("nested_int", int(expr._val), int(expr._coeff))


def _from_piecewise(expr: Any) -> Expr:
    return call("piecewise", *(_from_sympy(part) for pair in expr.args for part in pair.args))


_FROM_SYMPY: Mapping[str, Callable[[Any], Expr]] = {
    "Integer": int,
    "Symbol": lambda expr: symbol(expr.name),
    "Add": lambda expr: make_add(map(_from_sympy, expr.args)),
    "Mul": lambda expr: make_mul(map(_from_sympy, expr.args)),
    "Pow": lambda expr: make_pow(_from_sympy(expr.base), _from_sympy(expr.exp)),
    "Float": _from_float,
    "SingletonInt": _from_nested_int,
    "Piecewise": _from_piecewise,
    "BooleanTrue": lambda _: constant(True),
    "BooleanFalse": lambda _: constant(False),
    "NaN": lambda _: named_constant("nan"),
    "Infinity": lambda _: named_constant("oo"),
    "NegativeInfinity": lambda _: named_constant("-oo"),
    "ComplexInfinity": lambda _: named_constant("zoo"),
    "IntInfinity": lambda _: named_constant("int_oo"),
    "NegativeIntInfinity": lambda _: named_constant("-int_oo"),
}

# --- to sympy -----------------------------------------------------------------------------------


def to_sympy(e: Expr | float, symbols: Mapping[str, sympy.Symbol]) -> sympy.Basic:
    """Builds the sympy object that torch itself would have for an expression.

    Args:
        e: an expression, or a Python number.
        symbols: the owner's symbols by name (`make_symbols` of a symbol table, or a ShapeEnv's).

    Raises:
        ExpressionError: a symbol that `symbols` lacks, or a function this torch does not have.

    sympy has no signed zero: `-0.0` becomes `0`.
    """
    return _ToSympy(symbols).build(e if isinstance(e, SymExpr) else constant(e))


class _ToSympy:
    def __init__(self, symbols: Mapping[str, sympy.Symbol]):
        self.symbols = symbols
        self.built: dict[SymExpr, Any] = {}

    def build(self, e: Expr) -> Any:
        import sympy

        if isinstance(e, int):
            return sympy.Integer(e)
        found = self.built.get(e)
        if found is None:
            found = self.built[e] = self._build(e, sympy)
        return found

    def _build(self, e: SymExpr, sympy: Any) -> Any:
        head = e.head
        if head == "symbol":
            if e.text not in self.symbols:
                known = ", ".join(self.symbols) or "none"
                raise ExpressionError(f"unbound symbol '{e.text}'", e.text, 1, f"one of: {known}")
            return self.symbols[e.text]
        if head == "constant":
            return _constant_to_sympy(e, sympy)
        if head == "bigfloat":
            mantissa, exponent, precision = cast(tuple[int, int, int], e.args)
            return sympy.Float((int(mantissa < 0), abs(mantissa), exponent), precision=precision)
        if head == "nested_int":
            from torch.utils._sympy.singleton_int import SingletonInt

            value, coefficient = e.args
            return SingletonInt(value, coeff=coefficient)
        args = [self.build(arg) for arg in e.args]
        if head == "piecewise":
            return sympy.Piecewise(*zip(args[::2], args[1::2], strict=True))
        builtin = {"add": "Add", "mul": "Mul", "pow": "Pow", "rational": "Rational"}.get(head)
        if builtin is not None:
            return getattr(sympy, builtin)(*args)
        try:
            return function_class(head)(*args)
        except LookupError as error:
            raise ExpressionError(str(error), e.text) from None


def _constant_to_sympy(e: SymExpr, sympy: Any) -> Any:
    if isinstance(e.value, bool):
        return sympy.true if e.value else sympy.false
    if e.value is not None and math.isfinite(e.value):
        return sympy.Float(e.value)
    if e.text in ("int_oo", "-int_oo"):
        from torch.utils._sympy.numbers import int_oo

        return int_oo if e.text == "int_oo" else -int_oo
    named = {"nan": sympy.nan, "zoo": sympy.zoo, "oo": sympy.oo, "inf": sympy.oo}
    return -sympy.oo if e.text.startswith("-") else named[e.text]


# --- arithmetic ---------------------------------------------------------------------------------


def add(a: Expr, b: Expr) -> Expr:
    """`a + b` in normal form."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return make_add((a, b))


def sub(a: Expr, b: Expr) -> Expr:
    """`a - b` in normal form."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return make_add((a, negate(b)))


def mul(a: Expr, b: Expr) -> Expr:
    """`a * b`, expanded over sums as torch expands the products of sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if _is_sum(a) or _is_sum(b):
        return make_add(make_mul((x, y)) for x in _terms(a) for y in _terms(b))
    return make_mul((a, b))


def _is_sum(e: Expr) -> bool:
    return isinstance(e, SymExpr) and e.head == "add"


def _terms(e: Expr) -> tuple[Expr, ...]:
    return e.args if isinstance(e, SymExpr) and e.head == "add" else (e,)


def floordiv(a: Expr, b: Expr) -> Expr:
    """`a // b` of integers, rounded down.

    Terms that an integer divisor divides leave the quotient, and a factor common to both sides
    cancels, as torch's FloorDiv does it; the rest stays a `floordiv(...)`.

    Raises:
        ZeroDivisionError: the divisor is the integer 0.
    """
    if b == 0:
        raise ZeroDivisionError(f"floordiv({a}, 0)")
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if a == 0 or b == 1:
        return a
    if b == -1:
        return negate(a)
    if a is b:
        return 1
    if isinstance(a, SymExpr) and a.head == "floordiv":
        return floordiv(a.args[0], mul(a.args[1], b))
    if isinstance(b, int):
        whole = [t for t in _terms(a) if _integer_quotient(t, b) is not None]
        if whole:
            quotient = make_add(cast(Expr, _integer_quotient(t, b)) for t in whole)
            left = make_add(t for t in _terms(a) if _integer_quotient(t, b) is None)
            return add(floordiv(left, b), quotient)
    a, b = _cancel(a, b)
    return call("floordiv", a, b) if b != 1 else a


def _integer_quotient(term: Expr, divisor: int) -> Expr | None:
    """`term / divisor` where the coefficient shows that it is an integer, else None."""
    coefficient, monomial = split_coefficient(term)
    if isinstance(coefficient, int) and coefficient % divisor == 0:
        return scale(coefficient // divisor, monomial)
    return None


def _factors(term: Expr) -> dict[Expr, int]:
    """The bases of a monomial with their integer exponents."""
    _, monomial = split_coefficient(term)
    if isinstance(monomial, int):
        return {}
    powers: dict[Expr, int] = {}
    for factor in monomial.args if monomial.head == "mul" else (monomial,):
        base, exponent = factor, 1
        if isinstance(factor, SymExpr) and factor.head == "pow" and isinstance(factor.args[1], int):
            base, exponent = factor.args[0], factor.args[1]
        powers[base] = exponent
    return powers


def _cancel(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Divides both sides by the integer and the symbols that all their terms share."""
    terms = (*_terms(a), *_terms(b))
    coefficients = [split_coefficient(t)[0] for t in terms]
    if not all(isinstance(c, int) for c in coefficients):
        return a, b
    common = math.gcd(*cast(list[int], coefficients))
    shared = _factors(terms[0])
    for term in terms[1:]:
        powers = _factors(term)
        shared = {x: min(n, powers[x]) for x, n in shared.items() if x in powers}
    shared = {x: n for x, n in shared.items() if n > 0}
    if common == 1 and not shared:
        return a, b
    inverse = make_mul(
        (rational(Fraction(1, common)), *(make_pow(base, -n) for base, n in shared.items()))
    )
    return (
        make_add(make_mul((t, inverse)) for t in _terms(a)),
        make_add(make_mul((t, inverse)) for t in _terms(b)),
    )
