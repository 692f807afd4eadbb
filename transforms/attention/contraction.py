"""Reads products of matrices in one form: matmul, bmm, mm, baddbmm and einsum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xdsl.ir import SSAValue

from xductor.transforms.attention.axes import View, identity
from xductor.transforms.attention.reading import Reader, Term, rank_of


@dataclass(frozen=True)
class Contraction:
    """A product of `left`, `[batch..., rows, inner]`, and `right`, `[batch..., inner, columns]`.

    Axis `i` of the result is axis `order[i]` of `[batch..., rows, columns]`. The product is
    multiplied by `alpha`; `beta` times `added` is added to it.
    """

    term: Term
    left: View
    right: View
    order: tuple[int, ...]
    alpha: Any = 1
    added: SSAValue | None = None
    beta: Any = 1

    @property
    def rank(self) -> int:
        return len(self.order)

    def swapped(self) -> Contraction:
        """The same product, written as the transpose of the product of the transposed operands."""
        rows, columns = self.rank - 2, self.rank - 1
        batch = identity(rows)
        order = tuple({rows: columns, columns: rows}.get(part, part) for part in self.order)
        return replace(
            self,
            left=self.right.reordered((*batch, columns, rows)),
            right=self.left.reordered((*batch, columns, rows)),
            order=order,
        )


def contraction(value: Any, reader: Reader) -> Contraction | None:
    """The product that makes a value, or None."""
    term = reader.term(value)
    if term is None:
        return None
    if term.kind == "matmul":
        return _matmul(term)
    if term.kind == "baddbmm":
        product = _matmul(term)
        if product is None:
            return None
        added = None if term.beta == 0 else term.z
        return Contraction(
            term, product.left, product.right, product.order, term.alpha, added, term.beta
        )
    if term.kind == "einsum":
        return _einsum(term)
    return None


def _matmul(term: Term) -> Contraction | None:
    ranks = rank_of(term.x), rank_of(term.y)
    if ranks[0] is None or ranks[1] is None or min(ranks[0], ranks[1]) < 2:
        return None
    rank = max(ranks[0], ranks[1])
    return Contraction(
        term, _padded(term.x, ranks[0], rank), _padded(term.y, ranks[1], rank), identity(rank)
    )


def _padded(value: SSAValue, rank: int, wanted: int) -> View:
    return View(value, (*((None,) * (wanted - rank)), *range(rank)))


def _einsum(term: Term) -> Contraction | None:
    """An einsum of two operands with one label each for rows, columns and the inner axis."""
    equation = term.equation.replace(" ", "")
    if "->" not in equation or "." in equation:
        return None
    inputs, result = equation.split("->")
    if inputs.count(",") != 1:
        return None
    left, right = inputs.split(",")
    for labels in (left, right, result):
        if len(set(labels)) != len(labels):
            return None
    if len(left) != rank_of(term.x) or len(right) != rank_of(term.y):
        return None
    return _labelled(term, left, right, result)


def _labelled(term: Term, left: str, right: str, result: str) -> Contraction | None:
    """The contraction of an einsum with these labels, or None.

    Labels in both operands and the result are batch labels. Of the labels that only one operand and
    the result have, all but one are batch labels too: the other operand is constant along them.
    """
    inner = [label for label in left if label in right and label not in result]
    if len(inner) != 1 or set(result) - set(left) - set(right):
        return None
    if any(label not in result and label not in inner for label in left + right):
        return None
    rows = [label for label in result if label in left and label not in right]
    columns = [label for label in result if label in right and label not in left]
    if not rows or not columns:
        return None
    row, column = rows[-1], columns[-1]
    batch = [label for label in result if label not in (row, column)]
    order = [*batch, row, column]
    return Contraction(
        term,
        View(term.x, _places(left, [*batch, row, inner[0]])),
        View(term.y, _places(right, [*batch, inner[0], column])),
        tuple(order.index(label) for label in result),
    )


def _places(labels: str, wanted: list[str]) -> tuple[int | None, ...]:
    return tuple(labels.index(label) if label in labels else None for label in wanted)


__all__ = ["Contraction", "contraction"]
