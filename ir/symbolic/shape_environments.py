"""Reads torch's ShapeEnv into symbol tables, and makes a ShapeEnv from a table.

Attribute names are those of torch 2.11 to 2.14; deprecated properties are not touched.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xductor.ir.symbolic.expression_nodes import Expr, SymExpr, constant
from xductor.ir.symbolic.expressions import from_sympy, to_sympy
from xductor.ir.symbolic.symbols import SymbolInfo, SymbolTable, assumptions_of, make_symbols

if TYPE_CHECKING:
    import sympy
    import torch
    from torch.fx.experimental.symbolic_shapes import ShapeEnv


def backed_values(shape_env: ShapeEnv) -> dict[sympy.Symbol, Any]:
    """The hints of backed symbols: the ShapeEnv's own dictionary."""
    fields = vars(shape_env)
    # Named var_to_val before torch 2.12; later that name is a property that warns.
    for name in ("backed_var_to_val", "var_to_val"):
        if name in fields:
            return fields[name]
    raise LookupError("this torch's ShapeEnv keeps no values of symbols under a known name")


def symbols_by_name(shape_env: ShapeEnv) -> dict[str, sympy.Symbol]:
    """All symbols of a ShapeEnv, including replaced ones."""
    found: dict[str, sympy.Symbol] = {}
    for mapping in (shape_env.replacements, backed_values(shape_env), shape_env.var_to_range):
        for sym in mapping:
            found[sym.name] = sym
    return found


def replaced(shape_env: ShapeEnv, sym: sympy.Symbol) -> Any:
    """A symbol after all replacements, without the path compression of `ShapeEnv._find`."""
    expr: Any = sym
    replacements = shape_env.replacements
    for _ in range(len(replacements) + 1):
        now = {s: replacements[s] for s in expr.free_symbols if s in replacements}
        now = {s: target for s, target in now.items() if s != target}
        if not now:
            break
        expr = expr.xreplace(now)
    return expr


def _ordered_names(names: Iterable[str]) -> list[str]:
    if isinstance(names, (set, frozenset)):

        def natural(name: str) -> tuple[str, int, str]:
            digits = re.search(r"\d+\Z", name)
            return name.rstrip("0123456789"), int(digits[0]) if digits else -1, name

        return sorted(names, key=natural)
    return list(dict.fromkeys(names))


def table_of(shape_env: ShapeEnv, names: Iterable[str]) -> SymbolTable:
    """The facts a ShapeEnv has about some symbols.

    Args:
        shape_env: only read.
        names: kept in order, or sorted if it is a set. For a symbol that the ShapeEnv replaces,
            the symbols of the replacement are taken.

    Raises:
        LookupError: the ShapeEnv does not know a name.
    """
    known = symbols_by_name(shape_env)
    infos: dict[str, SymbolInfo] = {}
    replacements: dict[str, Expr] = {}
    for name in _ordered_names(names):
        if name not in known:
            raise LookupError(
                f"symbol '{name}' is unknown to the ShapeEnv; it knows {', '.join(known) or 'none'}"
            )
        sym = known[name]
        target = replaced(shape_env, sym)
        if target != sym:
            replacements[name] = from_sympy(target)
        for free in sorted(target.free_symbols, key=str):
            if free.name not in infos:
                infos[free.name] = _info(shape_env, free)
    return SymbolTable(infos.values(), replacements)


def _info(shape_env: ShapeEnv, sym: sympy.Symbol) -> SymbolInfo:
    kind, assumptions = assumptions_of(sym)
    values = backed_values(shape_env)
    overrides: Mapping[Any, Any] = getattr(shape_env, "var_to_hint_override", {})
    value = values.get(sym, overrides.get(sym))
    vr = shape_env.var_to_range.get(sym)
    bounds: dict[str, Expr] = {}
    if vr is not None:
        bounds = {"lower": from_sympy(vr.lower), "upper": from_sympy(vr.upper)}
    elif kind == "float":
        bounds = {"lower": constant(float("-inf")), "upper": constant(float("inf"))}
    return SymbolInfo(
        name=sym.name,
        kind=kind,
        assumptions=assumptions,
        backed=sym in values,
        size_like=sym in shape_env.size_like,
        hint=_hint(value),
        # A source with the name of the symbol has no information; fresh ShapeEnvs have such ones.
        sources=tuple(
            name
            for name in map(_source_name, shape_env.var_to_sources.get(sym, ()))
            if name != sym.name
        ),
        **bounds,
    )


