"""Facts about symbols: three-valued answers, from both sources, that guard nothing."""

from __future__ import annotations

import gc
import operator
import weakref
from typing import Any

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from xductor.ir import Facts, SymbolTable, SymExpr
from xductor.ir.symbolic.expressions import (
    Expr,
    add,
    call,
    evaluated,
    floordiv,
    from_sympy,
    mul,
    parse_expr,
    sub,
    substitute,
    symbol,
    to_sympy,
)
from xductor.ir.symbolic.shape_environments import fresh_shape_env
from xductor.ir.symbolic.symbol_parser import parse_symbol_table
from xductor.ir.symbolic.symbols import make_symbols

TABLE = parse_symbol_table(
    "symbols(s0 : int positive [2, int_oo] hint 16, s1 : int positive [2, 100] hint 9, "
    "s2 : int [-4, 4] hint 3, s3 : int positive [5, 5] hint 5, "
    "u0 : int unbacked size_like [0, int_oo], u1 : int unbacked [-int_oo, int_oo], "
    "zf0 : float real [-oo, oo] hint 3.5)"
)

QUESTIONS: list[tuple[str, str, str, bool | None]] = [
    ("known_equal", "4", "4", True),
    ("known_equal", "4", "5", False),
    ("known_equal", "s0", "s0", True),
    ("known_equal", "u1", "u1", True),
    ("known_equal", "s0", "s1", None),
    ("known_equal", "s0", "s0 + 1", False),
    ("known_equal", "(s0 + 1)*(s1 + 1)", "s0*s1 + s0 + s1 + 1", True),
    ("known_equal", "(s0 + 1)**2", "s0**2 + 2*s0 + 1", True),
    ("known_equal", "mod(8*s0, 4)", "0", True),
    ("known_equal", "0", "pymod(8*s2 + 3, 4)", False),
    ("known_equal", "mod(s0, 4)", "0", None),
    ("known_equal", "mod(s0, 4)", "7", False),
    ("known_equal", "floordiv((s0 + 1)*s1, 2)", "floordiv(s0*s1 + s1, 2)", True),
    ("known_equal", "s0", "1", False),
    ("known_equal", "s0", "2", None),
    ("known_equal", "u0", "0", None),
    ("known_equal", "u0", "-1", False),
    ("known_equal", "s3", "5", True),
    ("known_equal", "s3*s0", "5*s0", True),
    ("known_equal", "s1", "101", False),
    ("known_equal", "2*s0", "2*u1 + 1", False),
    ("known_equal", "2*s0", "4*u1 + 2", None),
    ("known_equal", "max(1, s0)", "s0", True),
    ("known_equal", "max(1, u0)", "u0", None),
    ("known_equal", "max(u0, -1, u0 + 1)", "u0 + 1", True),
    ("known_equal", "min(s1, 200)", "s1", True),
    ("known_equal", "min(s0, s0*s1)", "s0", True),
    ("known_equal", "max(s0, s0*s1)", "s0*s1", True),
    ("known_equal", "max(s0, s0*s1)", "s0", False),
    ("known_equal", "min(s0, s1)", "s0", None),
    ("known_equal", "floordiv(4*s0, 2)", "2*s0", True),
    ("known_equal", "4*floordiv(s0, 4)", "s0", None),
    ("known_equal", "4*floordiv(8*s0 + 4, 4)", "8*s0 + 4", True),
    ("known_equal", "3*clean_div(s0, 3)", "s0", True),
    ("known_equal", "mod(s0, 4)", "4", False),
    ("known_equal", "where(eq(s0, 2), 3, 4)", "5", False),
    ("known_equal", "1.5", "1.5", True),
    ("known_equal", "1.5", "2.5", False),
    ("known_equal", "2.0", "2", True),
    ("known_equal", "zf0", "zf0 + 0.0", None),
    ("known_equal", "zf0 + 1.0", "1.0 + zf0", True),
    ("known_equal", "true", "1", None),
    ("known_ne", "s0", "0", True),
    ("known_ne", "s0", "s0", False),
    ("known_ne", "s0", "s1", None),
    ("known_le", "3", "4", True),
    ("known_le", "s0", "s0", True),
    ("known_le", "2", "s0", True),
    ("known_le", "3", "s0", None),
    ("known_le", "s1", "100", True),
    ("known_le", "s1", "99", None),
    ("known_le", "s0", "1", False),
    ("known_le", "s0", "s0*s1", True),
    ("known_le", "s0 + s1", "s0*s1", True),
    ("known_le", "u0", "u0*s0", True),
    ("known_le", "u1", "u1*s0", None),
    ("known_le", "s2", "4", True),
    ("known_le", "s2**2", "16", True),
    ("known_le", "0", "s2**2", True),
    ("known_le", "s2**3", "-65", False),
    ("known_le", "floordiv(s1, 2)", "50", True),
    ("known_le", "cdiv(s1, 3)", "34", True),
    ("known_le", "u0", "int_oo", True),
    ("known_le", "int_oo", "u1 + s0", False),
    ("known_lt", "-int_oo", "u1", True),
    ("known_equal", "u1", "int_oo", False),
    ("known_le", "-int_oo", "int_oo", True),
    ("known_le", "zf0", "int_oo", None),
    ("known_lt", "s0", "s0", False),
    ("known_lt", "s0", "s0 + 1", True),
    ("known_lt", "mod(u0, 4)", "4", True),
    ("known_lt", "pymod(u1, 4)", "4", True),
    ("known_lt", "s1", "101", True),
    ("known_lt", "s1", "s0", None),
    ("known_lt", "nan", "nan", False),
    ("known_lt", "-1.0", "2", True),
    ("divides", "4", "8", True),
    ("divides", "4", "6", False),
    ("divides", "0", "0", True),
    ("divides", "0", "4", False),
    ("divides", "1", "u1", True),
    ("divides", "2", "4*s0 + 6", True),
    ("divides", "4", "4*s0 + 6", False),
    ("divides", "4", "2*s0", None),
    ("divides", "s0", "s0*s1", True),
    ("divides", "s0", "s0*s1 + s0", True),
    ("divides", "s0", "s1", None),
    ("divides", "s0", "0", True),
    ("divides", "200", "s1", False),
    ("divides", "s3", "10*s0", True),
    ("divides", "2", "zf0", None),
]


