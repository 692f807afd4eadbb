"""Bounds of integer expressions by interval arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import cast

from xductor.ir.symbolic.expressions import Expr, SymExpr
from xductor.ir.symbolic.fact_sources import Bound

#: Inclusive bounds; an infinity means that there is none.
Interval = tuple[Bound, Bound]

UNBOUNDED: Interval = (-math.inf, math.inf)


def bounds_of(e: Expr, symbol_bounds: Callable[[str], Interval]) -> Interval:
    """The bounds that follow from those of the symbols, with each occurrence independent."""
    if isinstance(e, int):
        return e, e
    if e.head == "symbol":
        return symbol_bounds(e.text)
    if e.head == "constant":
        return _constant(e)
    if e.head == "rational":
        number = Fraction(*cast(tuple[int, int], e.args))
        return number, number
    args = [bounds_of(arg, symbol_bounds) for arg in e.args]
    if e.head == "add":
        return _sum([low for low, _ in args], -math.inf), _sum([high for _, high in args], math.inf)
    if e.head == "mul":
        product = args[0]
        for arg in args[1:]:
            product = _product(product, arg)
        return product
    if e.head == "pow" and isinstance(e.args[1], int) and e.args[1] > 0:
        return _power(args[0], e.args[1])
    rule = _RULES.get(e.head)
    return rule(args) if rule is not None else UNBOUNDED


def _constant(e: SymExpr) -> Interval:
    if e.text == "int_oo":
        return math.inf, math.inf
    if e.text == "-int_oo":
        return -math.inf, -math.inf
    return UNBOUNDED


def finite(x: Bound) -> bool:
    """Whether a bound is a number, without conversion to float, which fails for huge integers."""
    return not (type(x) is float and math.isinf(x))


def _sum(bounds: list[Bound], if_opposed: float) -> Bound:
    infinities = {x for x in bounds if not finite(x)}
    if infinities:
        return infinities.pop() if len(infinities) == 1 else if_opposed
    return sum(bounds)


def _times(x: Bound, y: Bound) -> Bound:
    if x == 0 or y == 0:
        return 0
    if finite(x) and finite(y):
        return x * y
    return math.inf if (x > 0) == (y > 0) else -math.inf


def _product(x: Interval, y: Interval) -> Interval:
    corners = [_times(a, b) for a in x for b in y]
    return min(corners), max(corners)


def _power(x: Interval, exponent: int) -> Interval:
    low, high = (_raise(bound, exponent) for bound in x)
    if exponent % 2 or x[0] >= 0:
        return low, high
    return (0 if x[1] >= 0 else high), max(low, high)


def _raise(x: Bound, exponent: int) -> Bound:
    if not finite(x):
        return x if exponent % 2 else math.inf
    return x**exponent


def _quotient(x: Bound, y: Bound) -> Bound:
    if not finite(y):
        return 0 if x >= 0 else -1
    return x // y if finite(x) else x


def _floordiv(args: list[Interval]) -> Interval:
    (low, high), divisor = args
    if divisor[0] <= 0:
        return UNBOUNDED
    return (
        min(_quotient(low, d) for d in divisor),
        max(_quotient(high, d) for d in divisor),
    )


def _remainder(args: list[Interval]) -> Interval:
    (low, high), divisor = args
    if divisor[0] <= 0:
        return UNBOUNDED
    if low >= 0 and high < divisor[0]:
        return low, high
    most = divisor[1] - 1
    return 0, min(most, high) if low >= 0 else most


def _cdiv(args: list[Interval]) -> Interval:
    (low, high), divisor = args
    low, high = _floordiv([(-high, -low), divisor])
    return -high, -low


def _largest(args: list[Interval]) -> Interval:
    return max(low for low, _ in args), max(high for _, high in args)


def _smallest(args: list[Interval]) -> Interval:
    return min(low for low, _ in args), min(high for _, high in args)


def _either(args: list[Interval]) -> Interval:
    return min(args[1][0], args[2][0]), max(args[1][1], args[2][1])


def _absolute(args: list[Interval]) -> Interval:
    low, high = args[0]
    if low >= 0:
        return low, high
    return (0 if high >= 0 else -high), max(-low, high)


_RULES: dict[str, Callable[[list[Interval]], Interval]] = {
    "floordiv": _floordiv,
    "clean_div": _floordiv,
    "cdiv": _cdiv,
    "mod": _remainder,
    "pymod": _remainder,
    "max": _largest,
    "min": _smallest,
    "where": _either,
    "identity": lambda args: args[0],
    "abs": _absolute,
    "non_overlapping_and_dense": lambda _: (0, 1),
    "modular_indexing": lambda args: _remainder([_floordiv(args[:2]), args[2]]),
}
