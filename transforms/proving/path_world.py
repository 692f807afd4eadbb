"""The world in which one path of a rewrite is taken: sizes, facts and choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from xductor.ir.symbolic.expressions import symbols_of
from xductor.transforms.proving.paths import Path, Pruned
from xductor.transforms.proving.solving.solver import Assumptions
from xductor.transforms.proving.symbolic import (
    condition_of,
    expression_of,
)
from xductor.transforms.rewriting.decisions import Fact
from xductor.transforms.semantics.terms import (
    FALSE,
    TRUE,
    Term,
    either,
    eq,
    le,
    negation,
    var,
)
from xductor.transforms.semantics.uninterpreted import GENERATOR
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue


@dataclass(frozen=True)
class Limits:
    """Which instances are tried.

    - `rank`: the largest rank of a tensor.
    - `dtypes`: those of tensors; only one if nothing depends on them.
    - `devices`: those of the first tensor; all others are on the same one.
    - `listed_ints`, `listed_numbers`: take integer and number attributes from a list, because the
      rewrite asks for their digits.
    - `longest_shape`: the greatest number of sizes given to an op without tensors.
    - `explain`: report a plain no of `where` with the clause that gave it.
    """

    rank: int = 3
    dtypes: tuple[torch.dtype, ...] = (torch.float32,)
    devices: tuple[str, ...] = ("cpu",)
    listed_ints: bool = False
    listed_numbers: bool = False
    longest_list: int = 4
    longest_shape: int = 5
    explain: bool = False


@dataclass
class Obligation:
    """A condition for the target to be legal wherever the source is."""

    condition: Term
    why: str


class PathWorld:
    """The world of meanings on one path: requirements of sources hold, those of targets are due."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.assumptions = Assumptions()
        self.obligations: list[Obligation] = []
        self.bounds: list[str] = []
        self.in_target = False
        self.variables: dict[str, Term] = {}
        self._sizes: dict[Term, Term] = {}
        self._static: dict[Term, bool] = {}
        self._indices: list[tuple[TensorValue, Term, Term]] = []
        self._state = GENERATOR

    def assume(self, condition: Term) -> None:
        """Assume a condition. Raises Pruned if it cannot hold."""
        if condition is TRUE:
            return
        if condition is FALSE or not self.assumptions.possible(condition):
            raise Pruned("cannot be")
        self.assumptions.add(condition)

    def elements_within(self, index: TensorValue, low: Term, size: Term) -> None:
        """Require indices that are data to be in range; a target may reuse ranges of its source."""
        if not self.in_target:
            self._indices.append((index, low, size))
        elif not any(self._covers(one, index, low, size) for one in self._indices):
            raise NoMeaning("indices that are data: whether they are in range is not proved")

    def _covers(
        self, known: tuple[TensorValue, Term, Term], index: TensorValue, low: Term, size: Term
    ) -> bool:
        """Whether a known range of other elements implies that those of `index` are in range."""
        other, least, end = known
        if other.rank != index.rank:
            return False
        at = [var(f"at{k}") for k in range(index.rank)]
        if self.assumptions.plain(other.element(at)) is not self.assumptions.plain(
            index.element(at)
        ):
            return False
        same = [eq(a, b) for a, b in zip(other.shape, index.shape, strict=True)]
        return all(self.known(one) for one in (*same, le(low, least), le(end, size)))

    def draw(self, after: Callable[[Term], Term]) -> Term:
        """The state of the generator, which `after` then changes."""
        before = self._state
        self._state = after(before)
        return before

    def begin_target(self) -> None:
        """Treat ops from here on as those of the target, which replaces the source."""
        self.in_target = True
        self.path.source = len(self.path.taken)
        self._state = GENERATOR

    def require(self, condition: Term, why: str) -> None:
        if self.in_target:
            if condition is not TRUE:
                self.obligations.append(Obligation(condition, why))
        elif condition is FALSE:
            raise Illegal(why)
        else:
            self.assume(condition)

    def known(self, condition: Term) -> bool:
        if condition is TRUE or condition is FALSE:
            return condition is TRUE
        return self.assumptions.implies(condition)

    def size(self, item: Term) -> Term:
        if item.op in ("number", "var", "poly"):
            return item
        if item.op == "ite":
            condition, yes, no = item.args
            if self.known(condition):
                return self.size(yes)
            if self.known(negation(condition)):
                return self.size(no)
        found = self._sizes.get(item)
        if found is None:
            found = self._sizes[item] = self.variable(f"size{len(self._sizes)}")
            self.assumptions.add(eq(found, item))
        return found

    def one_of(self, cases: Sequence[tuple[Term, Any]], what: str) -> Any:
        possible: list[tuple[Term, Any]] = []
        for condition, item in cases:
            if self.known(condition):
                return item
            if condition is not FALSE and self.assumptions.possible(condition):
                possible.append((condition, item))
        left = negation(either(*[condition for condition, _ in cases]))
        if left is not FALSE and self.assumptions.possible(left):
            self.bounds.append(f"{what}: {', '.join(str(item) for _, item in cases)}")
        condition, item = self.path.choose(possible, what)
        self.assume(condition)
        return item

    def variable(self, name: str) -> Term:
        made = var(name)
        self.variables[name] = made
        return made

    def is_static(self, expr: Any) -> bool:
        """Whether a size is a plain number in the graph, that is, all its variables are.

        Both are tried, whatever its value; sizes known to be equal are treated alike.
        """
        return all(self._is_static(var(name)) for name in sorted(symbols_of([expr])))

    def _is_static(self, variable: Term) -> bool:
        stands_for = self.assumptions.plain(variable)
        if stands_for.op != "var":
            return self.is_static(expression_of(stands_for, self.size))
        if stands_for not in self._static:
            chosen = self.path.choose((True, False), f"{stands_for} is static")
            self._static[stands_for] = chosen
        return self._static[stands_for]

    def decide(self, fact: Fact) -> bool:
        """The oracle of `where`: a fact that is not settled is taken both ways."""
        if fact.question is not None and fact.question[0] == "known":
            return self._known_to_be(condition_of(fact.question[1]), fact.text)
        return self._decided(condition_of(fact), fact.text)

    def _known_to_be(self, condition: Term, text: str) -> bool:
        """Whether a compile knows it: if so it holds, and if not nothing follows."""
        if self.known(negation(condition)):
            return False
        if self.path.choose((True, False), text):
            self.assume(condition)
            return True
        return False

    def _decided(self, condition: Term, text: str) -> bool:
        if self.known(condition):
            return True
        if self.known(negation(condition)):
            return False
        chosen = self.path.choose((True, False), text)
        self.assume(condition if chosen else negation(condition))
        return chosen


__all__ = ["Limits", "Obligation", "PathWorld"]