def _hint(value: Any) -> float | SymExpr | None:
    if value is None:
        return None
    hint = from_sympy(value)
    if isinstance(hint, SymExpr) and hint.value is not None:
        return hint.value
    return hint


def _source_name(source: Any) -> str:
    name: Any = source.name
    return str(name() if callable(name) else name)  # a method before torch 2.10


def fresh_shape_env(
    table: SymbolTable,
) -> tuple[ShapeEnv, dict[str, torch.SymInt | torch.SymFloat]]:
    """A new ShapeEnv in which the symbols of a table exist under their own names.

    Returns:
        The ShapeEnv, and for each symbol a SymInt (a SymFloat for kind `float`) in it. Sizes
        computed from them print with the table's names; a backed symbol without a hint behaves
        like an unbacked one.
    """
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    shape_env = ShapeEnv()
    symbols = make_symbols(table)
    values: dict[str, torch.SymInt | torch.SymFloat] = {}
    for name, info in table.items():
        _register(shape_env, symbols[name], info, symbols)
    for name, info in table.items():
        values[name] = _symbolic_number(shape_env, symbols[name], info)
    _reserve_names(shape_env, table)
    return shape_env, values


def _register(
    shape_env: ShapeEnv,
    sym: sympy.Symbol,
    info: SymbolInfo,
    symbols: Mapping[str, sympy.Symbol],
) -> None:
    """Enter a symbol as ShapeEnv.create_symbol would, but under its own name."""
    from torch.fx.experimental.symbolic_shapes import ValueRangesSLoc
    from torch.utils._sympy.value_ranges import ValueRanges
    from torch.utils._traceback import CapturedTraceback

    lower: Any = to_sympy(info.lower, symbols)
    upper: Any = to_sympy(info.upper, symbols)
    shape_env.var_to_range[sym] = ValueRanges(lower, upper)
    place = shape_env._get_sloc("symbol table")
    shape_env.var_to_range_sloc[sym] = ValueRangesSLoc(place, place)
    if info.size_like:
        shape_env.size_like.add(sym)
    if info.backed and info.hint is not None:
        hint: Any = to_sympy(info.hint, symbols)
        backed_values(shape_env)[sym] = hint
        shape_env.var_to_sources[sym] = _sources(info)
        shape_env.symbol_guard_counter[sym] = 0
        return
    if info.sources:
        shape_env.var_to_sources[sym] = _sources(info)
    # torch reads the stack of an unbacked symbol when it reports a data-dependent error.
    shape_env.var_to_stack[sym] = CapturedTraceback.extract(skip=1)
    if isinstance(info.hint, int) and hasattr(shape_env, "var_to_hint_override"):
        shape_env.var_to_hint_override[sym] = info.hint


def _sources(info: SymbolInfo) -> list[Any]:
    from torch._dynamo.source import ConstantSource

    return [ConstantSource(name) for name in info.sources or (info.name,)]


def _symbolic_number(shape_env: ShapeEnv, sym: sympy.Symbol, info: SymbolInfo) -> Any:
    create: Any = (
        shape_env.create_symfloatnode if info.kind == "float" else shape_env.create_symintnode
    )
    hint = info.hint if info.backed and not isinstance(info.hint, SymExpr) else None
    if "hint" not in inspect.signature(create).parameters:
        return create(sym)
    return create(sym, hint=hint)


def _reserve_names(shape_env: ShapeEnv, table: SymbolTable) -> None:
    """Keep symbols that the ShapeEnv creates later from taking a name in the table."""
    numbers: dict[str, set[int]] = {}
    for name in (*table, *table.replacements):
        match = re.fullmatch(r"([a-z]+)(\d+)", name)
        if match:
            numbers.setdefault(match[1], set()).add(int(match[2]))
    unbacked = {"u": "unbacked_symint_counter", "zuf": "unbacked_symfloat_counter"}
    for prefix, counter in unbacked.items():
        start = max(numbers.get(prefix, ()), default=-1) + 1
        current: Any = getattr(shape_env, counter)
        # An int in torch 2.13, an itertools.count in torch before 2.10.
        setattr(shape_env, counter, start if isinstance(current, int) else type(current)(start))
    if hasattr(shape_env, "unique_ids"):
        shape_env.unique_ids.update(numbers.get("s", ()), numbers.get("zf", ()))
