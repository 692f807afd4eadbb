"""What a ShapeEnv learned when a kernel ran, and what torch's caches keep of a ShapeEnv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.fx.experimental import symbolic_shapes

from xductor.ir.dialect.types import Dim
from xductor.ir.symbolic.expressions import from_sympy

if TYPE_CHECKING:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    from xductor.ir.symbolic.symbols import SymbolTable

#: The number of guards, the replacements, and the number of asserts by symbol.
State = tuple[int, dict[Any, Any], dict[Any, int]]


def state_of(shape_env: ShapeEnv) -> State:
    """The current facts of a ShapeEnv, for comparison by `assumptions` and `equations`."""
    return (
        len(shape_env.guards),
        dict(shape_env.replacements),
        {symbol: len(rows) for symbol, rows in shape_env.deferred_runtime_asserts.items()},
    )


def assumptions(shape_env: ShapeEnv, before: State) -> tuple[str, ...]:
    """Guards and asserts that running an op added."""
    guards, _, asserts = before
    assumed = [str(guard.expr) for guard in shape_env.guards[guards:]]
    for symbol, rows in shape_env.deferred_runtime_asserts.items():
        assumed += [str(row.expr) for row in rows[asserts.get(symbol, 0) :]]
    return tuple(assumed)


def equations(
    shape_env: ShapeEnv, before: State, table: SymbolTable
) -> tuple[tuple[str, Dim], ...]:
    """Symbols of the table that running an op replaced."""
    replacements: dict[Any, Any] = shape_env.replacements
    return tuple(
        [
            (symbol.name, from_sympy(target))
            for symbol, target in replacements.items()
            if symbol.name in table
            and target != before[1].get(symbol, symbol)
            and all(free.name in table for free in target.free_symbols)
        ]
    )


def drop_shape_env_caches() -> None:
    """Empty the caches of ShapeEnv's methods, which keep every ShapeEnv that was asked.

    The caches only hold answers; other ShapeEnvs of the process compute some of them again.
    """
    for method in vars(symbolic_shapes.ShapeEnv).values():
        clear = getattr(method, "cache_clear", None)
        if clear is not None:
            clear()


__all__ = ["State", "assumptions", "drop_shape_env_caches", "equations", "state_of"]