@pytest.fixture(scope="module")
def sources() -> dict[str, Facts]:
    env, _ = fresh_shape_env(TABLE)
    return {"table": Facts.from_table(TABLE), "shape_env": Facts.from_shape_env(env)}


@pytest.mark.parametrize("source", ["table", "shape_env"])
@pytest.mark.parametrize(("question", "a", "b", "answer"), QUESTIONS)
def test_answers(
    sources: dict[str, Facts], source: str, question: str, a: str, b: str, answer: bool | None
) -> None:
    ask = getattr(sources[source], question)
    assert ask(parse_expr(a), parse_expr(b)) is answer
    # The remembered answer is the same one.
    assert ask(parse_expr(a), parse_expr(b)) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("true", True),
        ("false", False),
        ("lt(s0, 2)", False),
        ("gt(s0, 1)", True),
        ("ge(s0, 3)", None),
        ("not(lt(s0, 2))", True),
        ("and(gt(s0, 1), lt(s1, 101))", True),
        ("and(ge(s0, 3), lt(s0, 2))", False),
        ("and(ge(s0, 3), lt(s1, 101))", None),
        ("or(ge(s0, 3), lt(s1, 101))", True),
        ("or(lt(s0, 2), eq(s0, 1))", False),
        ("ne(s0, 0)", True),
        ("xor(eq(s0, 0), eq(s0, 3))", None),
        ("5", None),
    ],
)
def test_boolean_expressions(sources: dict[str, Facts], text: str, answer: bool | None) -> None:
    for facts in sources.values():
        assert facts.holds(parse_expr(text)) is answer


def test_bounds(sources: dict[str, Facts]) -> None:
    inf = float("inf")
    for facts in sources.values():
        assert facts.bounds(7) == (7, 7)
        assert facts.bounds(parse_expr("2*s1 + 1")) == (5, 201)
        assert facts.bounds(parse_expr("s0*s1 - s0")) == (2, inf)
        assert facts.bounds(parse_expr("s2*s1")) == (-400, 400)
        assert facts.bounds(parse_expr("min(s0, 7)")) == (2, 7)
        assert facts.bounds(parse_expr("zf0")) == (-inf, inf)
        assert facts.bounds(parse_expr("abs(s2)")) == (0, 4)


def test_bounds_of_huge_numbers_stay_exact() -> None:
    facts = Facts.from_table(TABLE)
    huge = 10**400
    assert facts.known_lt(mul(symbol("s1"), huge), mul(101, huge)) is True
    assert facts.known_le(mul(symbol("s0"), huge), 0) is False


def test_unknown_symbols_are_sizes_only_by_torchs_names() -> None:
    facts = Facts.from_table(SymbolTable())
    assert facts.known_lt(symbol("s7"), parse_expr("s7 + 1")) is True
    assert facts.known_le(0, symbol("s7")) is None
    assert facts.known_lt(symbol("mystery"), parse_expr("mystery + 1")) is None
    assert facts.known_equal(symbol("mystery"), symbol("mystery")) is True


