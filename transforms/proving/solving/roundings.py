"""Terms without the roundings that a rewrite may drop under `drops a rounding`."""

from __future__ import annotations

import torch

from xductor.transforms.semantics.terms import Term, cast, rebuilt


def is_float(item: Term) -> bool:
    return isinstance(item.sort, torch.dtype) and item.sort.is_floating_point


def without_roundings(item: Term) -> Term:
    """A term in which only the last cast of each chain of casts between floats remains."""
    done: dict[Term, Term] = {}

    def visit(one: Term) -> Term:
        found = done.get(one)
        if found is None:
            found = done[one] = _dropped(rebuilt(one, visit))
        return found

    return visit(item)


def _dropped(one: Term) -> Term:
    while one.op == "cast" and is_float(one) and one.args[0].op == "cast":
        inner = one.args[0]
        if not (is_float(inner) and is_float(inner.args[0])):
            break
        assert isinstance(one.sort, torch.dtype)
        one = cast(inner.args[0], one.sort)
    return one


__all__ = ["is_float", "without_roundings"]
