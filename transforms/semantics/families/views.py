"""Views with other sizes: the same elements in row-major order.

An index into the new sizes is read as the digits of a number; its digits in the old sizes are the
index into these. Dims that both sides share are passed through, and groups of dims with equal
products are treated separately, so that a number is formed only where dims really mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.terms import (
    Term,
    as_int,
    digit,
    eq,
    exact_quotient,
    integer,
    le,
    linear,
    lt,
    mul,
    number,
    quotient,
)
from xductor.transforms.semantics.values import (
    Illegal,
    Index,
    NoMeaning,
    TensorValue,
    World,
    dim_of,
    known_equal,
)


@meaning(
    "aten.view.default",
    "aten.reshape.default",
    "aten._unsafe_view.default",
    "aten.view_copy.default",
    "prims.reshape.default",
    "aten._reshape_copy.default",
)
def view(world: World, x: TensorValue, size: Any) -> TensorValue:
    shape = _sizes(world, x, [integer(one) for one in size])
    world.require(eq(_product(shape), x.numel), "a view of another number of elements")
    return x.moved(shape, lambda index: reindexed(world, index, shape, x.shape))


def _product(sizes: Sequence[Term]) -> Term:
    return mul(*sizes) if sizes else number(1)


def _sizes(world: World, x: TensorValue, wanted: list[Term]) -> list[Term]:
    """The sizes of a view, with a -1 inferred."""
    places = [k for k, one in enumerate(wanted) if as_int(one) == -1]
    for k, one in enumerate(wanted):
        if k not in places and as_int(one) is None:
            world.require(le(0, one), "a size of a view is negative")
        elif k not in places and (as_int(one) or 0) < 0:
            raise Illegal(f"a view of size {one}")
    if not places:
        return wanted
    if len(places) > 1:
        raise Illegal("a view with two sizes of -1")
    rest = _product([one for k, one in enumerate(wanted) if k not in places])
    world.require(lt(0, rest), "-1 in a view of no elements")
    found = _divided(world, x, rest)
    return [found if k in places else one for k, one in enumerate(wanted)]


def _divided(world: World, x: TensorValue, rest: Term) -> Term:
    """The number of elements of `x` over the product of the other sizes."""
    plain = exact_quotient(x.numel, rest)
    if plain is not None:
        return plain
    # Sizes that are known to be equal count as one, as in view(x, [-1, n]) where n == x.shape[1].
    sizes = list(x.shape)
    for one in sizes:
        others = _product([other for other in sizes if other is not one])
        if known_equal(world, rest, one) and len([o for o in sizes if o is one]) == 1:
            return others
        if known_equal(world, rest, others):
            return one
    if known_equal(world, rest, x.numel):
        return number(1)
    return world.size(quotient(x.numel, rest))


def reindexed(
    world: World, index: Sequence[Term], new: Sequence[Term], old: Sequence[Term]
) -> list[Term]:
    """The index among the old sizes of the element at an index among the new ones."""
    outs = [(entry, size) for entry, size in zip(index, new, strict=True) if as_int(size) != 1]
    ins = [place for place, size in enumerate(old) if as_int(size) != 1]
    found: list[Term] = [number(0)] * len(old)
    while outs and ins:
        taken_outs, taken_ins = _group(world, [size for _, size in outs], [old[k] for k in ins])
        group, outs = outs[:taken_outs], outs[taken_outs:]
        places, ins = ins[:taken_ins], ins[taken_ins:]
        entries = _regrouped(world, group, [old[k] for k in places])
        for place, entry in zip(places, entries, strict=True):
            found[place] = entry
    return found


def _group(world: World, outs: list[Term], ins: list[Term]) -> tuple[int, int]:
    """How many leading sizes of both sides have equal products; all, if none are known to."""
    for total in range(2, len(outs) + len(ins)):
        for m in range(1, total):
            n = total - m
            if m > len(outs) or n > len(ins):
                continue
            rest = (len(outs) - m == 0) == (len(ins) - n == 0)
            if rest and known_equal(world, _product(outs[:m]), _product(ins[:n])):
                return m, n
    return len(outs), len(ins)


def _regrouped(world: World, group: list[tuple[Term, Term]], sizes: list[Term]) -> list[Term]:
    """The digits, in the base of `sizes`, of the number whose digits are given."""
    if len(group) == 1 and len(sizes) == 1:
        return [group[0][0]]
    whole = linear([entry for entry, _ in group], [size for _, size in group])
    return digits(world, whole, tuple(sizes))


def digits(world: World, whole: Term, sizes: tuple[Term, ...]) -> list[Term]:
    """The digits of a number; those of a number that is itself made of digits are looked up."""
    if len(sizes) == 1:
        return [whole]
    if whole.op == "linear" and whole.args[1] != sizes:
        entries, bases = whole.args
        groups = _group(world, list(bases), list(sizes))
        if groups != (len(bases), len(sizes)):
            return reindexed(world, entries, bases, sizes)
        if len(bases) == len(sizes) and all(
            known_equal(world, a, b) for a, b in zip(bases, sizes, strict=True)
        ):
            return list(entries)
    return [digit(whole, place, sizes) for place in range(len(sizes))]


@meaning("aten.flatten.using_ints")
def flatten(world: World, x: TensorValue, start_dim: Any = 0, end_dim: Any = -1) -> TensorValue:
    if not x.rank:
        return x.moved([number(1)], lambda index: [])
    first, last = dim_of(start_dim, x.rank), dim_of(end_dim, x.rank)
    if first > last:
        raise Illegal("flatten: the first dim is behind the last")
    joined = _product(x.shape[first : last + 1])
    shape = [*x.shape[:first], joined, *x.shape[last + 1 :]]
    return x.moved(shape, lambda index: reindexed(world, index, shape, x.shape))


@meaning("aten.unflatten.int")
def unflatten(world: World, x: TensorValue, dim: Any, sizes: Any) -> TensorValue:
    place = dim_of(dim, x.rank)
    return view(world, x, [*x.shape[:place], *sizes, *x.shape[place + 1 :]])


@meaning("aten.ravel.default")
def ravel(world: World, x: TensorValue) -> TensorValue:
    return flatten(world, x)


@meaning("aten.view_as.default", "aten.reshape_as.default")
def view_as(world: World, x: TensorValue, other: TensorValue) -> TensorValue:
    return view(world, x, list(other.shape))


@meaning("aten.view.dtype")
def view_dtype(world: World, x: TensorValue, dtype: torch.dtype) -> TensorValue:
    if dtype is not x.dtype:
        raise NoMeaning("view of the bits as another dtype")
    return x.moved(x.shape, lambda index: index)


__all__ = ["Index", "digits", "reindexed", "view"]