def test_replacements_of_a_table() -> None:
    facts = Facts.from_table(parse_symbol_table("symbols(s0 : int positive [2, 9], s1 = 2*s0)"))
    assert facts.known_equal(symbol("s1"), parse_expr("s0 + s0")) is True
    assert facts.divides(2, symbol("s1")) is True


# --- a live ShapeEnv ----------------------------------------------------------------------------


def _state(env: ShapeEnv) -> tuple[Any, ...]:
    return (
        len(env.guards),
        dict(env.replacements),
        dict(env.var_to_range),
        set(env.divisible),
        dict(env.axioms),
        env.num_deferred_runtime_asserts,
        {sym: len(asserts) for sym, asserts in env.deferred_runtime_asserts.items()},
        env._version_counter,
        dict(env.symbol_guard_counter),
        env.unbacked_symint_counter,
    )


def test_a_symbol_that_a_guard_says_is_zero_takes_its_products_along() -> None:
    """`h[:, -n:]` with `n = 0`: guards on sizes leave the symbol, but only zero for it."""
    table = parse_symbol_table(
        "symbols(s0 : int positive [2, int_oo] hint 9, s1 : int [-int_oo, 0] hint 0, "
        "s2 : int positive [2, int_oo] hint 3)"
    )
    env, values = fresh_shape_env(table)
    assert bool(values["s0"] * 128 == (values["s0"] + values["s1"]) * 128)
    facts = Facts.from_shape_env(env)
    assert facts.known_equal(parse_expr("(s0 + s1)*s2"), parse_expr("s0*s2")) is True
    assert facts.known_equal(parse_expr("(s0 + s1)*s2 + s1"), parse_expr("s0*s2")) is True
    assert facts.known_equal(parse_expr("(s0 + s1)*s2"), parse_expr("s0*s2 + 1")) is not True
    assert facts.known_equal(parse_expr("(s0 + s1)*s2"), parse_expr("s0*s2 + s0")) is not True


def test_asking_leaves_the_shape_env_as_it_was() -> None:
    env, values = fresh_shape_env(TABLE)
    bool(values["s0"] % 4 == 0)
    torch._check(values["u0"] <= values["s0"])
    before = _state(env)
    facts = Facts.from_shape_env(env)
    for question, a, b, _ in QUESTIONS:
        getattr(facts, question)(parse_expr(a), parse_expr(b))
    facts.holds(parse_expr("le(u0, s0)"))
    facts.bounds(parse_expr("u0 + s0"))
    assert _state(env) == before


def test_guards_are_facts() -> None:
    env, values = fresh_shape_env(TABLE)
    facts = Facts.from_shape_env(env)
    s0, s1 = symbol("s0"), symbol("s1")
    assert facts.known_lt(s1, s0) is None
    assert bool(values["s1"] + 3 < values["s0"])
    assert facts.known_lt(s1, s0) is True
    assert facts.known_le(s0, s1) is False
    assert facts.known_equal(s0, s1) is False
    assert facts.known_le(add(s1, 4), s0) is True
    assert facts.known_le(add(s1, 5), s0) is None
    assert facts.known_le(s1, add(s0, symbol("u0"))) is True


def test_runtime_asserts_are_facts() -> None:
    env, values = fresh_shape_env(TABLE)
    facts = Facts.from_shape_env(env)
    assert facts.known_le(symbol("u0"), symbol("s0")) is None
    torch._check(values["u0"] <= values["s0"])
    assert facts.known_le(symbol("u0"), symbol("s0")) is True
    torch._check(values["u1"] * values["u1"] != values["s0"])
    assert facts.known_ne(parse_expr("u1**2"), symbol("s0")) is True


def test_remainders_that_were_checked_are_facts() -> None:
    env, values = fresh_shape_env(TABLE)
    facts = Facts.from_shape_env(env)
    assert facts.divides(4, symbol("s0")) is None
    assert bool(values["s0"] % 8 == 0)
    for divisor in (8, 4, 2):
        assert facts.divides(divisor, symbol("s0")) is True
    assert facts.divides(16, symbol("s0")) is None
    assert facts.divides(16, parse_expr("2*s0")) is True
    assert facts.divides(8, parse_expr("s0*s1 + 8")) is True
    assert facts.known_equal(parse_expr("8*floordiv(s0, 8)"), symbol("s0")) is True
    torch._check(values["u0"] % values["s1"] == 0)
    assert facts.divides(symbol("s1"), symbol("u0")) is True
    assert facts.known_equal(parse_expr("s1*floordiv(u0, s1)"), symbol("u0")) is True


