"""Symbolic integers, floats and booleans in types and arguments.

Dims are `int | SymExpr`. A `SymExpr` has its canonical text and its parts, but refers to no
ShapeEnv, sympy Symbol or FakeTensor; sympy is used only in `from_sympy` and `to_sympy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from xductor.ir.symbolic.expression_arithmetic import (
    add,
    evaluated,
    floordiv,
    mul,
    remainder,
    sub,
    substitute,
)
from xductor.ir.symbolic.expression_functions import FUNCTION_NAMES, function_class, function_name
from xductor.ir.symbolic.expression_nodes import (
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
    symbol,
    symbols_of,
)
from xductor.ir.symbolic.expression_parser import parse_expr

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
    "evaluated",
    "floordiv",
    "from_sympy",
    "mul",
    "negate",
    "parse_expr",
    "remainder",
    "sub",
    "substitute",
    "symbol",
    "symbols_of",
    "to_sympy",
)


def from_sympy(expr: sympy.Basic | float | bool) -> Expr:
    """The expression of a `SymInt.node.expr` (or of a SymFloat's or SymBool's).

    Args:
        expr: a sympy object, or a plain Python number.

    Returns:
        An `int` for an integer, else the interned `SymExpr`.

    Raises:
        ExpressionError: a sympy class is not in the table of functions.
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


def to_sympy(e: Expr | float, symbols: Mapping[str, sympy.Symbol]) -> sympy.Basic:
    """The sympy object that torch itself would have for an expression.

    Args:
        e: an expression, or a Python number.
        symbols: the owner's symbols by name (`make_symbols` of a symbol table, or a ShapeEnv's).

    Raises:
        ExpressionError: `symbols` lacks a symbol, or this torch lacks a function.

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

            value, coefficient = cast(tuple[int, int], e.args)
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
