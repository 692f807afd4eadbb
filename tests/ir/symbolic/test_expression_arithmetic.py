"""Expressions that are computed: generated ones against sympy, and arithmetic on them."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._sympy import functions as torch_functions
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod, PythonMod, Where

from xductor.ir.symbolic.expression_functions import FUNCTION_NAMES, arity
from xductor.ir.symbolic.expressions import (
    ExpressionError,
    add,
    call,
    constant,
    evaluated,
    floordiv,
    from_sympy,
    mul,
    parse_expr,
    remainder,
    sub,
    substitute,
    symbol,
    to_sympy,
)

S0, S1 = (sympy.Symbol(name, positive=True, integer=True) for name in ("s0", "s1"))
U0 = sympy.Symbol("u0", integer=True)
ZF0 = sympy.Symbol("zf0", real=True)
SYMBOLS = {sym.name: sym for sym in (S0, S1, U0, ZF0)}

# --- round trips over generated expressions -----------------------------------------------------


def _leaf() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.sampled_from([S0, S1, U0]),
        st.integers(-6, 12).map(sympy.Integer),
    )


def _guarded(function: Any) -> Any:
    """Division by zero and the like: that combination is no expression."""

    def build(*args: Any) -> Any:
        try:
            return function(*args)
        except (ZeroDivisionError, ValueError, AssertionError, TypeError):
            return args[0]

    return build


def _grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    binary = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        FloorDiv,
        PythonMod,
        Mod,
        Max,
        Min,
        torch_functions.ModularIndexing,
        torch_functions.CeilDiv,
        torch_functions.BitwiseFn_bitwise_or,
        lambda a, b: Where(a < b, a, b),
        lambda a, b: sympy.expand(a * b),
    ]
    two = st.builds(lambda f, a, b: _guarded(f)(a, b), st.sampled_from(binary), inner, inner)
    power = st.builds(lambda a, n: a**n, inner, st.integers(0, 3))
    index = st.builds(
        lambda a, n, m: _guarded(torch_functions.ModularIndexing)(a, n, m),
        inner,
        st.integers(1, 8),
        st.integers(2, 8),
    )
    return st.one_of(two, power, index)


SYMPY_EXPRESSIONS = st.recursive(_leaf(), _grow, max_leaves=8)


@settings(max_examples=150, deadline=None)
@given(SYMPY_EXPRESSIONS)
def test_round_trip_through_text_and_sympy(expr: Any) -> None:
    e = from_sympy(expr)
    if isinstance(e, int):
        return
    assert parse_expr(e.text) is e
    assert from_sympy(to_sympy(e, SYMBOLS)) is e


VALUES = st.fixed_dictionaries(
    {"s0": st.integers(1, 9), "s1": st.integers(1, 9), "u0": st.integers(-5, 9)}
)


@settings(max_examples=150, deadline=None)
@given(SYMPY_EXPRESSIONS, VALUES)
def test_substituted_numbers_agree_with_sympy(expr: Any, values: dict[str, int]) -> None:
    if expr.has(sympy.zoo, sympy.nan, torch_functions.Mod, torch_functions.ModularIndexing):
        return  # defined for numbers that are not negative only
    e = from_sympy(expr)
    ours = substitute(e, values)
    try:
        theirs = expr.subs({SYMBOLS[name]: value for name, value in values.items()})
    except (ZeroDivisionError, AssertionError):
        return
    if theirs.is_Integer and isinstance(ours, int):
        assert ours == int(theirs)


def _linear() -> st.SearchStrategy[Any]:
    coefficients = st.tuples(*[st.integers(-8, 8)] * 4)
    return coefficients.map(lambda c: c[0] * S0 + c[1] * S1 + c[2] * S0 * S1 + c[3])


@settings(max_examples=150, deadline=None)
@given(_linear(), _linear(), st.integers(-8, 8).filter(bool))
def test_arithmetic_is_sympys_on_sums(a: Any, b: Any, divisor: int) -> None:
    x, y = from_sympy(a), from_sympy(b)
    assert add(x, y) == from_sympy(a + b)
    assert sub(x, y) == from_sympy(a - b)
    assert mul(x, y) == from_sympy(sympy.expand(a * b))
    # torch factors what is left of a product of symbols.
    if divisor > 0 and not a.has(S0 * S1):
        assert floordiv(x, divisor) == from_sympy(FloorDiv(a, divisor))


@settings(max_examples=100, deadline=None)
@given(_linear(), _linear(), VALUES)
def test_floordiv_keeps_the_value(a: Any, b: Any, values: dict[str, int]) -> None:
    x, y = from_sympy(a), from_sympy(b)
    p, q = substitute(x, values), substitute(y, values)
    if y == 0 or q == 0:
        return
    assert isinstance(p, int)
    assert isinstance(q, int)
    quotient = substitute(floordiv(x, y), values)
    assert quotient == p // q


# --- arithmetic ---------------------------------------------------------------------------------


def test_arithmetic_folds_integers() -> None:
    assert add(2, 3) == 5
    assert sub(2, 3) == -1
    assert mul(2, 3) == 6
    assert floordiv(-7, 2) == -4
    with pytest.raises(ZeroDivisionError):
        floordiv(symbol("s0"), 0)


def test_arithmetic_on_symbols() -> None:
    s0, s1 = symbol("s0"), symbol("s1")
    assert str(add(s0, s0)) == "2*s0"
    assert sub(add(s0, 1), s0) == 1
    assert mul(s0, 0) == 0
    assert mul(s0, 1) is s0
    assert str(mul(add(s0, 1), add(s1, 2))) == "2*s0 + s0*s1 + s1 + 2"
    assert floordiv(mul(s0, 6), 3) is mul(s0, 2)
    assert floordiv(mul(s0, s1), s1) is s0
    assert str(floordiv(mul(s0, 2), 4)) == "floordiv(s0, 2)"
    assert str(floordiv(add(mul(s0, 4), 3), 4)) == "s0"
    assert str(floordiv(floordiv(s0, 2), 3)) == "floordiv(s0, 6)"


def test_calls_are_computed_where_all_is_known() -> None:
    s0 = symbol("s0")
    assert evaluated("max", 1, 5) == 5
    assert evaluated("mod", 7, 4) == 3
    assert evaluated("cdiv", 7, 4) == 2
    assert evaluated("eq", 1, 1) is constant(True)
    assert evaluated("where", constant(True), s0, 1) is s0
    assert str(evaluated("mod", 7, 0)) == "mod(7, 0)"
    assert str(substitute(parse_expr("max(1, s0) + s1*s0"), {"s0": 4})) == "4*s1 + 4"
    assert substitute(parse_expr("s0 + s1"), {"s0": symbol("s1"), "s1": s0}) is parse_expr(
        "s0 + s1"
    )


def test_calls_check_name_and_arity() -> None:
    with pytest.raises(ExpressionError, match="unknown function 'frobnicate'"):
        call("frobnicate", 1)
    with pytest.raises(ExpressionError, match="'eq' got 3 arguments"):
        call("eq", 1, 2, 3)
    assert {arity(name) for name in FUNCTION_NAMES} == {None, 1, 2, 3}


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ("8*s0 + 3", "8", "3"),
        ("8*s0 + s1", "4", "pymod(s1, 4)"),
        ("s0", "1", "0"),
        ("s0", "s0", "0"),
        ("s0", "s1", "pymod(s0, s1)"),
        ("-5", "3", "1"),
        ("4*s0 - 5", "-4", "-1"),
    ],
)
def test_remainder(a: str, b: str, text: str) -> None:
    found = remainder(parse_expr(a), parse_expr(b))
    assert str(found) == text
    for values in ({"s0": 3, "s1": 7}, {"s0": -2, "s1": 5}):
        left, right = substitute(parse_expr(a), values), substitute(parse_expr(b), values)
        assert substitute(found, values) == left % right


def test_a_remainder_of_nothing() -> None:
    with pytest.raises(ZeroDivisionError):
        remainder(symbol("s0"), 0)
