"""Sums of products: the form of a float term up to re-association."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import torch

from xductor.transforms.proving.solving.roundings import is_float
from xductor.transforms.semantics.kernels import PREFIX, SCALED, definition_of
from xductor.transforms.semantics.terms import (
    BOOL,
    Term,
    add,
    both,
    cast,
    constant_value,
    either,
    mul,
    negation,
    parts,
    polynomial,
    substitute,
    var,
)

#: Kernels that give the same NaN and infinities as their definitions.
DEFINED = (
    "softmax", "log_softmax", "prepare_softmax", "logsumexp", "variance", "deviation",
    "scatter_add", "mean", "cumsum", "cumprod", "mm", "bmm", "mv", "dot", "matmul", "inner",
    "einsum", "addmm", "mm_plus_mm", "baddbmm", "linear", *SCALED,
)  # fmt: skip

_serial = itertools.count()


@dataclass(frozen=True)
class Product:
    """A product of atoms, summed over indices, where guards hold.

    - `indices`: the names and sizes of the indices that it is summed over.
    - `guards`: conditions on indices alone.
    - `numbers`: constant factors other than one.
    """

    factors: tuple[Term, ...] = ()
    numbers: tuple[float, ...] = ()
    indices: tuple[tuple[str, Term], ...] = ()
    guards: tuple[Term, ...] = ()

    def times(self, other: Product) -> Product:
        return Product(
            (*self.factors, *other.factors),
            (*self.numbers, *other.numbers),
            (*self.indices, *other.indices),
            (*self.guards, *other.guards),
        )

    def replaced(self, values: dict[Term, Term]) -> Product:
        return replace(
            self,
            factors=tuple([substitute(one, values) for one in self.factors]),
            guards=tuple([substitute(one, values) for one in self.guards]),
            indices=tuple([(name, substitute(size, values)) for name, size in self.indices]),
        )


def equivalent(a: Term, b: Term) -> Term:
    return both(either(negation(a), b), either(negation(b), a))


def is_one(item: Term) -> bool:
    return constant_value(item) == 1


def stripped(item: Term) -> Term:
    """A float without casts from floats, and with kernels replaced by their definitions."""
    while True:
        if item.op == "cast" and is_float(item) and is_float(item.args[0]):
            item = item.args[0]
            continue
        definition = definition_of(item)
        if definition is None or item.args[0].removeprefix(PREFIX) not in DEFINED:
            return item
        item = definition


def negated(products: Iterable[Product]) -> list[Product]:
    return [replace(one, numbers=(*one.numbers, -1.0)) for one in products]


def cast_like(item: Term, like: Term) -> Term:
    return cast(item, torch.bool if like.sort == BOOL else like.sort)  # type: ignore[arg-type]


def fresh() -> str:
    """A name that no other index of a comparison has."""
    return f"s{next(_serial)}"


def begin_names() -> None:
    """Restart the names, so that equal questions of different comparisons are equal."""
    global _serial
    _serial = itertools.count()


def renamed(product: Product) -> Product:
    """A product with indices of its own, so that it can be combined with any other."""
    if not product.indices:
        return product
    names = {name: fresh() for name, _ in product.indices}
    moved = product.replaced({var(name): var(new) for name, new in names.items()})
    return replace(moved, indices=tuple([(names[name], size) for name, size in moved.indices]))


def mentions(item: Term, variable: Term) -> bool:
    return item is variable or any(mentions(part, variable) for part in parts(item))


def bound_of(guard: Term, variable: Term) -> tuple[str, Term] | None:
    """`below n`, `from n` or `is n` if a guard says that of a variable; else None."""
    if guard.op not in ("nonneg", "zero"):
        return None
    whole = polynomial(guard.args[0])
    own = whole.get((variable,))
    rest = add(guard.args[0], mul(-1 if own == 1 else 1, variable))
    if own not in (1, -1) or mentions(rest, variable):
        return None
    if guard.op == "zero":
        return "is", mul(-1, rest) if own == 1 else rest
    return ("from", mul(-1, rest)) if own == 1 else ("below", add(rest, 1))


def walk(items: Iterable[Term]) -> Iterator[Term]:
    seen: set[Term] = set()
    pending = list(items)
    while pending:
        one = pending.pop()
        if one not in seen:
            seen.add(one)
            yield one
            pending.extend(parts(one))


def split_index(product: Product) -> Product | None:
    """Replace an index of which only the digits are used by an index for each digit."""
    for name, size in product.indices:
        variable = var(name)
        digits = [
            one
            for one in walk((*product.factors, *product.guards))
            if one.op == "digit" and one.args[0] is variable
        ]
        if not digits:
            continue
        sizes: tuple[Term, ...] = digits[0].args[2]
        if any(one.args[2] != sizes for one in digits) or mul(*sizes) is not size:
            continue
        names = [fresh() for _ in sizes]
        moved = product.replaced({one: var(names[one.args[1]]) for one in digits})
        if any(mentions(one, variable) for one in (*moved.factors, *moved.guards)):
            continue
        others = tuple([one for one in moved.indices if one[0] != name])
        return replace(moved, indices=(*others, *zip(names, sizes, strict=True)))
    return None


def join_indices(product: Product) -> Product | None:
    """Replace indices that are used only as the digits of one number by that number."""
    extents = dict(product.indices)
    for one in walk((*product.factors, *product.guards)):
        if one.op != "linear":
            continue
        entries, sizes = one.args
        names = [entry.args[0] if entry.op == "var" else "" for entry in entries]
        if len(set(names)) != len(names) or any(name not in extents for name in names):
            continue
        if any(extents[n] is not size for n, size in zip(names, sizes, strict=True)):
            continue
        whole = fresh()
        moved = product.replaced({one: var(whole)})
        if any(mentions(f, var(n)) for f in (*moved.factors, *moved.guards) for n in names):
            continue
        others = tuple([o for o in moved.indices if o[0] not in names])
        return replace(moved, indices=(*others, (whole, mul(*sizes))))
    return None


__all__ = [
    "Product",
    "begin_names",
    "bound_of",
    "cast_like",
    "equivalent",
    "fresh",
    "is_one",
    "join_indices",
    "mentions",
    "negated",
    "renamed",
    "split_index",
    "stripped",
    "walk",
]