def test_replaced_symbols_are_seen_through() -> None:
    env, values = fresh_shape_env(TABLE)
    facts = Facts.from_shape_env(env)
    assert facts.known_equal(symbol("u0"), symbol("s0")) is None
    torch._check(values["u0"] == values["s0"])
    assert facts.known_equal(symbol("u0"), symbol("s0")) is True
    assert facts.known_le(2, symbol("u0")) is True
    assert facts.known_equal(parse_expr("3*u0 + 1"), parse_expr("s0 + 2*u0 + 1")) is True


def test_facts_do_not_keep_a_shape_env() -> None:
    env, _ = fresh_shape_env(TABLE)
    facts = Facts.from_shape_env(env)
    for question, a, b, _ in QUESTIONS:
        getattr(facts, question)(parse_expr(a), parse_expr(b))
    alive = weakref.ref(env)
    del facts, env
    gc.collect()
    assert alive() is None


# --- against numbers, and against torch's own evaluation ----------------------------------------

RANGES = {"s0": (2, 30), "s1": (2, 100), "s2": (-4, 4), "s3": (5, 5), "u0": (0, 30), "u1": (-9, 9)}
LEAVES = st.one_of(st.sampled_from(sorted(RANGES)).map(symbol), st.integers(-5, 9))


def _combine(name: str, a: Expr, b: Expr) -> Expr:
    arithmetic = {"+": add, "-": sub, "*": mul}
    if name in arithmetic:
        return arithmetic[name](a, b)
    if name == "floordiv":
        return floordiv(a, b) if b != 0 else a
    if name == "where":
        return call("where", call("lt", a, b), a, b)
    if name == "parse(max)":
        return call("max", a, b)
    return evaluated(name, a, b)


OPERATIONS = ["+", "-", "*", "floordiv", "pymod", "cdiv", "max", "min", "where", "parse(max)"]
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.builds(_combine, st.sampled_from(OPERATIONS), inner, inner),
    max_leaves=6,
)
VALUES = st.fixed_dictionaries({name: st.integers(*bounds) for name, bounds in RANGES.items()})
TRUTH = {
    "known_equal": operator.eq,
    "known_ne": operator.ne,
    "known_le": operator.le,
    "known_lt": operator.lt,
    "divides": lambda k, e: e == 0 if k == 0 else e % k == 0,
}
FACTS = Facts.from_table(TABLE)


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS, st.lists(VALUES, min_size=3, max_size=6))
def test_no_answer_is_refuted_by_numbers(a: Expr, b: Expr, samples: list[dict[str, int]]) -> None:
    for values in samples:
        x, y = substitute(a, values), substitute(b, values)
        if isinstance(x, SymExpr) or isinstance(y, SymExpr):
            continue  # a division by zero
        for question, truth in TRUTH.items():
            assert getattr(FACTS, question)(a, b) in (None, truth(x, y)), (question, a, b, values)
        low, high = FACTS.bounds(a)
        assert low <= x <= high


def _torchs_answer(env: ShapeEnv, question: str, a: Expr, b: Expr) -> bool | None:
    symbols = make_symbols(TABLE)
    relation = {"known_equal": sympy.Eq, "known_le": sympy.Le, "known_lt": sympy.Lt}[question]
    expr = relation(to_sympy(a, symbols), to_sympy(b, symbols))
    result = env._maybe_evaluate_static(expr)
    return None if result is None else bool(result)


def test_what_torch_knows_we_know() -> None:
    env, _ = fresh_shape_env(TABLE)
    facts = Facts.from_table(TABLE)
    decided = 0
    for question, a, b, _ in QUESTIONS:
        if question not in ("known_equal", "known_le", "known_lt") or "nan" in (a, b):
            continue
        left, right = parse_expr(a), parse_expr(b)
        # torch has no answer for these kinds, or fails on them.
        if any(word in f"{a} {b}" for word in (".", "zf0", "true", "int_oo")):
            continue
        theirs = _torchs_answer(env, question, left, right)
        if theirs is not None:
            decided += 1
            assert getattr(facts, question)(left, right) is theirs, (question, a, b)
    assert decided > 25


def test_asking_again_is_cheap(sources: dict[str, Facts]) -> None:
    facts = sources["table"]
    a, b = parse_expr("s0"), parse_expr("s0*s1")
    assert facts.known_le(a, b) is True
    before = dict(facts._answers)
    assert facts.known_le(a, b) is True
    assert facts._answers == before
    assert ("le", a, b) in before


def test_a_symint_of_torch_can_be_asked_about() -> None:
    env, values = fresh_shape_env(TABLE)
    facts = Facts.from_shape_env(env)
    size = from_sympy((values["s0"] * 2 + 2).node.expr)
    assert facts.divides(2, size) is True
    assert facts.known_lt(symbol("s0"), size) is True
