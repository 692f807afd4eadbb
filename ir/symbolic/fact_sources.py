"""Sources of facts about symbols: a symbol table, or a live ShapeEnv that is only read."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from xductor.ir.symbolic.expressions import Expr, ExpressionError, SymExpr, from_sympy
from xductor.ir.symbolic.shape_environments import backed_values, replaced, symbols_by_name
from xductor.ir.symbolic.symbols import Kind, SymbolTable

if TYPE_CHECKING:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

#: An exact number, or an infinity.
Bound = int | float | Fraction


class Domain(NamedTuple):
    """Kind and inclusive range of a symbol."""

    kind: Kind
    lower: Bound
    upper: Bound


ANY_INT = Domain("int", -math.inf, math.inf)
_SIZE_NAME = re.compile(r"(s|u|ps)\d+\Z")


class Divisibility(NamedTuple):
    """Whether `divisor` divides `base`."""

    base: Expr
    divisor: Expr
    holds: bool


class FactSource(Protocol):
    """The questions that `Facts` asks."""

    def version(self) -> Hashable:
        """A value that changes when the source learns something, so that answers are dropped."""
        ...

    def domain(self, name: str) -> Domain | None:
        """Kind and range of a symbol; None for an unknown one."""
        ...

    def replacements(self) -> Mapping[str, Expr]:
        """Symbols that are replaced by other expressions, with their final values."""
        ...

    def axioms(self) -> Sequence[SymExpr]:
        """Boolean expressions that are true in this graph."""
        ...

    def divisibilities(self) -> Sequence[Divisibility]:
        """Known divisibilities."""
        ...


def domain_by_name(name: str) -> Domain | None:
    """The domain of an undescribed symbol: torch's names for sizes are integers."""
    return ANY_INT if _SIZE_NAME.match(name) else None


def _bound(e: Expr, default: float) -> Bound:
    if isinstance(e, int):
        return e
    if e.text in ("int_oo", "oo", "inf"):
        return math.inf
    if e.text in ("-int_oo", "-oo", "-inf"):
        return -math.inf
    return e.value if type(e.value) is float else default


def _sharpened(domain: Domain, assumptions: Iterable[str]) -> Domain:
    """The domain narrowed by sympy assumptions: `positive`, for example, bounds an integer."""
    kind, lower, upper = domain
    if kind != "float":
        floor = {"positive": 1, "nonnegative": 0}
        ceiling = {"negative": -1, "nonpositive": 0}
        lower = max([lower, *(floor[a] for a in assumptions if a in floor)])
        upper = min([upper, *(ceiling[a] for a in assumptions if a in ceiling)])
    return Domain(kind, lower, upper)


def remainder_facts(axioms: Iterable[SymExpr]) -> list[Divisibility]:
    """The axioms of the form `eq(mod(a, b), 0)` and `ne(mod(a, b), 0)`."""
    found: list[Divisibility] = []
    for axiom in axioms:
        if axiom.head not in ("eq", "ne"):
            continue
        left, right = axiom.args
        if left == 0:
            left, right = right, left
        if right == 0 and isinstance(left, SymExpr) and left.head in ("mod", "pymod"):
            found.append(Divisibility(left.args[0], left.args[1], axiom.head == "eq"))
    return found


class TableSource:
    """Facts of a symbol table: ranges and assumptions."""

    def __init__(self, table: SymbolTable):
        self.table = table
        self._domains = {
            name: _sharpened(
                Domain(info.kind, _bound(info.lower, -math.inf), _bound(info.upper, math.inf)),
                info.assumptions,
            )
            for name, info in table.items()
        }

    def version(self) -> Hashable:
        return None

    def domain(self, name: str) -> Domain | None:
        return self._domains.get(name)

    def replacements(self) -> Mapping[str, Expr]:
        return self.table.replacements

    def axioms(self) -> Sequence[SymExpr]:
        return ()

    def divisibilities(self) -> Sequence[Divisibility]:
        return ()


class ShapeEnvSource:
    """Facts of a live ShapeEnv: ranges, replacements, guards, deferred asserts, divisibility.

    Only attributes are read. Its methods are not called: even those that do not guard compress
    replacement chains, and their caches keep the ShapeEnv alive.
    """

    def __init__(self, shape_env: ShapeEnv):
        self.shape_env = shape_env
        self._read: Hashable = None
        self._symbols: dict[str, Any] = {}
        self._replacements: dict[str, Expr] = {}
        self._axioms: list[SymExpr] = []
        self._divisibilities: list[Divisibility] = []

    def version(self) -> Hashable:
        env = self.shape_env
        return (
            len(env.guards),
            len(env.replacements),
            len(env.divisible),
            env.num_deferred_runtime_asserts,
            len(env.var_to_range),
            len(backed_values(env)),
        )

    def _refresh(self) -> None:
        version = self.version()
        if version == self._read:
            return
        env = self.shape_env
        self._symbols = symbols_by_name(env)
        self._replacements = {}
        for sym in env.replacements:
            target = _expression(replaced(env, sym))
            if target is not None and str(target) != sym.name:
                self._replacements[sym.name] = target
        relations = [guard.expr for guard in env.guards]
        relations += [a.expr for asserts in env.deferred_runtime_asserts.values() for a in asserts]
        found = map(_expression, relations)
        self._axioms = [axiom for axiom in found if isinstance(axiom, SymExpr)]
        self._divisibilities = remainder_facts(self._axioms)
        for remainder in env.divisible:
            e = _expression(remainder)
            if isinstance(e, SymExpr) and e.head in ("mod", "pymod"):
                self._divisibilities.append(Divisibility(e.args[0], e.args[1], True))
        self._read = version

    def domain(self, name: str) -> Domain | None:
        self._refresh()
        sym = self._symbols.get(name)
        if sym is None:
            return None
        kind: Kind = "int" if sym.is_integer else "float"
        vr = self.shape_env.var_to_range.get(sym)
        lower, upper = -math.inf, math.inf
        if vr is not None:
            lower = _bound(_expression(vr.lower) or 0, lower)
            upper = _bound(_expression(vr.upper) or 0, upper)
        signs = ("positive", "nonnegative", "negative", "nonpositive")
        return _sharpened(Domain(kind, lower, upper), [a for a in signs if getattr(sym, f"is_{a}")])

    def replacements(self) -> Mapping[str, Expr]:
        self._refresh()
        return self._replacements

    def axioms(self) -> Sequence[SymExpr]:
        self._refresh()
        return self._axioms

    def divisibilities(self) -> Sequence[Divisibility]:
        self._refresh()
        return self._divisibilities


def _expression(expr: Any) -> Expr | None:
    """A sympy expression as ours; None, and so no fact, if it is outside the grammar."""
    try:
        return from_sympy(expr)
    except ExpressionError:
        return None
