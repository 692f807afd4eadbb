"""What stands for the values of a match in a proof: tensors, ints and numbers of any value.

To `where` and `replacement` they look like the handles of a match. A comparison that the sizes do
not decide is a fact without a value, which the path's oracle decides both ways.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import torch

from xductor.ir import SymExpr, TensorType
from xductor.ir.symbolic import expressions
from xductor.ir.symbolic.expressions import symbol
from xductor.transforms.rewriting.decisions import Fact, Refusal
from xductor.transforms.rewriting.handles import Dim, Tensor
from xductor.transforms.rewriting.torch_habits import Sizes, Strides
from xductor.transforms.semantics.scalars import compare, fn, number_as
from xductor.transforms.semantics.terms import (
    Term,
    add,
    both,
    cast,
    constant,
    either,
    eq,
    exact_quotient,
    integer,
    le,
    lt,
    modulo,
    mul,
    negation,
    quotient,
    truth,
    var,
)
from xductor.transforms.semantics.values import NoMeaning, TensorValue

Expr = int | SymExpr


class NotSymbolic(Exception):
    """A method of a rewrite asks for something that only a real value has."""


def expression_of(item: Term, named: Callable[[Term], Term]) -> Expr:
    """A size as an expression; what is no polynomial is replaced by a name from `named`."""
    if item.op == "number":
        return item.args[0]
    if item.op == "var":
        return symbol(item.args[0])
    if item.op == "poly":
        total: Expr = 0
        for monomial, factor in item.args[0]:
            product: Expr = factor
            for part in monomial:
                product = expressions.mul(product, expression_of(part, named))
            total = expressions.add(total, product)
        return total
    return expression_of(named(item), named)


def term_of(expr: Expr) -> Term:
    """An expression of sizes as a term. Raises NoMeaning for a function that has none."""
    if isinstance(expr, int):
        return integer(expr)
    head = expr.head
    if head == "symbol":
        return var(expr.text)
    if head in ("add", "mul"):
        items = [term_of(part) for part in expr.args]
        return add(*items) if head == "add" else mul(*items)
    if head == "pow" and isinstance(expr.args[1], int) and expr.args[1] > 0:
        return mul(*[term_of(expr.args[0])] * expr.args[1])
    if head in ("floordiv", "mod", "pymod"):
        a, b = (term_of(part) for part in expr.args)
        if head == "floordiv":
            return exact_quotient(a, b) or quotient(a, b)
        return modulo(a, b)
    raise NoMeaning(f"the size {expr.text}")


def condition_of(fact: object) -> Term:
    """A fact, or a plain answer, as a truth term."""
    if isinstance(fact, bool):
        return truth(fact)
    if isinstance(fact, Refusal):
        return truth(False)
    if not isinstance(fact, Fact):
        raise NotSymbolic(f"`where` answers {fact!r}")
    if fact.question is None:
        if fact.value is None:
            raise NotSymbolic(f"the fact '{fact.text}' has no question")
        return truth(fact.value)
    kind, left, right = fact.question
    if kind == "term":
        return left
    if kind == "not":
        return negation(condition_of(left))
    if kind in ("and", "or"):
        joined = both if kind == "and" else either
        return joined(condition_of(left), condition_of(right))
    a, b = term_of(left), term_of(right)
    if kind == "divides":
        return eq(modulo(b, a), 0)
    return {"eq": eq, "le": le, "lt": lt}[kind](a, b)


class SizeKnowledge:
    """Answers about sizes that need no assumption; everything else is left to the oracle.

    `static` says whether a size of any value is a plain number in the graph.
    """

    def __init__(self, static: Callable[[Expr], bool]) -> None:
        self.static = static

    def known_equal(self, a: Expr, b: Expr) -> bool | None:
        return _settled(eq(term_of(a), term_of(b)))

    def known_le(self, a: Expr, b: Expr) -> bool | None:
        return _settled(le(term_of(a), term_of(b)))

    def known_lt(self, a: Expr, b: Expr) -> bool | None:
        return _settled(lt(term_of(a), term_of(b)))

    def divides(self, k: Expr, e: Expr) -> bool | None:
        if exact_quotient(term_of(e), term_of(k)) is not None:
            return True
        return _settled(eq(modulo(term_of(e), term_of(k)), 0))


def _settled(condition: Term) -> bool | None:
    return {"true": True, "false": False}.get(condition.op)


class Reads:
    """What the methods of a rewrite and the meanings asked of the values, and what was tried.

    - `lengths`: the lengths tried for each list whose length no tensor determines.
    - `several_ranks`: whether the pattern leaves a rank open.
    """

    def __init__(self) -> None:
        self.dtype = False
        self.device = False
        self.lengths: dict[str, set[int]] = {}
        self.several_ranks = False


class SymbolicDim(Dim):
    """An int of any value, either a plain number or a symbol."""

    __slots__ = ("reads",)

    def __init__(self, expr: Expr, facts: SizeKnowledge, reads: Reads) -> None:
        super().__init__(expr, facts)
        self.facts: SizeKnowledge = facts
        self.reads = reads

    @property
    def is_static(self) -> bool:
        return isinstance(self.expr, int) or self.facts.static(self.expr)

    def __index__(self) -> int:
        if isinstance(self.expr, int):
            return self.expr
        raise NotSymbolic(f"the number {self.expr} is asked for, which may be any")

    __int__ = __index__

    def _of(self, expr: Expr) -> Dim:
        return SymbolicDim(expr, self.facts, self.reads)


class SymbolicTensor(Tensor):
    """A tensor that may have any sizes, strides and elements."""

    __slots__ = ("_named", "_sizes", "is_variable", "knowledge", "meaning", "reads", "steps")

    def __init__(
        self,
        meaning: TensorValue,
        facts: SizeKnowledge,
        reads: Reads,
        named: Callable[[Term], Term],
        strides: str,
        is_variable: bool = False,
    ) -> None:
        self.meaning = meaning
        self.reads = reads
        self.knowledge = facts
        self.steps = tuple([symbol(f"{strides}_stride{k}") for k in range(meaning.rank)])
        self.is_variable = is_variable
        self._facts = facts
        self.value = None
        self._named = named
        self._sizes: tuple[Expr, ...] | None = None

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """The sizes as expressions, made only when asked for: most intermediate results are not."""
        if self._sizes is None:
            self._sizes = tuple([expression_of(one, self._named) for one in self.meaning.shape])
        return self._sizes

    @property
    def type(self) -> TensorType:
        return TensorType.get(self.meaning._dtype, self.sizes, self.steps, self.meaning.device)

    def same_dtype(self, other: Tensor) -> bool:
        assert isinstance(other, SymbolicTensor)
        one, two = self.meaning, other.meaning
        if not (self.is_variable and other.is_variable):
            self.reads.dtype = True  # for results it depends on the dtypes they are made from
        return one._dtype is two._dtype

    @property
    def dtype(self) -> torch.dtype:
        self.reads.dtype = True
        return self.meaning.dtype

    @property
    def device(self) -> torch.device:
        self.reads.device = True
        return self.meaning.device

    @property
    def shape(self) -> Sizes:
        return Sizes([SymbolicDim(size, self.knowledge, self.reads) for size in self.sizes])

    @property
    def stride(self) -> Strides:
        return Strides([SymbolicDim(step, self.knowledge, self.reads) for step in self.steps])

    @property
    def ndim(self) -> int:
        return self.meaning.rank

    rank = ndim

    @property
    def requires_grad(self) -> bool:
        return False


class SymbolicNumber:
    """A Python float or int attribute that may have any value.

    `isinstance` takes it for a float or int; operations that need its digits raise NotSymbolic.
    """

    def __init__(self, term: Term) -> None:
        self.term = term
        self.kind = "float" if term.sort is torch.float64 else "int"

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return float if self.kind == "float" else int

    __hash__ = None  # type: ignore[assignment]

    def _compare(self, name: str, other: Any, turned: bool = False) -> Any:
        right = other.term if type(other) is SymbolicNumber else None
        if right is None:
            if not isinstance(other, numbers.Real) or isinstance(other, Dim):
                return NotImplemented
            # An int and a float are compared by their numeric values.
            right = number_as(other, torch.float64 if isinstance(other, float) else self._dtype())
        left = self.term
        wide = torch.float64 if torch.float64 in (left.sort, right.sort) else torch.int64
        left, right = cast(left, wide), cast(right, wide)
        found = compare(name, *((right, left) if turned else (left, right)))
        text = f"{self} {name} {other}"
        return Fact(_settled(found), text, ("term", found, None))

    def _dtype(self) -> torch.dtype:
        return torch.float64 if self.kind == "float" else torch.int64

    def __eq__(self, other: object) -> Any:
        return self._compare("eq", other)

    def __ne__(self, other: object) -> Any:
        answer = self._compare("eq", other)
        return answer if answer is NotImplemented else ~answer

    def __lt__(self, other: Any) -> Any:
        return self._compare("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare("lt", other, turned=True)

    def __ge__(self, other: Any) -> Any:
        return self._compare("le", other, turned=True)

    def _digits(self, *_: Any) -> Any:
        raise NotSymbolic(f"the digits of {self} are asked for")

    __bool__ = __float__ = __int__ = __index__ = __pow__ = __abs__ = __mod__ = _digits

    def _computed(self, name: str, other: Any, turned: bool = False) -> Any:
        """Arithmetic of Python floats; Python's ints are unbounded, which no term is."""
        if type(other) is SymbolicNumber:
            right = other.term
        elif isinstance(other, bool | int | float):
            right = constant(other, torch.float64)
        else:
            return NotImplemented
        if right.sort is not torch.float64 or self.kind != "float":
            return self._digits()
        return SymbolicNumber(fn(name, *((right, self.term) if turned else (self.term, right))))

    def __add__(self, other: Any) -> Any:
        return self._computed("add", other)

    def __sub__(self, other: Any) -> Any:
        return self._computed("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._computed("sub", other, turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._computed("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self._computed("div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._computed("div", other, turned=True)

    def __neg__(self) -> Any:
        return SymbolicNumber(fn("neg", self.term)) if self.kind == "float" else self._digits()

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        return str(self.term)


__all__ = [
    "NotSymbolic",
    "Reads",
    "SizeKnowledge",
    "SymbolicDim",
    "SymbolicNumber",
    "SymbolicTensor",
    "condition_of",
    "expression_of",
    "term_of",
]
