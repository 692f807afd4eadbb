"""Three-valued questions about symbolic integers: true, false, or unknown.

Nothing here adds guards: a ShapeEnv is only read, and the reasoning is our own, the same for a
live ShapeEnv and for the symbol table of parsed text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Self

from xductor.ir.symbolic.expression_nodes import make_add, make_pow, split_coefficient
from xductor.ir.symbolic.expressions import (
    Expr,
    SymExpr,
    floordiv,
    mul,
    negate,
    sub,
)
from xductor.ir.symbolic.fact_sources import FactSource, ShapeEnvSource, TableSource
from xductor.ir.symbolic.intervals import UNBOUNDED, Interval
from xductor.ir.symbolic.known_domains import KnownDomains
from xductor.ir.symbolic.symbols import SymbolTable

if TYPE_CHECKING:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

#: True, False, or None for unknown.
Answer = bool | None

_DIVISIONS = frozenset(("floordiv", "clean_div"))


class _Axiom(NamedTuple):
    """A true relation of `difference` to 0, and the expressions it makes nonnegative."""

    head: str
    symbols: frozenset[str]
    difference: Expr
    nonnegative: tuple[Expr, ...]


class Facts:
    """Answers questions about `int | SymExpr`; each returns True, False or None (unknown).

    Answers hold for every value the symbols can take. They are remembered until the source
    learns something. Floats are compared only as literals: arithmetic on them is not exact.
    """

    def __init__(self, source: FactSource):
        self._source = source
        self._version = source.version()
        self._answers: dict[tuple[str, Expr, Expr], Answer] = {}
        self._known = KnownDomains(source)
        self._axioms: list[_Axiom] | None = None
        self._zeros = frozenset[Expr]()  # the products that are equal to zero

    @classmethod
    def from_shape_env(cls, shape_env: ShapeEnv) -> Self:
        """Facts of a live ShapeEnv, which is never changed."""
        return cls(ShapeEnvSource(shape_env))

    @classmethod
    def from_table(cls, table: SymbolTable) -> Self:
        """Facts of a symbol table, as in parsed text."""
        return cls(TableSource(table))

    # The public questions: fast paths first, then a remembered answer.

    def known_equal(self, a: Expr, b: Expr) -> Answer:
        """Whether `a == b` for all values."""
        if a is b:
            return True
        if type(a) is int and type(b) is int:
            return a == b
        return self._remembered("eq", a, b, self._equal)

    def known_ne(self, a: Expr, b: Expr) -> Answer:
        """Whether `a != b` for all values."""
        answer = self.known_equal(a, b)
        return None if answer is None else not answer

    def known_le(self, a: Expr, b: Expr) -> Answer:
        """Whether `a <= b` for all values."""
        if type(a) is int and type(b) is int:
            return a <= b
        if a is b and not _is_nan(a):
            return True
        return self._remembered("le", a, b, self._at_most)

    def known_lt(self, a: Expr, b: Expr) -> Answer:
        """Whether `a < b` for all values."""
        answer = self.known_le(b, a)
        if answer is None:
            return None
        return not answer if not (_is_nan(a) or _is_nan(b)) else False

    def divides(self, k: Expr, e: Expr) -> Answer:
        """Whether `e` is a multiple of `k` for all values (every integer divides 0)."""
        if type(k) is int and type(e) is int:
            return e == 0 if k == 0 else e % k == 0
        return self._remembered("divides", k, e, self._is_multiple)

    def holds(self, e: Expr) -> Answer:
        """Whether a boolean expression (the type of a SymBool) is true for all values."""
        if isinstance(e, int):
            return None
        if isinstance(e.value, bool):
            return e.value
        if e.head == "not":
            answer = self.holds(e.args[0])
            return None if answer is None else not answer
        if e.head in ("and", "or"):
            decisive = e.head == "or"
            answers = [self.holds(arg) for arg in e.args]
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
        if e.head in ("lt", "le", "gt", "ge", "eq", "ne"):
            a, b = e.args if e.head in ("lt", "le", "eq", "ne") else (e.args[1], e.args[0])
            questions: dict[str, Callable[[Expr, Expr], Answer]] = {
                **{"lt": self.known_lt, "gt": self.known_lt},
                **{"le": self.known_le, "ge": self.known_le},
                **{"eq": self.known_equal, "ne": self.known_ne},
            }
            return questions[e.head](a, b)
        return None

    def bounds(self, e: Expr) -> Interval:
        """Inclusive bounds of an integer expression, infinities where none are known."""
        self._renew()
        e = self._known.final(e)
        if not self._known.is_integral(e):
            return UNBOUNDED
        return self._known.bounds(e)

    # How answers are found.

    def _renew(self) -> None:
        version = self._source.version()
        if version != self._version:
            self._version = version
            self._answers.clear()
            self._known.forget()
            self._axioms = None

    def _remembered(
        self, question: str, a: Expr, b: Expr, decide: Callable[[Expr, Expr], Answer]
    ) -> Answer:
        self._renew()
        key = (question, a, b)
        try:
            return self._answers[key]
        except KeyError:
            answer = self._answers[key] = decide(self._known.final(a), self._known.final(b))
            return answer

    def _difference(self, a: Expr, b: Expr) -> Expr:
        """`a - b`, where divisions known to leave no remainder are carried out."""
        return self._carried_out(sub(a, b))

    def _carried_out(self, e: Expr) -> Expr:
        if isinstance(e, int) or "div(" not in e.text:
            return e
        terms = e.args if e.head == "add" else (e,)
        return make_add(self._carried_out_term(term) for term in terms)

    def _carried_out_term(self, term: Expr) -> Expr:
        if isinstance(term, int):
            return term
        result: Expr = 1
        for factor in term.args if term.head == "mul" else (term,):
            if isinstance(factor, SymExpr) and factor.head in _DIVISIONS:
                base, divisor = factor.args
                if factor.head == "clean_div" or self.divides(divisor, base):
                    factor = mul(self._carried_out(base), make_pow(divisor, -1))
            result = mul(result, factor)
        return result

    def _equal(self, a: Expr, b: Expr) -> Answer:
        if a is b:
            return True
        if not (self._known.is_integral(a) and self._known.is_integral(b)):
            return self._compare_numbers(a, b, lambda x, y: x == y)
        for left, right in ((a, b), (b, a)):
            if right == 0 and isinstance(left, SymExpr) and left.head in ("mod", "pymod"):
                answer = self.divides(left.args[1], left.args[0])
                if answer is not None:
                    return answer
        difference = self._difference(a, b)
        if isinstance(difference, int):
            return difference == 0
        low, high = self._known.bounds(difference)
        if low == high == 0:
            return True
        if low > 0 or high < 0 or _never_zero(difference):
            return False
        if self._is_the_extreme(a, b) or self._is_the_extreme(b, a):
            return True
        answer = self._equal_by_axiom(difference)
        return True if answer is None and self._vanishes(difference) else answer

    def _vanishes(self, e: SymExpr) -> bool:
        """Whether each term of a sum has a factor that an axiom says is zero."""
        zeros = self._zeros
        terms = e.args if e.head == "add" else (e,)
        return bool(zeros) and all(not zeros.isdisjoint(_multiplied(term)) for term in terms)

    def _is_the_extreme(self, extreme: Expr, e: Expr) -> bool:
        """Whether a `min` or `max` is always its argument `e`."""
        if not isinstance(extreme, SymExpr) or extreme.head not in ("min", "max"):
            return False
        others = [arg for arg in extreme.args if arg is not e]
        if len(others) == len(extreme.args):
            return False
        if extreme.head == "min":
            return all(self._at_most(e, other) for other in others)
        return all(self._at_most(other, e) for other in others)

    def _compare_numbers(
        self, a: Expr, b: Expr, relation: Callable[[float, float], bool]
    ) -> Answer:
        """Compare literals, and integer infinities with any integer."""
        infinite = {"int_oo": math.inf, "-int_oo": -math.inf}
        numbers: list[float] = []
        for e in (a, b):
            if isinstance(e, int):
                numbers.append(e)
            elif type(e.value) is float:
                numbers.append(e.value)
            elif e.text in infinite:
                numbers.append(infinite[e.text])
            elif self._known.is_integral(e) and {str(a), str(b)} & infinite.keys():
                numbers.append(0)  # every integer is on the same side
            else:
                return None
        return relation(numbers[0], numbers[1])

    def _equal_by_axiom(self, difference: SymExpr) -> Answer:
        opposite = negate(difference)
        for axiom in self._axioms_about(difference):
            if axiom.head in ("eq", "ne") and (
                axiom.difference is difference or axiom.difference is opposite
            ):
                return axiom.head == "eq"
        proved = self._nonnegative_by_axiom
        if proved(sub(difference, 1)) or proved(sub(opposite, 1)):
            return False
        return True if proved(difference) and proved(opposite) else None

    def _at_most(self, a: Expr, b: Expr) -> Answer:
        if not (self._known.is_integral(a) and self._known.is_integral(b)):
            return self._compare_numbers(a, b, lambda x, y: x <= y)
        difference = self._difference(b, a)
        if isinstance(difference, int):
            return difference >= 0
        low, high = self._known.bounds(difference)
        if low >= 0:
            return True
        if high < 0:
            return False
        if self._nonnegative_by_axiom(difference):
            return True
        if self._nonnegative_by_axiom(sub(negate(difference), 1)):
            return False
        return None

    def _nonnegative_by_axiom(self, e: Expr) -> bool:
        """Whether one axiom `d >= 0`, and ranges for the rest, imply `e >= 0`."""
        if isinstance(e, int):
            return e >= 0
        for axiom in self._axioms_about(e):
            for known in axiom.nonnegative:
                if self._known.bounds(sub(e, known))[0] >= 0:
                    return True
        return False

    def _axioms_about(self, e: SymExpr) -> list[_Axiom]:
        """The axioms that share a symbol with an expression."""
        if self._axioms is None:
            self._axioms = []  # building the axioms asks for facts that need none
            self._zeros = frozenset()
            self._axioms = [made for a in self._source.axioms() for made in self._axiom(a)]
            self._zeros = frozenset(
                split_coefficient(made.difference)[1] for made in self._axioms if made.head == "eq"
            )
        return [a for a in self._axioms if not a.symbols.isdisjoint(e.symbols)]

    def _axiom(self, axiom: SymExpr) -> list[_Axiom]:
        if axiom.head == "and":
            parts = [part for part in axiom.args if isinstance(part, SymExpr)]
            return [made for part in parts for made in self._axiom(part)]
        if axiom.head not in ("lt", "le", "gt", "ge", "eq", "ne"):
            return []
        a, b = map(self._known.final, axiom.args)
        if not (self._known.is_integral(a) and self._known.is_integral(b)):
            return []
        if axiom.head in ("lt", "le"):
            a, b = b, a
        difference = self._difference(a, b)
        if isinstance(difference, int):
            return []
        nonnegative: tuple[Expr, ...] = ()
        if axiom.head == "eq":
            nonnegative = (difference, negate(difference))
        elif axiom.head != "ne":
            nonnegative = (sub(difference, 1) if axiom.head in ("lt", "gt") else difference,)
        return [_Axiom(axiom.head, difference.symbols, difference, nonnegative)]

    def _is_multiple(self, k: Expr, e: Expr) -> Answer:
        if type(k) is int and type(e) is int:
            return self.divides(k, e)
        if not (self._known.is_integral(k) and self._known.is_integral(e)):
            return None
        if e == 0 or k in (1, -1) or k is e:
            return True
        fact = self._remainder_fact(k, e)
        if fact is not None:
            return fact
        terms = e.args if isinstance(e, SymExpr) and e.head == "add" else (e,)
        rest = [term for term in terms if not self._divides_term(k, term)]
        if not rest:
            return True
        if not isinstance(k, int) or k == 0:
            return None
        return self._rules_out_multiple(abs(k), e, make_add(rest))

    def _rules_out_multiple(self, k: int, e: Expr, rest: Expr) -> Answer:
        if isinstance(rest, int):
            return rest % k == 0
        assert isinstance(e, SymExpr)
        number = rest.args[-1] if rest.head == "add" and isinstance(rest.args[-1], int) else 0
        common = math.gcd(k, *_integer_coefficients(rest))
        low, high = self._known.bounds(e)
        between = (low > 0 and high < k) or (-k < low and high < 0)
        return False if number % common != 0 or between else None

    def _divides_term(self, k: Expr, term: Expr) -> bool:
        coefficient, monomial = split_coefficient(term)
        if isinstance(k, int):
            if not isinstance(coefficient, int) or k == 0:
                return False
            left = abs(k) // math.gcd(k, coefficient)
            factors = _factors(monomial)
            return left == 1 or any(
                isinstance(f, SymExpr) and self._remainder_fact(left, f) for f in factors
            )
        quotient = floordiv(term, k)
        return (
            not any(_is(part, "floordiv") for part in _factors(quotient))
            and mul(quotient, k) == term
        )

    def _remainder_fact(self, k: Expr, e: Expr) -> Answer:
        for base, divisor, holds in self._source.divisibilities():
            if self._known.final(base) is not e:
                continue
            divisor = self._known.final(divisor)
            if divisor is k or divisor == k:
                return holds
            if isinstance(divisor, int) and isinstance(k, int) and k and divisor:
                if holds and divisor % k == 0:
                    return True
                if not holds and k % divisor == 0:
                    return False
        return None


def _is(e: Expr, head: str) -> bool:
    return isinstance(e, SymExpr) and e.head == head


def _factors(e: Expr) -> tuple[Expr, ...]:
    return e.args if isinstance(e, SymExpr) and e.head in ("mul", "add") else (e,)


def _multiplied(term: Expr) -> tuple[Expr, ...]:
    return term.args if isinstance(term, SymExpr) and term.head == "mul" else (term,)


def _is_nan(e: Expr) -> bool:
    return isinstance(e, SymExpr) and e.text == "nan"


def _integer_coefficients(e: SymExpr) -> list[int]:
    """Coefficients of the terms that are not plain numbers; 1 if not an exact integer."""
    coefficients: list[int] = []
    for term in e.args if e.head == "add" else (e,):
        coefficient, monomial = split_coefficient(term)
        if monomial != 1:
            coefficients.append(coefficient if isinstance(coefficient, int) else 1)
    return coefficients


def _never_zero(e: SymExpr) -> bool:
    """Whether the common divisor of all coefficients does not divide the constant term."""
    if e.head != "add" or not isinstance(e.args[-1], int):
        return False
    common = math.gcd(*_integer_coefficients(e))
    return common > 1 and e.args[-1] % common != 0


__all__ = ("Answer", "Facts")
