"""Arithmetic on symbolic expressions in normal form, without sympy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from xductor.ir.symbolic.expression_nodes import (
    MOST_BITS,
    Expr,
    SymExpr,
    call,
    constant,
    make_add,
    make_mul,
    make_pow,
    negate,
    rational,
    scale,
    split_coefficient,
)


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
    """`a * b`, expanded over sums as torch expands the products of sizes.

    A product with more than `_EXPANDED_TERMS` terms stays a product of sums: the product of a few
    such sizes would have too many terms to hold.
    """
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if (_is_sum(a) or _is_sum(b)) and len(_terms(a)) * len(_terms(b)) <= _EXPANDED_TERMS:
        return make_add(make_mul((x, y)) for x in _terms(a) for y in _terms(b))
    return make_mul((a, b))


def _is_sum(e: Expr) -> bool:
    return isinstance(e, SymExpr) and e.head == "add"


def _terms(e: Expr) -> tuple[Expr, ...]:
    return e.args if isinstance(e, SymExpr) and e.head == "add" else (e,)


def floordiv(a: Expr, b: Expr) -> Expr:
    """`a // b` of integers, rounded down.

    Terms that an integer divisor divides are divided out, and a factor common to both sides
    cancels, as in torch's FloorDiv; the rest stays a `floordiv(...)`.

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


def remainder(a: Expr, b: Expr, name: str = "pymod") -> Expr:
    """`a % b` of integers, with the sign of `b` as in Python.

    Terms that an integer divisor divides leave no remainder; the rest stays a call of `name`:
    `mod`, which is for nonnegative numbers, or `pymod`.

    Raises:
        ZeroDivisionError: the divisor is the integer 0.
    """
    if b == 0:
        raise ZeroDivisionError(f"{name}({a}, 0)")
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if a == 0 or b in (1, -1) or a is b:
        return 0
    if isinstance(b, int):
        left = make_add(t for t in _terms(a) if _integer_quotient(t, b) is None)
        if left is not a:
            return remainder(left, b)  # neither is known to be nonnegative
    return call(name, a, b)


def _integer_quotient(term: Expr, divisor: int) -> Expr | None:
    """`term / divisor` if the coefficient shows that it is an integer, else None."""
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
    """Divide both sides by the integer and the symbols that all their terms share."""
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


_EXPANDED_TERMS = 512
#: The largest power of a sum that is multiplied out; larger ones would only grow.
_EXPANDED_POWERS = 8

#: The meanings of the functions of the table on integers.
_INTEGER_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "pymod": operator.mod,
    "mod": operator.mod,
    "cdiv": lambda a, b: -(-a // b),
    "clean_div": operator.floordiv,
    "modular_indexing": lambda a, b, c: a // b % c,
    "max": max,
    "min": min,
    "abs": abs,
    "pow_nat": lambda a, b: a**b,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _too_large(a: int, bits: int) -> bool:
    return max(a.bit_length() - 1, 0) + bits > MOST_BITS


_UNDEFINED: Mapping[str, Callable[..., bool]] = {
    **dict.fromkeys(("pymod", "mod", "cdiv", "clean_div"), lambda _, b: b == 0),
    "rshift": lambda _, b: b < 0,
    "lshift": lambda a, b: b < 0 or _too_large(a, b),
    "pow_nat": lambda a, b: b < 0 or (a.bit_length() - 1) * b > MOST_BITS,
    "modular_indexing": lambda _, b, c: b == 0 or c == 0,
}


def evaluated(name: str, *args: Expr) -> Expr:
    """A call of a function of the table, computed if all arguments are integers.

    Divisions by zero and negative shifts stay calls, since they have no value; so do calls whose
    value has more than `MOST_BITS` bits.
    """
    if name == "floordiv" and args[1] != 0:
        return floordiv(*args)
    if name == "identity":
        return args[0]
    if name == "where" and isinstance(args[0], SymExpr) and isinstance(args[0].value, bool):
        return args[1] if args[0].value else args[2]
    if name in ("max", "min") and len(set(args)) == 1:
        return args[0]
    function = _INTEGER_FUNCTIONS.get(name)
    if function is not None and all(type(arg) is int for arg in args):
        undefined = _UNDEFINED.get(name)
        if undefined is None or not undefined(*args):
            return constant(function(*args) if name not in ("max", "min") else function(args))
    return call(name, *args)


def substitute(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """Replace symbols by expressions, all at once, and simplify the result.

    Args:
        values: expressions by symbol name; symbols that are not in it stay.
    """
    if isinstance(e, int) or e.symbols.isdisjoint(values):
        return e
    if e.head == "symbol":
        return values[e.text]
    return rebuilt(e.head, [substitute(arg, values) for arg in e.args])


def expanded(e: Expr) -> Expr:
    """Multiply out products and powers of sums everywhere, and compute calls on integers."""
    # Without a parenthesis there is nothing to multiply out or to compute.
    if isinstance(e, int) or "(" not in e.text or not e.args:
        return e
    return rebuilt(e.head, [expanded(arg) for arg in e.args])


def rebuilt(head: str, args: Sequence[Expr]) -> Expr:
    """A node with other arguments, in normal form, and computed if they are integers."""
    if head == "add":
        return make_add(args)
    if head == "mul":
        product: Expr = args[0]
        for arg in args[1:]:
            product = mul(product, arg)
        return product
    if head == "pow":
        base, exponent = args
        if isinstance(exponent, int) and 1 < exponent <= _EXPANDED_POWERS and _is_sum(base):
            return rebuilt("mul", [base] * exponent)
        return make_pow(base, exponent)
    return evaluated(head, *args)
