"""Symbolic expressions: canonical text, parsing, sympy and back, arithmetic."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import math
import pickle
import subprocess
import sys
import threading
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._sympy import functions as torch_functions
from torch.utils._sympy.functions import FloorDiv, Identity, Max, Min, Mod, PythonMod, Where
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.singleton_int import SingletonInt

from tests.thread_time import least_seconds
from xductor.ir import SymExpr
from xductor.ir.symbolic import expression_nodes
from xductor.ir.symbolic.expression_arithmetic import mul, substitute
from xductor.ir.symbolic.expression_functions import function_class, function_name
from xductor.ir.symbolic.expressions import (
    ExpressionError,
    call,
    constant,
    from_sympy,
    parse_expr,
    symbol,
    to_sympy,
)

S0, S1 = (sympy.Symbol(name, positive=True, integer=True) for name in ("s0", "s1"))
U0 = sympy.Symbol("u0", integer=True)
ZF0 = sympy.Symbol("zf0", real=True)
SYMBOLS = {sym.name: sym for sym in (S0, S1, U0, ZF0)}

# --- the table of functions ---------------------------------------------------------------------


def _functions_of_torch() -> list[type]:
    return [
        cls
        for _, cls in inspect.getmembers(torch_functions, inspect.isclass)
        if issubclass(cls, (sympy.Function, torch_functions.MinMaxBase))
        and cls.__module__ == torch_functions.__name__
    ]


MIXIN = {"MinMaxBase": "the shared part of Max and Min, never instantiated"}


def test_every_function_class_of_torch_has_an_entry() -> None:
    missing = [
        cls.__name__
        for cls in _functions_of_torch()
        if function_name(cls) is None and cls.__name__ not in MIXIN
    ]
    assert missing == []
    assert len(_functions_of_torch()) > 35


def test_entries_name_the_class_they_came_from() -> None:
    for cls in _functions_of_torch():
        name = function_name(cls)
        if name is not None:
            assert function_class(name) is cls


def test_align_of_inductor_has_an_entry() -> None:
    from torch._inductor.utils import align

    e = from_sympy(align(U0))
    assert str(e) == "align(u0)"
    assert to_sympy(e, SYMBOLS) == align(U0)


# --- canonical text -----------------------------------------------------------------------------

TEXTS: list[tuple[Any, str]] = [
    (S0 + 1, "s0 + 1"),
    (1 + S0 * 2, "2*s0 + 1"),
    (S0 - S1, "s0 - s1"),
    (S1 - S0 - 3, "-s0 + s1 - 3"),
    (S0**2, "s0**2"),
    (-S0, "-s0"),
    (2**S0, "2**s0"),
    (-(2**S0), "-2**s0"),
    (sympy.Pow(-2, S0), "(-2)**s0"),
    ((S0 + 1) * (S1 + 2), "(s0 + 1)*(s1 + 2)"),
    ((S0 + 1) ** 2, "(s0 + 1)**2"),
    (S0 / 2, "rational(1, 2)*s0"),
    (sympy.Rational(-1, 3) + S0, "s0 + rational(-1, 3)"),
    (1 / S0, "s0**(-1)"),
    (FloorDiv(S0, 2), "floordiv(s0, 2)"),
    (FloorDiv(S0, 2) * 3 + S1, "3*floordiv(s0, 2) + s1"),
    (Mod(S0, 8), "mod(s0, 8)"),
    (PythonMod(U0, 8), "pymod(u0, 8)"),
    (sympy.Mod(U0, 8), "pymod(u0, 8)"),
    (Max(1, U0), "max(1, u0)"),
    (Min(S0, S1, 7), "min(7, s0, s1)"),
    (sympy.Max(U0, S0), "max(s0, u0)"),
    (Where(sympy.Eq(U0, 0), S0, S1), "where(eq(u0, 0), s0, s1)"),
    (Identity(S0 + 1), "identity(s0 + 1)"),
    (torch_functions.ModularIndexing(U0, 4, 8), "modular_indexing(u0, 4, 8)"),
    (torch_functions.CleanDiv(U0, 4), "clean_div(u0, 4)"),
    (torch_functions.PowByNatural(S0, S1), "pow_nat(s0, s1)"),
    (torch_functions.FloatPow(ZF0, 2.0), "float_pow(zf0, 2.0)"),
    (torch_functions.IntTrueDiv(S0, S1), "int_true_div(s0, s1)"),
    (torch_functions.FloatTrueDiv(ZF0, 3.0), "float_true_div(zf0, 3.0)"),
    (torch_functions.ToFloat(S0), "to_float(s0)"),
    (torch_functions.TruncToInt(ZF0), "trunc_to_int(zf0)"),
    (torch_functions.TruncToFloat(ZF0), "trunc_to_float(zf0)"),
    (torch_functions.RoundToInt(ZF0), "round_to_int(zf0)"),
    (torch_functions.RoundDecimal(ZF0, 2), "round_decimal(zf0, 2)"),
    (torch_functions.CeilToInt(ZF0), "ceil_to_int(zf0)"),
    (torch_functions.FloorToInt(ZF0), "floor_to_int(zf0)"),
    (torch_functions.OpaqueUnaryFn_sqrt(ZF0), "sqrt(zf0)"),
    (torch_functions.OpaqueUnaryFn_log2(ZF0), "log2(zf0)"),
    (torch_functions.BitwiseFn_bitwise_and(S0, S1), "bitwise_and(s0, s1)"),
    (
        torch_functions.IsNonOverlappingAndDenseIndicator(S0, S1, S1, U0),
        "non_overlapping_and_dense(s0, s1, s1, u0)",
    ),
    (sympy.Eq(U0, 3), "eq(u0, 3)"),
    (sympy.Ne(U0, S0), "ne(u0, s0)"),
    (sympy.And(U0 < 3, U0 >= 1), "and(ge(u0, 1), lt(u0, 3))"),
    (sympy.Or(sympy.Eq(U0, 1), sympy.Eq(S0, 2)), "or(eq(s0, 2), eq(u0, 1))"),
    (sympy.Not(sympy.And(U0 < 3, S0 < 2), evaluate=False), "not(and(lt(s0, 2), lt(u0, 3)))"),
    (sympy.Abs(U0), "abs(u0)"),
    (sympy.Piecewise((S0, U0 > 2), (S1, True)), "piecewise(s0, gt(u0, 2), s1, true)"),
    (sympy.true, "true"),
    (sympy.oo, "oo"),
    (-sympy.oo, "-oo"),
    (int_oo, "int_oo"),
    (-int_oo, "-int_oo"),
    (sympy.nan, "nan"),
    (sympy.Float(0.1), "0.1"),
    (sympy.Float(1e-300) * ZF0, "1e-300*zf0"),
    (ZF0 - sympy.Float(1.5), "zf0 - 1.5"),
    (-sympy.Float(1.5) * ZF0, "-1.5*zf0"),
    (SingletonInt(3, coeff=2), "nested_int(3, 2)"),
]


@pytest.mark.parametrize(("expr", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text_of_sympy(expr: Any, text: str) -> None:
    e = from_sympy(expr)
    assert str(e) == text
    assert parse_expr(text) is e
    back = to_sympy(e, SYMBOLS)
    assert from_sympy(back) is e
    if not isinstance(expr, (sympy.Max, sympy.Mod, SingletonInt)):
        assert back == expr


def test_integers_are_python_ints() -> None:
    assert type(from_sympy(sympy.Integer(5))) is int
    assert type(from_sympy(sympy.S.Zero)) is int
    assert from_sympy(7) == 7
    assert parse_expr("-3 + 5") == 2
    assert to_sympy(5, {}) == sympy.Integer(5)


def test_equal_numbers_of_other_kinds_are_other_expressions() -> None:
    ones = [constant(1.0), constant(True), parse_expr("1.0"), parse_expr("true")]
    assert ones[0] is ones[2]
    assert ones[1] is ones[3]
    assert ones[0] is not ones[1]
    assert constant(0.0) is not constant(-0.0)
    assert all(one != 1 for one in ones)


@given(st.floats())
def test_floats_keep_every_bit(value: float) -> None:
    e = constant(value)
    assert isinstance(e, SymExpr)
    again = parse_expr(e.text)
    assert again is e
    assert isinstance(e.value, float)
    if math.isnan(value):
        assert math.isnan(e.value)
    else:
        assert e.value.hex() == value.hex()


def test_floats_of_another_precision() -> None:
    expr = sympy.Float("0.1", precision=100)
    e = from_sympy(expr)
    assert isinstance(e, SymExpr)
    assert e.text.startswith("bigfloat(")
    assert parse_expr(e.text) is e
    assert to_sympy(e, {}) == expr


@pytest.mark.parametrize(
    "text",
    [
        *("nan", "inf", "-inf", "-0.0", "zoo", "-oo + oo", "s0 - oo", "-(1.5)*s0", "2*1.5*s0"),
        *("-2*1.5*s0", "2**s0*s1", "(2**s0)**2", "cdiv(s0, 4)", "lshift(s0, 2)", "rshift(s0, s1)"),
        *("xor(eq(s0, 1), eq(s1, 1))", "ite(eq(s0, 1), eq(s1, 1), true)", "max(1, s0)"),
        *("floordiv(4, 2)", "1.5**s0", "-1.5**s0", "s0**rational(1, 2)", "-s0**s1", "-1.5"),
        *("s0*oo", "-int_oo*s0", "-zf0 - 0.0", "floordiv(s0, s1 + 1)*(s0 + s1)"),
    ],
)
def test_canonical_text_is_stable(text: str) -> None:
    e = parse_expr(text)
    assert isinstance(e, SymExpr)
    assert parse_expr(e.text) is e


def test_layout_of_the_text_does_not_matter() -> None:
    for text in ("1+s0 * 2", "2*s0+1", " (s0) + s0 + 1 ", "1 - (-2)*s0", "2*(s0 + 1) - 1"):
        assert str(parse_expr(text)) == "2*s0 + 1"
    assert parse_expr("max(s1, 1, s0, s0)") is parse_expr("max(1, s0, s1)")
    assert parse_expr("s0*s0*s1") is parse_expr("s1*s0**2")
    assert parse_expr("(s0*s1)**2") is parse_expr("s0**2*s1**2")
    assert parse_expr("s0 - s0") == 0
    assert parse_expr("0*s0") == 0


def test_ordered_arguments_stay() -> None:
    assert parse_expr("eq(2, s0)") is not parse_expr("eq(s0, 2)")
    assert parse_expr("bitwise_and(s0, s0)") is not parse_expr("bitwise_and(s0, s1)")


# --- the object ---------------------------------------------------------------------------------


def test_symbols_and_parts() -> None:
    e = parse_expr("2*s0 + floordiv(u0, s1) + 1")
    assert isinstance(e, SymExpr)
    assert e.symbols == {"s0", "s1", "u0"}
    assert e.head == "add"
    assert e.args[-1] == 1
    assert str(e) == e.text
    assert repr(e) == f"SymExpr({e.text!r})"


def test_expressions_are_immutable_and_interned() -> None:
    e = symbol("s0")
    with pytest.raises(AttributeError, match="immutable"):
        e.text = "s1"
    with pytest.raises(TypeError, match="interned"):
        SymExpr("s0")
    assert copy.deepcopy(parse_expr("s0 + 1")) is parse_expr("s0 + 1")
    assert pickle.loads(pickle.dumps(parse_expr("s0 + 1"))) is parse_expr("s0 + 1")


def test_interning_is_weak() -> None:
    name = "s987654"
    e = call("floordiv", symbol(name), 3)
    text = e.text
    assert text in expression_nodes._INTERNED
    del e
    gc.collect()
    assert text not in expression_nodes._INTERNED


def test_interning_from_many_threads_gives_one_object() -> None:
    seen: list[list[SymExpr]] = []
    start = threading.Barrier(4)

    def build() -> None:
        start.wait()
        seen.append([call("floordiv", symbol(f"s{i}"), 1234) for i in range(500)])

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for row in zip(*seen, strict=True):
        assert all(e is row[0] for e in row)


def test_reading_expressions_needs_no_torch() -> None:
    code = (
        "import sys; from xductor.ir.symbolic.expressions import parse_expr;"
        "parse_expr('2*s0 + floordiv(s1, 4)'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "an integer"),
        ("s0 +", 5, "an integer"),
        ("s0 // 2", 4, "floordiv"),
        ("s0 % 2", 4, "floordiv"),
        ("s0 == 2", 4, "eq"),
        ("s0 s1", 4, "the end"),
        ("(s0", 4, "')'"),
        ("max(1,, 2)", 7, "a symbol"),
        ("1 + nope(s0)", 5, "floordiv"),
        ("1 + where(s0)", 5, "3"),
        ("rational(2, 4)", 1, "coprime"),
        ("rational(s0, 4)", 1, "integers"),
        ("s0 + #", 6, "a symbol"),
        ("s0**", 5, "an integer"),
        ("max(s0", 7, "',' or ')'"),
    ],
)
def test_errors_point_at_the_text(text: str, column: int, expected: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expr(text)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.text, error.column) == (text, column)
    assert expected in error.expected
    assert f"column {column}" in str(error)


def test_deep_nesting_is_an_error_of_the_text() -> None:
    with pytest.raises(ExpressionError, match="nested too deeply"):
        parse_expr("(" * 15_000 + "s0" + ")" * 15_000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("*".join(["3"] * 16_000), "a number has more than 4096 bits"),
        ("*".join(["9" * 99] * 300), "a number has more than 4096 bits"),
        ("*".join([f"({'9' * 99}*s0)"] * 300), "a number has more than 4096 bits"),
        ("*".join([f"rational(1, {n})*s0" for n in range(2, 1500)]), "more than 4096 bits"),
        ("+".join([f"rational(1, {10**98 + n})" for n in range(280)]), "more than 4096 bits"),
        ("((9**1000)**1000)**1000", "a number has more than 4096 bits"),
        ("((s0**1000)**1000)**1000", "too large an exponent"),
        ("((s0 + 1)**1000)**1000", "too large an exponent"),
        ("*".join(["s0"] * 2000), "too large an exponent"),
        ("*".join(["3"] * 60_000), "119999 characters are too long"),
        ("+".join(["s0"] * 60_000), "179999 characters are too long"),
        ("+".join(["1"] * 60_000), "119999 characters are too long"),
    ],
)
def test_what_folds_without_end_is_refused_at_once(text: str, said: str) -> None:
    def is_refused() -> None:
        with pytest.raises(ExpressionError, match=said) as raised:
            parse_expr(text)
        assert raised.value.text == text
        assert len(str(raised.value)) < 2000

    assert least_seconds(is_refused, limit=1) < 1


@pytest.mark.parametrize("text", ["pow_nat(9, s0)", "lshift(1, s0)", "pow_nat(s0, s0)"])
def test_what_is_too_large_stays_a_call(text: str) -> None:
    found = substitute(parse_expr(text), {"s0": 99_999_999_999})
    assert isinstance(found, SymExpr)


def test_products_of_many_sums_stay_products() -> None:
    """A few factors multiplied out have more terms than anybody can hold."""
    sums = [parse_expr(f"a{n} + b{n} + c{n} + d{n}") for n in range(40)]

    def is_refused() -> None:
        with pytest.raises(ExpressionError, match="characters are too long"):
            functools.reduce(mul, sums)

    assert least_seconds(is_refused, limit=2) < 2
    product = mul(sums[0], sums[1])
    assert isinstance(product, SymExpr)
    assert product.head == "add"


def test_unknown_sympy_classes_are_named() -> None:
    with pytest.raises(ExpressionError, match=r"no entry for the sympy class .*gamma"):
        from_sympy(sympy.gamma(ZF0))


@pytest.mark.parametrize("name", ["nan", "a b", "", "1x", "int_oo"])
def test_names_that_are_no_symbols(name: str) -> None:
    with pytest.raises(ExpressionError):
        symbol(name)


def test_unbound_symbols_are_named() -> None:
    with pytest.raises(ExpressionError, match=r"unbound symbol 's7'.*s0"):
        to_sympy(parse_expr("s7 + 1"), SYMBOLS)
