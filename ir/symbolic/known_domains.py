"""What a source of facts tells about one expression: its final form, kind and bounds."""

from __future__ import annotations

from xductor.ir.symbolic.expression_arithmetic import expanded, rebuilt
from xductor.ir.symbolic.expressions import Expr, SymExpr, add, mul, sub, substitute, symbol
from xductor.ir.symbolic.fact_sources import ANY_INT, Domain, FactSource, domain_by_name
from xductor.ir.symbolic.intervals import Interval, bounds_of, finite

_INTEGER_VALUED = frozenset(
    (
        *("floordiv", "clean_div", "cdiv", "mod", "pymod", "modular_indexing", "pow_nat"),
        *("trunc_to_int", "floor_to_int", "ceil_to_int", "round_to_int", "lshift", "rshift"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "non_overlapping_and_dense", "align"),
    )
)
_INTEGER_IF_ARGUMENTS_ARE = frozenset(("add", "mul", "max", "min", "abs", "identity"))


class KnownDomains:
    """Domains of symbols, remembered until `forget`, and their consequences for expressions."""

    def __init__(self, source: FactSource):
        self._source = source
        self._domains: dict[str, Domain | None] = {}
        self._finals: dict[SymExpr, Expr] = {}

    def forget(self) -> None:
        """Drop what is remembered, because the source has learned something."""
        self._domains.clear()
        self._finals.clear()

    def domain(self, name: str) -> Domain | None:
        """Kind and range of a symbol; None if it is unknown."""
        if name not in self._domains:
            self._domains[name] = self._source.domain(name) or domain_by_name(name)
        return self._domains[name]

    def final(self, e: Expr) -> Expr:
        """The expression after replacements and after simplification by ranges.

        Symbols with one possible value are filled in, and a `max` or `min` loses arguments that
        another one always beats.
        """
        if isinstance(e, int):
            return e
        found = self._finals.get(e)
        if found is None:
            found = self._finals[e] = self._final(e)
        return found

    def _final(self, e: Expr) -> Expr:
        e = substitute(e, self._source.replacements())
        if isinstance(e, int):
            return e
        fixed: dict[str, Expr] = {}
        for name in e.symbols:
            domain = self.domain(name)
            if domain is not None and domain.kind != "float" and domain.lower == domain.upper:
                fixed[name] = int(domain.lower)
        return self._pruned(expanded(substitute(e, fixed)))

    def _pruned(self, e: Expr) -> Expr:
        if isinstance(e, int) or not e.args or not _has_extremum(e):
            return e
        args = [self._pruned(arg) for arg in e.args]
        if e.head not in ("max", "min") or not all(map(self.is_integral, args)):
            return rebuilt(e.head, args)
        sign = 1 if e.head == "max" else -1
        kept: list[Expr] = []
        for position, arg in enumerate(args):
            # Of two arguments that are always equal the later one stays.
            others = [*kept, *args[position + 1 :]]
            if not any(self._beats(other, arg, sign) for other in others):
                kept.append(arg)
        return kept[0] if len(kept) == 1 else rebuilt(e.head, kept)

    def _beats(self, a: Expr, b: Expr, sign: int) -> bool:
        """Whether `a` is always at least `b` (at most, for a negative sign)."""
        return self.bounds(mul(sign, sub(a, b)))[0] >= 0

    def is_integral(self, e: Expr) -> bool:
        """Whether all values of an expression are integers."""
        if isinstance(e, int):
            return type(e) is int
        if e.head == "symbol":
            domain = self.domain(e.text)
            return domain is not None and domain.kind != "float"
        if e.head in _INTEGER_VALUED:
            return True
        if e.head == "where":
            return all(map(self.is_integral, e.args[1:]))
        if e.head == "pow":
            exponent = e.args[1]
            natural = isinstance(exponent, int) and exponent >= 0
            return natural and self.is_integral(e.args[0])
        return e.head in _INTEGER_IF_ARGUMENTS_ARE and all(map(self.is_integral, e.args))

    def bounds(self, e: Expr) -> Interval:
        """The tighter of the bounds as written and of those over symbols shifted by their minimum.

        With `s0 = t0 + 2`, `s0*s1 - s0` becomes a sum of terms that are never negative.
        """
        low, high = bounds_of(e, self._symbol_bounds)
        if isinstance(e, int) or (finite(low) and finite(high)):
            return low, high
        least: dict[str, Interval] = {}
        shifts: dict[str, Expr] = {}
        for name in e.symbols:
            lower, upper = least[name] = self._symbol_bounds(name)
            if finite(lower) and lower != 0:
                shifts[name] = add(symbol(name), int(lower))
                least[name] = (0, upper - lower)
        shifted = bounds_of(substitute(e, shifts), least.__getitem__)
        return max(low, shifted[0]), min(high, shifted[1])

    def _symbol_bounds(self, name: str) -> Interval:
        domain = self.domain(name) or ANY_INT
        return domain.lower, domain.upper


def _has_extremum(e: SymExpr) -> bool:
    return "max(" in e.text or "min(" in e.text
