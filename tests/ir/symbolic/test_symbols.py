"""Symbol tables: text, reading a ShapeEnv, making one."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import sympy
import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from xductor.ir import SymbolTable
from xductor.ir.symbolic.expressions import ExpressionError, from_sympy, parse_expr, symbols_of
from xductor.ir.symbolic.shape_environments import backed_values, fresh_shape_env, table_of
from xductor.ir.symbolic.symbol_parser import parse_symbol_table
from xductor.ir.symbolic.symbols import INT_OO, SymbolInfo, assumptions_of, make_symbols

DESIGN = (
    "symbols(s0 : int positive [2, int_oo] hint 16, u0 : int unbacked size_like [0, int_oo], "
    "zf0 : float real [-oo, oo] hint 3.5, "
    "s1 : int [-5, 100] hint 7 source \"L['x'].size()[0]\" source \"L['y']\", s2 = 2*s0)"
)


# --- text ---------------------------------------------------------------------------------------


def test_text_and_back() -> None:
    table = parse_symbol_table(DESIGN)
    assert table.text == DESIGN
    assert parse_symbol_table(table.text) == table
    assert list(table) == ["s0", "u0", "zf0", "s1"]
    assert table["s0"] == SymbolInfo(
        "s0", "int", ("positive",), backed=True, hint=16, lower=2, upper=INT_OO
    )
    assert table["u0"].size_like
    assert not table["u0"].backed
    assert table["u0"].hint is None
    assert table["zf0"].kind == "float"
    assert table["zf0"].hint == 3.5
    assert table["s1"].sources == ("L['x'].size()[0]", "L['y']")
    assert table.replacements == {"s2": parse_expr("2*s0")}


def test_layout_of_the_text_does_not_matter() -> None:
    text = "symbols ( s0:int   positive[ 2 ,int_oo ]hint 16 )"
    assert parse_symbol_table(text).text == "symbols(s0 : int positive [2, int_oo] hint 16)"


@pytest.mark.parametrize(
    "info",
    [
        SymbolInfo("s0"),
        SymbolInfo("s0", hint=-3, lower=-4, upper=-1, assumptions=("negative",)),
        SymbolInfo("zf0", "float", ("real",), hint=1e-05, lower=parse_expr("-1.5"), upper=INT_OO),
        SymbolInfo("zf0", "float", hint=float("inf")),
        SymbolInfo("zf0", "float", hint=-0.0),
        SymbolInfo("s3", hint=parse_expr("nested_int(2, 1)")),  # type: ignore[arg-type]
        SymbolInfo("b0", "bool", backed=False, lower=0, upper=1),
        SymbolInfo("s4", assumptions=("not_zero",), sources=('quote " and \\ and\nline', ")")),
    ],
    ids=lambda info: info.text,
)
def test_every_field_survives_text(info: SymbolInfo) -> None:
    table = parse_symbol_table(SymbolTable([info]).text)
    assert table[info.name].text == info.text
    assert table[info.name].sources == info.sources
    assert repr(table[info.name].hint) == repr(info.hint)


def test_tables_are_values() -> None:
    one, two = parse_symbol_table(DESIGN), parse_symbol_table(DESIGN)
    assert one == two
    assert hash(one) == hash(two)
    assert one != SymbolTable()
    assert SymbolTable().text == "symbols()"
    assert parse_symbol_table("symbols()") == SymbolTable()
    with pytest.raises(ValueError, match="'s0' stands twice"):
        SymbolTable([SymbolInfo("s0"), SymbolInfo("s0")])
    with pytest.raises(TypeError):
        one["s0"] = one["u0"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("symbols", 8, "'('"),
        ("table()", 1, "'symbols'"),
        ("symbols(s0 int)", 12, "':'"),
        ("symbols(s0 : str [0, 1])", 14, "int, float or bool"),
        ("symbols(s0 : int posit [0, 1])", 18, "assumption"),
        ("symbols(s0 : int [0 1])", 21, "'+'"),
        ("symbols(s0 : int [0, 1)", 23, "'+'"),
        ("symbols(s0 : int [0, 1] hint x)", 30, "a number"),
        ("symbols(s0 : int [0, 1] source x)", 32, "quoted"),
        ("symbols(s0 : int [0, 1], s0 : int [0, 1])", 26, "already stands"),
        ("symbols(s0 : int [0, 1]", 24, "')'"),
        ("symbols() s0", 11, "the end"),
        ("symbols(s0 = 1 // 2)", 16, "floordiv"),
    ],
)
def test_errors_point_at_the_text(text: str, column: int, expected: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_symbol_table(text)
    assert (caught.value.text, caught.value.column) == (text, column)
    assert expected in caught.value.expected


# --- sympy symbols ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "assumptions",
    [
        {"positive": True, "integer": True},
        {"integer": True},
        {"nonnegative": True, "integer": True},
        {"integer": True, "zero": False},
        {"integer": True, "even": True, "positive": True},
        {"real": True},
        {"real": True, "positive": True},
        {},
    ],
    ids=str,
)
def test_made_symbols_equal_the_originals(assumptions: dict[str, bool]) -> None:
    original = sympy.Symbol("s0", **assumptions)
    kind, words = assumptions_of(original)
    table = parse_symbol_table(SymbolTable([SymbolInfo("s0", kind, words)]).text)
    assert make_symbols(table)["s0"] == original
    assert hash(make_symbols(table)["s0"]) == hash(original)


def test_assumptions_are_the_fewest() -> None:
    assert assumptions_of(sympy.Symbol("s", positive=True, integer=True)) == ("int", ("positive",))
    assert assumptions_of(sympy.Symbol("u", integer=True)) == ("int", ())
    assert assumptions_of(sympy.Symbol("z")) == ("float", ())


# --- from a ShapeEnv ----------------------------------------------------------------------------


def _backed(env: ShapeEnv, value: float, name: str, **options: Any) -> Any:
    return env.create_symbol(
        value, ConstantSource(name), dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None, **options
    )


def _shape_env() -> tuple[ShapeEnv, dict[str, Any]]:
    env = ShapeEnv()
    unbacked = env.create_unbacked_symint()
    torch._check(unbacked >= 0)
    torch._check(unbacked <= 64)
    symbols = {
        "size": _backed(env, 16, "size"),
        "other": _backed(env, 9, "other"),
        "any": env.create_unspecified_symbol(-7, ConstantSource("any")),
        "scale": env.create_unspecified_symbol(3.5, ConstantSource("scale")),
        "unbacked": unbacked.node.expr,
        "float": env.create_unbacked_symfloat().node.expr,
    }
    return env, symbols


def test_reading_a_shape_env() -> None:
    env, symbols = _shape_env()
    names = [sym.name for sym in symbols.values()]
    table = table_of(env, names)
    assert list(table) == names
    by_role = {role: table[sym.name] for role, sym in symbols.items()}
    assert by_role["size"].assumptions == ("positive",)
    assert (by_role["size"].lower, by_role["size"].upper) == (2, INT_OO)
    assert by_role["size"].hint == 16
    assert by_role["size"].sources == ("size",)
    assert by_role["any"].hint == -7
    assert by_role["scale"].kind == "float"
    assert by_role["scale"].hint == 3.5
    assert not by_role["unbacked"].backed
    assert (by_role["unbacked"].lower, by_role["unbacked"].upper) == (0, 64)
    assert by_role["float"].kind == "float"
    assert parse_symbol_table(table.text) == table
    assert make_symbols(table) == {s.name: s for s in symbols.values()}


def test_reading_changes_nothing() -> None:
    env, symbols = _shape_env()
    before = (len(env.guards), len(env.replacements), env._version_counter, dict(env.var_to_range))
    table_of(env, [sym.name for sym in symbols.values()])
    after = (len(env.guards), len(env.replacements), env._version_counter, dict(env.var_to_range))
    assert before == after


def test_replaced_symbols_make_room_for_what_replaced_them() -> None:
    env, symbols = _shape_env()
    size = env.create_symintnode(symbols["size"], hint=16)
    twin = env.create_symintnode(_backed(env, 16, "twin"), hint=16)
    name = twin.node.expr.name
    assert bool(size == twin)
    (gone,) = {name, symbols["size"].name} & {sym.name for sym in env.replacements}
    (kept,) = {name, symbols["size"].name} - {gone}
    table = table_of(env, [gone])
    assert list(table) == [kept]
    assert table.replacements == {gone: parse_expr(kept)}
    assert parse_symbol_table(table.text) == table


def test_sets_of_names_come_in_natural_order() -> None:
    table = parse_symbol_table(
        "symbols(s10 : int positive [2, 9] hint 4, s2 : int positive [2, 9] hint 4)"
    )
    env, _ = fresh_shape_env(table)
    assert list(table_of(env, {"s10", "s2"})) == ["s2", "s10"]


def test_unknown_names_are_errors() -> None:
    with pytest.raises(LookupError, match="symbol 's99' is unknown"):
        table_of(ShapeEnv(), ["s99"])


# --- to a ShapeEnv ------------------------------------------------------------------------------


def test_a_fresh_shape_env_has_the_tables_facts() -> None:
    table = parse_symbol_table(DESIGN)
    env, values = fresh_shape_env(table)
    assert list(values) == ["s0", "u0", "zf0", "s1"]
    assert isinstance(values["zf0"], torch.SymFloat)
    # Replacements need no symbol of their own.
    facts = SymbolTable(table.values())
    assert table_of(env, list(table)) == facts
    assert len(backed_values(env)) == 3


def test_computed_sizes_print_under_the_same_names() -> None:
    table = parse_symbol_table(DESIGN)
    env, values = fresh_shape_env(table)
    with FakeTensorMode(shape_env=env):
        x = torch.empty(values["s0"], 64)
        y = torch.cat([x, x])
        z = torch.empty(values["u0"], 4).view(-1)
        fresh = torch.nonzero(x)
    assert str(from_sympy(y.shape[0].node.expr)) == "2*s0"
    assert y.stride() == (64, 1)
    assert str(from_sympy(z.shape[0].node.expr)) == "4*u0"
    assert env.guards == []
    # A new data-dependent size takes a name that is still free.
    assert symbols_of([from_sympy(fresh.shape[0].node.expr)]) == {"u1"}


def test_new_backed_symbols_take_free_names() -> None:
    env, _ = fresh_shape_env(parse_symbol_table(DESIGN))
    names = {_backed(env, 20 + i, f"size{i}").name for i in range(20)}
    assert len(names) == 20
    assert names.isdisjoint({"s0", "s1", "s2"})


def test_hints_decide_guards_in_a_fresh_shape_env() -> None:
    env, values = fresh_shape_env(parse_symbol_table(DESIGN))
    assert bool(values["s0"] > 10)
    assert [str(guard.expr) for guard in env.guards] == ["s0 > 10"]
    with pytest.raises(Exception, match="u0"):
        bool(values["u0"] > 10)


def test_a_fresh_shape_env_is_not_kept() -> None:
    env, values = fresh_shape_env(parse_symbol_table(DESIGN))
    alive = weakref.ref(env)
    del env, values
    gc.collect()
    assert alive() is None
