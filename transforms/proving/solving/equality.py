"""Whether two elements are equal at every index, given what holds on a path.

Index maps are settled first: cases that an index decides are split, and elements of one tensor are
equal where their indices are. What is left is a formula over single elements, which z3 decides bit
by bit; it is closed, so that its answer is reused for other ranks and paths.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from xductor.transforms.proving.solving.nested_folds import flattened, is_in_any_order, reordered
from xductor.transforms.proving.solving.scalar_formulas import Formulas, NotInterpreted
from xductor.transforms.proving.solving.solver import (
    FLOAT_FORMATS,
    Assumptions,
    has_elements,
    z3_module,
)
from xductor.transforms.semantics.scalars import from_index
from xductor.transforms.semantics.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Term,
    add,
    call,
    cast,
    eq,
    integer,
    ite,
    make,
    mul,
    negation,
    parts,
    polynomial,
    rebuilt,
    substitute,
    var,
    within,
)

#: Equal bits, where all NaN count as one value; or equal up to the sign of zero.
Relation = Literal["bits", "zero sign"]

Answer = Literal["equal", "different", "unknown"]


@dataclass
class Budget:
    """Time for z3, in seconds; what was spent is shared by the proofs of one rewrite."""

    query: float = 10.0
    total: float = 120.0
    spent: list[float] = field(default_factory=list[float])
    is_hasty: bool = False

    def limit(self) -> float:
        """How long one formula may take now."""
        return min(self.query, self.total - sum(self.spent))

    def hasty(self) -> Budget:
        """The same total, but little time for each formula, and none for formulas of other sums."""
        return replace(self, query=0.1, is_hasty=True)


@dataclass
class Verdict:
    """The outcome of comparing two elements.

    - `engines`: what was used: `index maps`, `bits`, `sums`.
    - `conditions`: under which they may differ, if they may.
    - `values`: z3's values for single elements there, by element.
    """

    answer: Answer = "equal"
    engines: set[str] = field(default_factory=set[str])
    why: str = ""
    conditions: tuple[Term, ...] = ()
    values: dict[Term, Any] = field(default_factory=dict[Term, Any])


class Comparison:
    """Compares elements under the assumptions of one path."""

    def __init__(
        self,
        assumptions: Assumptions,
        relation: Relation,
        budget: Budget,
        known: dict[Any, Any],
        form: Callable[[Term], Term] | None = None,
    ) -> None:
        self.assumptions = assumptions
        self.relation: Relation = relation
        self.budget = budget
        self.known = known
        self.form = form
        self.verdict = Verdict()
        self._names: dict[Term, str] = {}
        self._representatives: dict[tuple[Any, ...], list[Term]] = {}
        self._chosen: dict[tuple[Any, ...], Term] = {}

    def equal(self, a: Term, b: Term, depth: int = 0) -> Answer:
        """Whether two elements are equal; the first difference is kept in `verdict`."""
        if a is b:
            self.verdict.engines.add("index maps" if a.op == "element" else "the same terms")
            return "equal"
        a, b = self.settled(a), self.settled(b)
        if a is b:
            self.verdict.engines.add("index maps")
            return "equal"
        condition = _undecided(a) or _undecided(b)
        if condition is not None and depth < 24:
            for one in (condition, negation(condition)):
                if not self.assumptions.possible(one):
                    continue
                with self.assumptions.under(one):
                    answer = self.equal(a, b, depth + 1)
                if answer != "equal":
                    return answer
            return "equal"
        return self._leaf(a, b)

    def related(self, a: Term, b: Term) -> Answer:
        """Whether two elements are equal in the form that the numerics allow."""
        if self.form is not None:
            a, b = self.form(a), self.form(b)
        return self.equal(a, b)

    # Cases.

    def settled(self, item: Term) -> Term:
        """A term without the cases that the path has decided."""
        done: dict[Term, Term] = {}

        def visit(one: Term) -> Term:
            found = done.get(one)
            if found is None:
                found = done[one] = worked_out(one)
            return found

        def worked_out(one: Term) -> Term:
            if one.sort == INT or one.op in ("zero", "nonneg", "var", "number"):
                return one if one.sort == INT else self._truth(one)
            if one.op == "ite" and (not has_elements(one.args[0]) or is_of_numbers(one.args[0])):
                decided = self._truth(one.args[0])
                if decided is TRUE or decided is FALSE:
                    return visit(one.args[1] if decided is TRUE else one.args[2])
                return ite(decided, visit(one.args[1]), visit(one.args[2]))
            if one.op == "element":
                return one
            if one.op == "fold":
                inner = self._of_one(one)
                if inner is not None:
                    return visit(inner)
                return flattened(one, self._is_one) if self._is_in_any_order(one) else one
            return rebuilt(one, visit)

        return visit(item)

    def _of_one(self, item: Term) -> Term | None:
        """The element that a fold over one element equals, bit for bit; None if it does not."""
        name, binders, sizes, body = item.args
        if name not in _OF_ONE_ITSELF:
            return None
        if not all(map(self._is_one, sizes)):
            return None
        return substitute(body, {var(k): integer(0) for k in binders})

    def _is_one(self, size: Term) -> bool:
        return self.assumptions.implies(eq(size, 1))

    def _is_in_any_order(self, item: Term) -> bool:
        """Whether a fold may be taken in any order, and so in parts."""
        return is_in_any_order(item)

    def _truth(self, condition: Term) -> Term:
        if has_elements(condition):
            found = _by_elements(condition)
            return self._truth_of_numbers(found) if is_of_numbers(found) else found
        if self.assumptions.implies(condition):
            return TRUE
        return FALSE if self.assumptions.implies(negation(condition)) else condition

    def _truth_of_numbers(self, condition: Term) -> Term:
        """Decide a condition on Python numbers alone, if z3 can."""
        if condition is TRUE or condition is FALSE:
            return condition
        for answer in (TRUE, FALSE):
            inner = Comparison(self.assumptions, "bits", self.budget, self.known)
            if inner._by_formula(condition, answer) == "equal":
                return answer
        return condition

    # Leaves.

    def _leaf(self, a: Term, b: Term) -> Answer:
        if self._alike(a, b):
            return "equal"
        return self._by_formula(a, b)

    def _alike(self, a: Term, b: Term) -> bool:
        """Whether two terms are built alike from equal parts."""
        if a is b:
            return True
        if a.sort == b.sort == INT:
            return self._same_index(a, b)
        if a.op != b.op or a.sort != b.sort or len(a.args) != len(b.args):
            return False
        if a.op == "element":
            if a.args[0] != b.args[0]:
                return False
            self.verdict.engines.add("index maps")
            pairs = zip(a.args[1], b.args[1], strict=True)
            return all(self._same_index(x, y) for x, y in pairs)
        if a.op == "fold":
            return self._folds_alike(a, b)
        if a.op in ("call", "cast", "ite", "and", "or", "not"):
            return all(
                self._alike(x, y) if isinstance(x, Term) else x == y
                for x, y in zip(a.args, b.args, strict=True)
            )
        return False

    def _same_index(self, a: Term, b: Term) -> bool:
        if a is b:
            return True
        a, b = self._plain_index(a), self._plain_index(b)
        return a is b or self.assumptions.implies(eq(a, b))

    def _plain_index(self, item: Term) -> Term:
        """An index in which equal elements are represented by one."""
        values = list(_values(item))
        if not values:
            return item
        return substitute(
            item, {one: make("value", (self._representative(one.args[0]),), INT) for one in values}
        )

    def _folds_alike(self, a: Term, b: Term) -> bool:
        """Whether reductions over equal extents have bodies that are equal at each index."""
        if self._is_in_any_order(b):
            return any(self._folds_in_order(a, one) for one in reordered(b))
        return self._folds_in_order(a, b)

    def _folds_in_order(self, a: Term, b: Term) -> bool:
        name, binders, sizes, body = a.args
        other_name, other_binders, other_sizes, other_body = b.args
        if name != other_name or len(sizes) != len(other_sizes):
            return False
        if not all(self._same_index(x, y) for x, y in zip(sizes, other_sizes, strict=True)):
            return False
        renamed = substitute(
            other_body,
            dict(zip(map(var, other_binders), map(var, binders), strict=True)),
        )
        ranges = [within(var(k), n) for k, n in zip(binders, sizes, strict=True)]
        self.verdict.engines.add("sums")
        if not self.assumptions.possible(*ranges):
            return True
        with self.assumptions.under(*ranges):
            inner = Comparison(self.assumptions, "bits", self.budget, self.known, self.form)
            answer = inner.equal(body, renamed)
        self.verdict.engines |= inner.verdict.engines
        return answer == "equal"

    # Formulas over single elements.

    def _representative(self, item: Term) -> Term:
        """The first of the leaves that are equal to this one, as far as the assumptions tell."""
        given = tuple(self.assumptions.items)
        found = self._chosen.get((given, item))
        if found is None:
            # Elements in its indices first: comparing it asks for theirs, and it may be among them.
            for one in _values(item):
                self._representative(one.args[0])
            name = item.args[0] if item.op == "element" else None
            group = self._representatives.setdefault((given, item.op, name, item.sort), [])
            found = self._chosen[given, item] = self._first_alike(item, group)
        return found

    def _first_alike(self, item: Term, group: list[Term]) -> Term:
        for one in group:
            if item.op in ("element", "fold", "call") and self._alike(one, item):
                return one
        group.append(item)
        return item

    def _name(self, item: Term) -> str:
        chosen = self._representative(item)
        return self._names.setdefault(chosen, f"v{len(self._names)}")

    def _by_formula(self, a: Term, b: Term) -> Answer:
        if a.sort != b.sort:
            return self._differs("the elements are of other dtypes")
        self._names, self._representatives, self._chosen = {}, {}, {}
        formulas = Formulas(self._name)
        premises = [one for one in self.assumptions.items if has_elements(one)]
        try:
            left = formulas.lower(a)
            before = len(formulas.leaves)
            right = formulas.lower(b)
            others = [item for item, _ in list(formulas.leaves.values())[before:]]
            if self.budget.is_hasty and any(one.op == "fold" for one in others):
                raise NotInterpreted("sums that are not those of the source")
            given = [formulas.lower(one) for one in premises]
        except NotInterpreted as error:
            self.verdict.why = str(error)
            self.verdict.answer = "unknown"
            return "unknown"
        claim = self._related(left, right, a.sort)
        key = (self.relation, claim.sexpr(), tuple(one.sexpr() for one in given))
        found = self.known.get(key) or self.known.get((*key, self.budget.query))
        if found is None:
            found = self._solved(claim, given, formulas)
            # An unknown answer holds only for the time that it was given.
            self.known[(*key, self.budget.query) if found[0] == "unknown" else key] = found
        answer, values = found
        self.verdict.engines.add("bits")
        if answer == "equal":
            return "equal"
        if answer == "unknown":
            self.verdict.answer = "unknown"
            self.verdict.why = f"z3 did not decide {_dtype_name(a.sort)} in {self.budget.query:g} s"
            return "unknown"
        named = {name: item for name, (item, _) in formulas.leaves.items()}
        self.verdict.values = {named[name]: one for name, one in values.items() if name in named}
        return self._differs("elements differ")

    def _differs(self, why: str) -> Answer:
        self.verdict.answer = "different"
        self.verdict.why = why
        self.verdict.conditions = tuple(self.assumptions.items)
        return "different"

    def _related(self, left: Any, right: Any, sort: Any) -> Any:
        z3 = z3_module()
        if self.relation == "zero sign" and sort in FLOAT_FORMATS:
            return z3.Or(z3.fpEQ(left, right), z3.And(z3.fpIsNaN(left), z3.fpIsNaN(right)))
        return left == right

    def _solved(self, claim: Any, given: list[Any], formulas: Formulas) -> Any:
        z3 = z3_module()
        limit = self.budget.limit()
        if limit <= 0:
            return "unknown", {}
        solver = z3.Solver()
        solver.set("timeout", max(int(limit * 1000), 1))
        solver.add(*given, z3.Not(claim))
        start = time.thread_time()
        answer = solver.check()
        self.budget.spent.append(time.thread_time() - start)
        if answer == z3.unsat:
            return "equal", {}
        if answer == z3.unknown:
            return "unknown", {}
        model = solver.model()
        values = {
            name: python_value(model.eval(constant, model_completion=True))
            for name, (_, constant) in formulas.leaves.items()
        }
        return "different", values


#: Folds whose result over one element is that element; a sum begins at 0.0.
_OF_ONE_ITSELF = frozenset(("any", "all", "max", "min"))


def _by_elements(condition: Term) -> Term:
    """An equation of an index that is an element, as a comparison of int64, which all fit."""
    if condition.op != "zero":
        return condition
    whole = polynomial(condition.args[0])
    found = [(m[0], factor) for m, factor in whole.items() if len(m) == 1 and m[0].op == "value"]
    if len(found) != 1 or abs(found[0][1]) != 1:
        return condition
    place, factor = found[0]
    rest = mul(-factor, add(condition.args[0], mul(-factor, place)))
    if has_elements(rest):
        return condition
    wide = cast(place.args[0], torch.int64)
    return call("eq", (wide, from_index(rest, torch.int64)), BOOL)


def is_of_numbers(item: Term) -> bool:
    """Whether a term is made of Python numbers only, and of no element of a tensor."""
    if item.op in ("element", "fold", "var"):
        return False
    inner = list(parts(item))
    return item.op in ("scalar", "constant") or (bool(inner) and all(map(is_of_numbers, inner)))


def _values(item: Term) -> Iterator[Term]:
    """The indices in a term that are elements, without those inside them."""
    seen: set[Term] = set()
    pending = [item]
    while pending:
        one = pending.pop()
        if one.op == "value":
            yield one
        elif one not in seen:
            seen.add(one)
            pending.extend(parts(one))


def _undecided(item: Term) -> Term | None:
    """A condition on indices alone on which a case of the term depends."""
    seen: set[Term] = set()
    pending = [item]
    while pending:
        one = pending.pop()
        if one in seen or one.sort == INT:
            continue
        seen.add(one)
        if one.op in ("zero", "nonneg"):
            if not has_elements(one):
                return one
            continue
        if one.op in ("element", "fold"):
            continue
        pending.extend(parts(one))
    return None


def python_value(item: Any) -> Any:
    """A z3 number as a Python one."""
    z3 = z3_module()
    if z3.is_bool(item):
        return z3.is_true(item)
    if z3.is_bv(item):
        return item.as_signed_long()
    if z3.is_fp(item):
        if item.isNaN():
            return float("nan")
        if item.isInf():
            return float("-inf") if item.isNegative() else float("inf")
        if item.isZero():
            return -0.0 if item.isNegative() else 0.0
        exact = z3.simplify(z3.fpToReal(item))
        return float(exact.as_fraction())
    return None


def _dtype_name(sort: Any) -> str:
    return str(sort).removeprefix("torch.")


__all__ = ["Answer", "Budget", "Comparison", "Relation", "Verdict", "python_value"]
