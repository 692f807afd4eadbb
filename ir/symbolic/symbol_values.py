"""Numbers for the symbols of a graph, so that it can be run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from xductor.ir.symbolic.expression_arithmetic import substitute
from xductor.ir.symbolic.expressions import SymExpr
from xductor.ir.symbolic.symbols import SymbolInfo, SymbolTable

Number = int | float

#: The value of a size that is known only at run time.
UNBACKED = 3


class NoSample(ValueError):
    """A graph cannot be run on generated inputs; the message says why."""


def symbol_values(
    table: SymbolTable, given: Mapping[str, Number] | None = None
) -> dict[str, Number]:
    """A value for each symbol of a table: the given one, else its hint, else one in its range.

    Raises NoSample if a given symbol is not in the table, if a value is out of range, or if it is a
    fraction although the symbol is an integer.
    """
    given = given or {}
    unknown = sorted(given.keys() - table.keys())
    if unknown:
        known = ", ".join(table) or "none"
        raise NoSample(f"the graph has no symbol {', '.join(unknown)}; its symbols are: {known}")
    values: dict[str, Number] = {}
    for name, info in table.items():
        if name in given:
            low, high = bounds(info)
            if info.kind == "int" and given[name] != int(given[name]):
                raise NoSample(f"{name} = {given[name]}, but {name} is an integer")
            if not low <= given[name] <= high:
                raise NoSample(f"{name} = {given[name]} is not in its range, [{low}, {high}]")
            values[name] = given[name]
        else:
            values[name] = _usual(info)
    return _with_replacements(table, values)


def symbol_choices(table: SymbolTable, seed: int = 0) -> Iterator[dict[str, Number]]:
    """An endless stream of assignments: the hints, then the smallest sizes, then random ones.

    The smallest are each symbol's lower bound (0 or 1, if in range), 1 and 2. Some assignments may
    not suit a graph: divisibility, for example, is not part of the table.
    """
    yield symbol_values(table)
    if not table:
        while True:
            yield {}
    generator = random.Random(seed)
    for least in (0, 1, 2):
        yield _with_replacements(
            table, {name: _clamped(info, least) for name, info in table.items()}
        )
    while True:
        yield _with_replacements(
            table,
            {name: _clamped(info, generator.randint(0, 9)) for name, info in table.items()},
        )


def bounds(info: SymbolInfo) -> tuple[float, float]:
    """The range of a symbol as numbers, including infinities."""
    ends = [_end(info.lower), _end(info.upper)]
    if "positive" in info.assumptions:
        ends[0] = max(ends[0], 1 if info.kind == "int" else 0)
    return ends[0], ends[1]


def number(expr: Any, symbols: Mapping[str, Number]) -> Any:
    """The value of a size, a stride or the expression of a scalar type.

    Raises NoSample if it has none.
    """
    if not isinstance(expr, SymExpr):
        return expr
    known = {name: symbols[name] for name in expr.symbols & symbols.keys()}
    integers = {name: value for name, value in known.items() if isinstance(value, int)}
    if len(integers) == len(expr.symbols):
        found = substitute(expr, integers)
        if isinstance(found, int):
            return found
    return _by_sympy(expr, symbols)


def _by_sympy(expr: SymExpr, symbols: Mapping[str, Number]) -> Any:
    import sympy

    from xductor.ir.symbolic.expressions import to_sympy

    made = {name: sympy.Symbol(name) for name in expr.symbols}
    value: Any = to_sympy(expr, made).xreplace(
        {made[name]: sympy.sympify(symbols[name]) for name in expr.symbols & symbols.keys()}  # noqa: TID251  a number, not text
    )
    if value in (sympy.true, sympy.false):
        return bool(value)
    if not value.is_number:
        given = ", ".join(f"{name} = {value}" for name, value in symbols.items())
        raise NoSample(f"{expr} has no value{f' for {given}' if given else ''}")
    return int(value) if value.is_integer else float(value)


def _usual(info: SymbolInfo) -> Number:
    if isinstance(info.hint, int | float):
        return info.hint
    if info.kind == "float":
        return 1.5
    return _clamped(info, UNBACKED)


def _clamped(info: SymbolInfo, wanted: int) -> Number:
    low, high = bounds(info)
    value = min(max(wanted, low), high)
    return float(value) if info.kind == "float" else int(value)


def _end(end: Any) -> float:
    if isinstance(end, int | float):
        return end
    text = str(end)
    if text.startswith("-") and "oo" in text:
        return float("-inf")
    return float("inf")


def _with_replacements(table: SymbolTable, values: dict[str, Number]) -> dict[str, Number]:
    for name, target in table.replacements.items():
        values[name] = number(target, values)
    return values


__all__ = [
    "UNBACKED",
    "NoSample",
    "bounds",
    "number",
    "symbol_choices",
    "symbol_values",
]
