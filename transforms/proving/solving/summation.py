"""Sums up to re-association: the same products, added in another order.

A float is read as a sum of products of atoms, each product possibly summed over indices. Nothing is
cancelled, and a factor of zero does not absorb others, so that NaN and infinities on both sides are
kept: `x * 0` is not 0 here, and neither is `x - x`. Casts between floats, and the roundings inside
kernels, are dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from xductor.transforms.proving.solving.equality import Answer, Comparison
from xductor.transforms.proving.solving.nested_folds import is_extreme, is_in_any_order, reordered
from xductor.transforms.proving.solving.roundings import is_float
from xductor.transforms.proving.solving.solver import has_elements
from xductor.transforms.proving.solving.summed_products import (
    Product,
    bound_of,
    cast_like,
    equivalent,
    fresh,
    is_one,
    join_indices,
    mentions,
    negated,
    renamed,
    split_index,
    stripped,
)
from xductor.transforms.semantics.scalars import fn
from xductor.transforms.semantics.terms import (
    BOOL,
    INT,
    TRUE,
    Term,
    add,
    as_int,
    both,
    commutes,
    constant,
    constant_value,
    integer,
    le,
    mul,
    negation,
    substitute,
    var,
    within,
)

AXIOMS = (
    "sums of floats may be taken in any order, and products be distributed over them",
    "casts between floats do not round",
    "the extreme of extremes is that of all, and of 0.0 and -0.0 either",
    "softmax, logsumexp, variances, scatter_add and index_put are what their definitions say",
)


_MOST_PRODUCTS = 64
_MOST_STEPS = 64


class _TooMany(Exception):
    """There are more products than are worth looking at."""


class SumComparison(Comparison):
    """A comparison in which sums may be taken in any order."""

    def _leaf(self, a: Term, b: Term) -> Answer:
        if self._equal_parts(a, b):
            return "equal"
        return super()._leaf(a, b)

    def _alike(self, a: Term, b: Term) -> bool:
        """Whether two terms are built alike; floats whatever they are rounded to on the way."""
        if a is b:
            return True
        if not (is_float(a) and is_float(b)):
            return super()._alike(a, b)
        a, b = stripped(a), stripped(b)
        known = constant_value(a)
        if known is not None:
            return known == constant_value(b)
        if a.op == b.op == "fold":
            return self._folds_alike(a, b)
        if a.op == b.op == "cast":  # of integers, by now
            return self._alike(a.args[0], b.args[0])
        if a.op == b.op == "call":
            return self._calls_alike(a, b)
        return super()._alike(a, b)

    def _calls_alike(self, a: Term, b: Term) -> bool:
        name, *left = a.args
        if name != b.args[0] or len(a.args) != len(b.args):
            return False
        right = list(b.args[1:])
        orders = (right, right[::-1]) if commutes(name, right) else (right,)
        return any(all(map(self._equal_parts, left, order)) for order in orders)

    def _equal_parts(self, a: Term, b: Term) -> bool:
        if self._alike(a, b):
            return True
        comparable = a.sort == b.sort or (is_float(a) and is_float(b))
        return comparable and a.sort not in (INT, BOOL) and self._same_sums(a, b)

    def _is_in_any_order(self, item: Term) -> bool:
        return is_extreme(item) or is_in_any_order(item)

    def _folds_alike(self, a: Term, b: Term) -> bool:
        if a.args[0] != b.args[0]:
            return False
        if a.args[0] == "sum":
            return self._same_sums(a, b)
        return any(self._folds_in_order(a, one) for one in reordered(b))

    def _folds_in_order(self, a: Term, b: Term) -> bool:
        """Whether reductions over equal extents, in this order, have equal bodies at each index."""
        _, binders, sizes, body = a.args
        _, other_binders, other_sizes, other_body = b.args
        if len(sizes) != len(other_sizes):
            return False
        if not all(map(self._same_index, sizes, other_sizes)):
            return False
        names = dict(zip(map(var, other_binders), map(var, binders), strict=True))
        ranges = [within(var(k), n) for k, n in zip(binders, sizes, strict=True)]
        if not self.assumptions.possible(*ranges):
            return True
        with self.assumptions.under(*ranges):
            inner = self._inner()
            answer = inner.equal(body, substitute(other_body, names))
        self.verdict.engines |= inner.verdict.engines
        return answer == "equal"

    def _inner(self) -> SumComparison:
        return SumComparison(self.assumptions, "bits", self.budget, self.known, self.form)

    # Sums of products.

    def _same_sums(self, a: Term, b: Term) -> bool:
        if not (_is_summed(a) or _is_summed(b)):
            return False
        try:
            left = [self._plain(one) for one in self._products(a)]
            right = [self._plain(one) for one in self._products(b)]
        except _TooMany:
            return False
        left, right = ([one for one in side if one is not None] for side in (left, right))
        if left == [] == right:
            return self._by_sums(True)
        if _is_whole(left, a) and _is_whole(right, b):
            return False  # nothing was taken apart
        return self._by_sums(self._matched(left, right))

    def _by_sums(self, same: bool) -> bool:
        if same:
            self.verdict.engines.add("sums")
        return same

    def _matched(self, left: Sequence[Product], right: Sequence[Product]) -> bool:
        if len(left) != len(right):
            return False
        if not left:
            return True
        first, *others = left
        for k, one in enumerate(right):
            if self._same_product(first, one) and self._matched(
                others, [*right[:k], *right[k + 1 :]]
            ):
                return True
        return False

    def _same_product(self, a: Product, b: Product) -> bool:
        if len(a.factors) != len(b.factors) or len(a.indices) != len(b.indices):
            return False
        if sorted(a.numbers) != sorted(b.numbers) or len(a.guards) != len(b.guards):
            return False
        for order in itertools.permutations(b.indices):
            sizes = zip(a.indices, order, strict=True)
            if all(self._same_index(n, m) for (_, n), (_, m) in sizes):
                names = {
                    var(other): var(name)
                    for (name, _), (other, _) in zip(a.indices, order, strict=True)
                }
                if self._same_factors(a, b.replaced(names)):
                    return True
        return False

    def _same_factors(self, a: Product, b: Product) -> bool:
        ranges = [within(var(name), size) for name, size in a.indices]
        if not self.assumptions.possible(*ranges):
            return True
        with self.assumptions.under(*ranges):
            same = both(*a.guards), both(*b.guards)
            if same[0] is not same[1] and not (
                self.assumptions.implies(equivalent(*same)) and not has_elements(both(*same))
            ):
                return False
            with self.assumptions.under(*a.guards):
                return self._exchanged(a.factors, b.factors)

    def _exchanged(self, left: Sequence[Term], right: Sequence[Term]) -> bool:
        """Whether factors are equal in some order."""
        if not left:
            return not right
        first, *others = left
        for k, one in enumerate(right):
            if self._factor(first, one) and self._exchanged(others, [*right[:k], *right[k + 1 :]]):
                return True
        return False

    def _factor(self, a: Term, b: Term) -> bool:
        if a is b:
            return True
        if a.sort != b.sort and not (is_float(a) and is_float(b)):
            return False
        if is_float(a) and is_float(b):
            a, b = stripped(a), stripped(b)
        inner = self._inner()
        found = inner._alike(inner.settled(a), inner.settled(b))
        self.verdict.engines |= inner.verdict.engines
        return found

    # Taking apart.

    def _products(self, item: Term) -> list[Product]:
        item = stripped(item)
        known = constant_value(item)
        if known is not None:
            return [] if known == 0 else [Product(numbers=() if known == 1 else (float(known),))]
        op, args = item.op, item.args
        if op == "ite" and not has_elements(args[0]):
            return self._cases(*args)
        if op == "cast" and args[0].op == "ite" and not has_elements(args[0].args[0]):
            condition, yes, no = args[0].args
            return self._cases(condition, cast_like(yes, item), cast_like(no, item))
        if op == "fold" and args[0] == "sum":
            return self._folded(item)
        if op == "call" and (is_float(item) or args[0] in ("add", "sub", "mul", "neg")):
            found = self._arithmetic(args[0], args[1:])
            if found is not None:
                if len(found) > _MOST_PRODUCTS:
                    raise _TooMany
                return found
        return [Product((item,))]

    def _arithmetic(self, name: str, items: Sequence[Term]) -> list[Product] | None:
        if name == "add":
            return self._products(items[0]) + self._products(items[1])
        if name == "sub":
            return self._products(items[0]) + negated(self._products(items[1]))
        if name == "neg":
            return negated(self._products(items[0]))
        if name == "mul":
            return self._multiplied(*items)
        if name == "div" and not is_one(items[0]):
            one = constant(1, items[0].sort)  # type: ignore[arg-type]
            return self._multiplied(items[0], fn("div", one, items[1]))
        return None

    def _multiplied(self, a: Term, b: Term) -> list[Product]:
        """The products of both sides multiplied out; a plain zero stays as a factor."""
        left, right = self._products(a), self._products(b)
        if not left and not right:
            return []
        zero = [Product(numbers=(0.0,))]
        return [renamed(one).times(renamed(two)) for one in left or zero for two in right or zero]

    def _cases(self, condition: Term, yes: Term, no: Term) -> list[Product]:
        found: list[Product] = []
        for guard, one in ((condition, yes), (negation(condition), no)):
            found += [replace(p, guards=(*p.guards, guard)) for p in self._products(one)]
        return found

    def _folded(self, item: Term) -> list[Product]:
        _, binders, sizes, body = item.args
        names = [fresh() for _ in binders]
        renamed = substitute(
            body, {var(k): var(name) for k, name in zip(binders, names, strict=True)}
        )
        added = tuple(zip(names, sizes, strict=True))
        ranges = [within(var(name), size) for name, size in added]
        if not self.assumptions.possible(*ranges):
            return []
        with self.assumptions.under(*ranges):
            inside = self._products(self.settled(renamed))
        return [replace(one, indices=(*added, *one.indices)) for one in inside]

    # One way to write a product.

    def _plain(self, product: Product) -> Product | None:
        """A product in normal form, with ranges for guards and digits as indices; None if empty."""
        for _ in range(_MOST_STEPS):
            after = self._step(product)
            if after is None:
                break
            product = after
        ranges = [within(var(name), size) for name, size in product.indices]
        if not self.assumptions.possible(*ranges, *product.guards):
            return None
        numbers = list(product.numbers)
        while numbers.count(-1.0) > 1:
            numbers.remove(-1.0)
            numbers.remove(-1.0)
        indices = tuple([one for one in product.indices if as_int(one[1]) != 1])
        ones = {var(name): integer(0) for name, size in product.indices if as_int(size) == 1}
        found = replace(product, numbers=tuple(numbers), indices=indices)
        return found.replaced(ones) if ones else found

    def _step(self, product: Product) -> Product | None:
        return (
            self._without_known(product)
            or self._narrowed(product)
            or split_index(product)
            or join_indices(product)
        )

    def _without_known(self, product: Product) -> Product | None:
        """A product without a guard that always holds."""
        ranges = [within(var(name), size) for name, size in product.indices]
        for k, guard in enumerate(product.guards):
            rest = (*product.guards[:k], *product.guards[k + 1 :])
            if guard is TRUE:
                return replace(product, guards=rest)
            if guard.op == "and":
                return replace(product, guards=(*rest, *guard.args))
            if self.assumptions.possible(*ranges):
                with self.assumptions.under(*ranges):
                    if self.assumptions.implies(guard):
                        return replace(product, guards=rest)
        return None

    def _narrowed(self, product: Product) -> Product | None:
        """A guard `k < n` or `k >= n` becomes a smaller range of `k`, and `k == n` that index."""
        for place, guard in enumerate(product.guards):
            for name, size in product.indices:
                bound = bound_of(guard, var(name))
                if bound is None or any(mentions(bound[1], var(n)) for n, _ in product.indices):
                    continue
                rest = replace(
                    product, guards=(*product.guards[:place], *product.guards[place + 1 :])
                )
                found = self._with_range(rest, name, size, *bound)
                if found is not None:
                    return found
        return None

    def _with_range(
        self, product: Product, name: str, size: Term, kind: str, at: Term
    ) -> Product | None:
        others = tuple([one for one in product.indices if one[0] != name])
        inside = both(le(0, at), le(at, size))
        if kind == "below" and self.assumptions.implies(inside):
            return replace(product, indices=(*others, (name, at)))
        if kind == "from" and self.assumptions.implies(inside):
            moved = product.replaced({var(name): add(var(name), at)})
            return replace(moved, indices=(*others, (name, add(size, mul(-1, at)))))
        if kind == "is" and self.assumptions.implies(within(at, size)):
            return replace(product.replaced({var(name): at}), indices=others)
        return None


def _is_summed(item: Term) -> bool:
    item = stripped(item)
    if item.op == "fold":
        return item.args[0] == "sum"
    return item.op == "call" and item.args[0] in ("add", "sub", "mul", "neg", "div")


def _is_whole(products: Sequence[Product], item: Term) -> bool:
    """Whether a term is the one product that it is made of."""
    return list(products) == [Product((stripped(item),))]


__all__ = ["AXIOMS", "SumComparison"]
