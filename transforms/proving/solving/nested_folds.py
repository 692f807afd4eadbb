"""Reductions of reductions: an extreme of extremes is the extreme of all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from xductor.transforms.proving.solving.roundings import is_float
from xductor.transforms.semantics.terms import Term, integer, make, substitute, var

_EXTREMES = frozenset(("max", "min"))
_TRUTHS = frozenset(("any", "all"))


def is_extreme(item: Term) -> bool:
    """Whether a fold gives one of its elements; of 0.0 and -0.0 it may give either."""
    return item.args[0] in _EXTREMES


def is_in_any_order(item: Term) -> bool:
    """Whether a fold gives the same bits in any order, unlike an extreme of 0.0 and -0.0."""
    return item.args[0] in _TRUTHS or (is_extreme(item) and not is_float(item))


def flattened(item: Term, is_one: Callable[[Term], bool]) -> Term:
    """A fold merged with the folds of its own kind directly inside it, without extents of one.

    - `is_one`: whether an extent is known to be 1.
    """
    name, binders, sizes, body = item.args
    names, extents = list(binders), list(sizes)
    while body.op == "fold" and body.args[0] == name and body.sort == item.sort:
        _, inner, inner_sizes, inner_body = body.args
        if any(_mentions(size, names) for size in inner_sizes):
            break
        body = inner_body
        names += inner
        extents += inner_sizes
    ones = [k for k, size in enumerate(extents) if is_one(size)]
    body = substitute(body, {var(names[k]): integer(0) for k in ones})
    kept = [k for k in range(len(names)) if k not in ones]
    if not kept:
        return body
    arguments = (name, tuple(names[k] for k in kept), tuple(extents[k] for k in kept), body)
    return make("fold", arguments, item.sort)


def _mentions(size: Term, names: list[str]) -> bool:
    replaced = substitute(size, {var(name): integer(0) for name in names})
    return replaced is not size


def reordered(item: Term) -> Iterator[Term]:
    """A fold with its indices in every order."""
    name, binders, sizes, body = item.args
    for order in itertools.permutations(range(len(binders))):
        yield make(
            "fold",
            (
                name,
                tuple([binders[k] for k in order]),
                tuple([sizes[k] for k in order]),
                body,
            ),
            item.sort,
        )


__all__ = ["flattened", "is_extreme", "is_in_any_order", "reordered"]
