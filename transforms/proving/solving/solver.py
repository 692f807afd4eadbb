"""Terms in z3, and questions about integers under a growing list of assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from xductor.transforms.semantics.evaluation import Evaluation
from xductor.transforms.semantics.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Term,
    add,
    degree,
    exact_quotient,
    expanded,
    le,
    make,
    mul,
    negation,
    number,
    parts,
    substitute,
)


class ProverUnavailable(ImportError):
    """z3 is not installed."""


@cache
def z3_module() -> Any:
    """The module `z3`. Raises ProverUnavailable, with what to install, if it is missing."""
    try:
        import z3
    except ImportError as error:
        raise ProverUnavailable(
            "proofs need z3: pip install 'xductor[prove]' (or pip install z3-solver); "
            "`xductor.validate` checks a rewrite by running it, without a solver"
        ) from error
    return z3


@cache
def has_elements(item: Term) -> bool:
    """Whether a term contains an element of a tensor, or an attribute that is a number."""
    if item.op in ("element", "scalar", "call", "cast", "constant", "fold"):
        return True
    return any(has_elements(part) for part in parts(item))


class Integers:
    """Integer and truth terms in z3, where indices that are elements are variables.

    `definitions` are facts about the variables that stand for digits and quotients.
    """

    def __init__(self) -> None:
        self.z3 = z3_module()
        self.known: dict[Term, Any] = {}
        self.definitions: list[Any] = []
        self._fresh = 0

    def lower(self, item: Term) -> Any:
        found = self.known.get(item)
        if found is None:
            found = self.known[item] = self._lowered(item)
        return found

    def _variable(self, what: str) -> Any:
        self._fresh += 1
        return self.z3.Int(f"{what}!{self._fresh}")

    def _lowered(self, item: Term) -> Any:
        z3, op, args = self.z3, item.op, item.args
        if op == "number":
            return z3.IntVal(args[0])
        if op == "var":
            return z3.Int(args[0])
        if op == "poly":
            return self._polynomial(args[0])
        if op == "ite":
            return z3.If(*map(self.lower, args))
        if op == "linear":
            return self.lower(expanded(*args))
        if op == "digit":
            return self._digits(args[0], args[2])[args[1]]
        if op in ("quotient", "modulo"):
            return self._quotient(*args)[op == "modulo"]
        if op == "value":
            return self._variable("value")
        if op in ("true", "false"):
            return z3.BoolVal(op == "true")
        if op == "zero":
            return self.lower(args[0]) == 0
        if op == "nonneg":
            return self.lower(args[0]) >= 0
        if op in ("and", "or"):
            return (z3.And if op == "and" else z3.Or)(*map(self.lower, args))
        if op == "not":
            return z3.Not(self.lower(args[0]))
        if item.sort == BOOL:  # what elements decide may be true or false
            return z3.Bool(f"element!{item.key}")
        raise TypeError(f"{item} is neither an integer nor a truth value")

    def _polynomial(self, monomials: Any) -> Any:
        total: Any = None
        for monomial, factor in monomials:
            product: Any = self.z3.IntVal(factor)
            for part in monomial:
                lowered = self.lower(part)
                product = lowered if product is None else product * lowered
            total = product if total is None else total + product
        return total

    def _digits(self, whole: Term, sizes: tuple[Term, ...]) -> list[Any]:
        """Witnesses: the numbers below the sizes of which `whole` is composed."""
        z3 = self.z3
        places = [self._variable("digit") for _ in sizes]
        extents = [self.lower(size) for size in sizes]
        total: Any = places[0]
        for place, extent in zip(places[1:], extents[1:], strict=True):
            total = total * extent + place
        inside = [z3.And(d >= 0, d < n) for d, n in zip(places, extents, strict=True)]
        positive = [n > 0 for n in extents]
        lowered = self.lower(whole)
        bound: Any = z3.IntVal(1)
        for extent in extents:
            bound = bound * extent
        self.definitions.append(
            z3.Implies(
                z3.And(*positive, lowered >= 0, lowered < bound),
                z3.And(total == lowered, *inside),
            )
        )
        for k in range(len(sizes)):
            self.known[make("digit", (whole, k, sizes), INT)] = places[k]
        return places

    def _quotient(self, a: Term, b: Term) -> tuple[Any, Any]:
        z3 = self.z3
        left, right = self.lower(a), self.lower(b)
        if b.op == "number":
            return left / right, left % right
        whole, rest = self._variable("quotient"), self._variable("rest")
        self.definitions.append(
            z3.Implies(right > 0, z3.And(left == whole * right + rest, rest >= 0, rest < right))
        )
        self.known[make("quotient", (a, b), INT)] = whole
        self.known[make("modulo", (a, b), INT)] = rest
        return whole, rest


class Assumptions:
    """What holds on the current path, and what follows from it.

    Linear arithmetic is asked first; products of sizes, digits and quotients are used only if it
    does not decide. Solvers are made at the first question. Sizes that are known to be equal are
    merged, and what numbers found before refute is not asked. Nor is what was asked under the same
    assumptions before, since paths have their beginnings in common.
    """

    def __init__(self, timeout: float = 5.0) -> None:
        self.items: list[Term] = []
        self.timeouts = 0
        self._scopes: list[int] = []
        self._open = 0
        self._timeout = int(timeout * 1000)
        self._answers: dict[Term, bool] = {}
        self._given = 0
        self._solvers: _Solvers | None = None
        self._equal: dict[Term, Term] = {}
        self._equations: list[Term] = []
        self._examples: list[dict[Term, int]] = []

    def add(self, condition: Term) -> None:
        """Assume a condition in the current scope."""
        if condition is TRUE:
            return
        self.items.append(condition)
        self._answers = {}
        self._examples = [one for one in map(dict, self._examples) if _holds(condition, one)]
        for part in condition.args if condition.op == "and" else (condition,):
            self._learn(part)

    def _learn(self, condition: Term) -> None:
        """Replace a variable by what it is found to equal."""
        if condition.op != "zero":
            return
        self._equations = [*self._equations, condition]
        again = True
        while again:
            again = False
            for equation in self._equations:
                item = self.plain(equation)
                solved = _solved_for(self._cancelled(item.args[0])) if item.op == "zero" else None
                if solved is not None:
                    variable, instead = solved
                    known = {k: substitute(v, {variable: instead}) for k, v in self._equal.items()}
                    self._equal = {**known, variable: instead}
                    again = True

    def _cancelled(self, item: Term) -> Term:
        """One side of an equation with zero, without common factors that are positive."""
        if item.op != "poly":
            return item
        first, *rest = [monomial for monomial, _ in item.args[0]]
        for factor in dict.fromkeys(first):
            if all(factor in monomial for monomial in rest) and self.implies(le(1, factor)):
                divided = exact_quotient(item, factor)
                return item if divided is None else self._cancelled(divided)
        return item

    def plain(self, item: Term) -> Term:
        """A term with one size in place of all those known to be equal."""
        return substitute(item, self._equal) if self._equal else item

    def _ready(self) -> _Solvers:
        if self._solvers is None:
            self._solvers = _Solvers(self._timeout)
        solvers = self._solvers
        for count in (*self._scopes[self._open :], None):
            for one in self.items[self._given : count]:
                solvers.add(one)
            self._given = len(self.items) if count is None else count
            if count is not None:
                solvers.push()
        self._open = len(self._scopes)
        return solvers

    @contextmanager
    def under(self, *conditions: Term) -> Iterator[None]:
        """Assume further conditions inside the block."""
        count, answers = len(self.items), self._answers
        equal, equations, examples = self._equal, self._equations, self._examples
        self._scopes.append(count)
        try:
            for one in conditions:
                self.add(one)
            yield
        finally:
            self._scopes.pop()
            if self._solvers is not None and self._open > len(self._scopes):
                self._solvers.pop()
                self._open, self._given = len(self._scopes), count
            del self.items[count:]
            self._answers = answers
            self._equal, self._equations, self._examples = equal, equations, examples

    def implies(self, condition: Term) -> bool:
        """Whether a condition follows; False if it does not, or is not decided in time."""
        condition = self.plain(condition)
        if condition is TRUE or condition is FALSE:
            return condition is TRUE
        found = self._answers.get(condition)
        if found is None:
            found = self._answers[condition] = self._asked(negation(condition)) is False
        return found

    def possible(self, *conditions: Term) -> bool:
        """Whether the assumptions can hold together with `conditions`; True if not decided."""
        plain = [self.plain(one) for one in conditions]
        if FALSE in plain:
            return False
        if not self.items and not conditions:
            return True
        return self._asked(*plain) is not False

    def _asked(self, *conditions: Term) -> bool | None:
        for example in self._examples:
            tried = dict(example)  # what is only asked must not be fixed by the answer
            if all(_holds(one, tried) for one in conditions):
                return True
        question = (tuple(self.items), conditions)
        known = _decided.get(question)
        answer, example = known if known is not None else self._ready().check(conditions)
        if answer is not None and known is None:
            if len(_decided) >= _MOST_DECIDED:
                _decided.clear()
            _decided[question] = answer, example
        if example is not None and all(_holds(one, example) for one in self.items):
            self._examples = [*self._examples[-7:], example]
        self.timeouts += answer is None
        return answer

    def all_alike(self, value: int, variables: Mapping[str, Term]) -> dict[str, int] | None:
        """`value` for all variables; None unless the assumptions are seen to hold for it."""
        example = dict.fromkeys(variables.values(), value)
        if all(_holds(one, example) for one in self.items):
            return dict.fromkeys(variables, value)
        return None

    def model(
        self,
        *conditions: Term,
        variables: Mapping[str, Term],
        preferred: Sequence[int] = (2, 1),
        largest: int = 3,
    ) -> dict[str, int] | None:
        """Numbers for the variables with which everything holds; None if none are found.

        Small ones if possible; each variable is at least the first of `preferred` that is possible
        given the choices for the others.
        """
        solvers = self._ready()
        for bound in (largest, largest + 6, None):
            found = solvers.model(conditions, variables, bound, preferred)
            if found is not None:
                return found
        return None


#: Answers by assumptions and question; they hold for every rewrite.
_decided: dict[Any, tuple[bool | None, dict[Term, int] | None]] = {}

_MOST_DECIDED = 200_000


def _holds(condition: Term, example: dict[Term, int]) -> bool:
    """Whether a condition holds for the numbers of an example; False too if it cannot be told.

    A variable that nothing has asked about yet is added to the example, as 1.
    """
    if has_elements(condition):
        return False
    for one in _variables(condition):
        example.setdefault(one, 1)
    try:
        return bool(Evaluation({}, example)._of(condition))
    except (KeyError, ZeroDivisionError):
        return False


@cache
def _variables(item: Term) -> tuple[Term, ...]:
    """The integer variables that a term mentions."""
    if item.op == "var":
        return (item,)
    return tuple(dict.fromkeys(one for part in parts(item) for one in _variables(part)))


def _solved_for(item: Term) -> tuple[Term, Term] | None:
    """A variable that an equation with zero determines, and what it equals."""
    if item.op == "var":
        return item, number(0)
    if item.op != "poly":
        return None
    parts = dict(item.args[0])
    for monomial, factor in item.args[0]:
        if len(monomial) != 1 or abs(factor) != 1 or monomial[0].op != "var":
            continue
        variable = monomial[0]
        if any(variable in other for other in parts if other is not monomial):
            continue
        rest = add(item, mul(-factor, variable))
        if not _is_plain(rest) or _mentions(rest, variable):
            continue
        return variable, mul(-factor, rest)
    return None


def _is_plain(item: Term) -> bool:
    """Whether an integer term is a polynomial of variables."""
    return item.op in ("number", "var", "poly") and all(map(_is_plain, parts(item)))


def _mentions(item: Term, variable: Term) -> bool:
    return item is variable or any(_mentions(part, variable) for part in parts(item))


class _Solvers:
    """The two solvers of some assumptions: one for what is linear, one for everything."""

    def __init__(self, timeout: int) -> None:
        z3 = z3_module()
        self.z3 = z3
        self.integers = Integers()
        self.linear = z3.Solver()
        self.full = z3.Solver()
        for one in (self.linear, self.full):
            one.set("timeout", timeout)
        self._defined = 0
        self._is_linear = True
        self._scopes: list[tuple[int, bool]] = []

    def add(self, condition: Term) -> None:
        lowered = self.integers.lower(condition)
        self._define()
        if _is_linear(condition):
            self.linear.add(lowered)
        else:
            self._is_linear = False
        self.full.add(lowered)

    def _define(self) -> None:
        for one in self.integers.definitions[self._defined :]:
            self.full.add(one)
            self._is_linear = False
        self._defined = len(self.integers.definitions)

    def push(self) -> None:
        self._scopes.append((self._defined, self._is_linear))
        self.linear.push()
        self.full.push()

    def pop(self) -> None:
        self.linear.pop()
        self.full.pop()
        # Definitions made inside are made again outside.
        self._defined, self._is_linear = self._scopes.pop()

    def check(self, conditions: Sequence[Term]) -> tuple[bool | None, dict[Term, int] | None]:
        """Whether all can hold, None if that is not decided; and numbers for which they do."""
        z3 = self.z3
        lowered = [self.integers.lower(one) for one in conditions]
        answer, solver = self.linear.check(*lowered), self.linear
        if answer == z3.unsat:
            return False, None
        self._define()
        if not self._is_linear:
            answer, solver = self.full.check(*lowered), self.full
        if answer == z3.unknown:
            return None, None
        if answer == z3.unsat:
            return False, None
        found = solver.model()
        variables = [one for one in self.integers.known if one.op == "var"]
        return True, {
            one: found.eval(self.integers.known[one], model_completion=True).as_long()
            for one in variables
        }

    def model(
        self,
        conditions: Sequence[Term],
        variables: Mapping[str, Term],
        bound: int | None,
        preferred: Sequence[int],
    ) -> dict[str, int] | None:
        z3 = self.z3
        lowered = [self.integers.lower(one) for one in conditions]
        self._define()
        places = {name: self.integers.lower(item) for name, item in variables.items()}
        if bound is not None:
            for place in places.values():
                lowered += [-bound <= place, place <= bound]
        if self.full.check(*lowered) != z3.sat:
            return None
        found = self.full.model()
        for place in places.values():
            for least in preferred:
                if self.full.check(*lowered, place >= least) == z3.sat:
                    lowered.append(place >= least)
                    found = self.full.model()
                    break
        return {
            name: found.eval(place, model_completion=True).as_long()
            for name, place in places.items()
        }


def _is_linear(condition: Term) -> bool:
    """Whether a condition has no product of variables."""
    seen: list[Term] = [condition]
    while seen:
        one = seen.pop()
        if one.sort == INT and one.op == "poly" and degree(one) > 1:
            return False
        if one.op in ("linear", "digit") or (
            one.op in ("quotient", "modulo") and one.args[1].op != "number"
        ):
            return False
        seen.extend(parts(one))
    return True


FLOAT_FORMATS = {
    torch.float16: (5, 11),
    torch.bfloat16: (8, 8),
    torch.float32: (8, 24),
    torch.float64: (11, 53),
}
BITS = {torch.uint8: 8, torch.int8: 8, torch.int16: 16, torch.int32: 32, torch.int64: 64}


__all__ = [
    "BITS",
    "FLOAT_FORMATS",
    "Assumptions",
    "Integers",
    "ProverUnavailable",
    "has_elements",
    "z3_module",
]
