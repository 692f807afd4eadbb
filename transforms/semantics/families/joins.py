"""Joining and splitting: cat, stack, split, unbind, pad, slice_scatter, select_scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.index_maps import select, slice_bounds, unsqueeze
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import converted, number_as
from xductor.transforms.semantics.terms import (
    Term,
    add,
    as_int,
    both,
    either,
    eq,
    integer,
    ite,
    le,
    lt,
    modulo,
    mul,
    number,
    quotient,
    within,
)
from xductor.transforms.semantics.values import (
    Illegal,
    Index,
    TensorValue,
    World,
    dim_of,
    dtypes_of_both,
    known_equal,
)

#: The greatest number of pieces of a split, if their number depends on the tensor's size.
LONGEST = 4


def _joint_dtype(tensors: Sequence[TensorValue]) -> torch.dtype:
    first = tensors[0]
    pairs = [dtypes_of_both(first, one) for one in tensors[1:]]
    if all(a is b for a, b in pairs):  # nothing is promoted
        return first._dtype
    examples = [torch.empty((1,) * min(one.rank, 1), dtype=one.dtype) for one in tensors]
    dtype = examples[0].dtype
    for one in examples[1:]:
        dtype = torch.result_type(torch.empty((1,), dtype=dtype), one)
    return dtype


def _without_empty_ones(world: World, tensors: Sequence[TensorValue]) -> Sequence[TensorValue]:
    """Drop empty tensors of rank 1, which `cat` accepts beside tensors of any rank."""
    ranks = {one.rank for one in tensors}
    if len(ranks) == 1:
        return tensors
    if len(ranks) > 2 or 1 not in ranks:
        raise Illegal("cat of tensors of several ranks")
    for one in tensors:
        if one.rank == 1:
            world.require(eq(one.shape[0], 0), "cat of several ranks")
    return [one for one in tensors if one.rank != 1]


@meaning("aten.cat.default", "aten.concat.default", "aten.concatenate.default")
def cat(world: World, tensors: Sequence[TensorValue], dim: Any = 0) -> TensorValue:
    if not tensors:
        raise Illegal("cat of nothing")
    joined = _without_empty_ones(world, tensors)
    rank = joined[0].rank
    if rank == 0:
        raise Illegal("cat of rank 0")
    dtype = _joint_dtype(tensors)
    tensors = joined
    place = dim_of(dim, rank)
    first = tensors[0]
    for other in tensors[1:]:
        for k in range(rank):
            if k != place:
                world.require(eq(first.shape[k], other.shape[k]), "cat of sizes that differ")
    total = add(*[one.shape[place] for one in tensors])
    shape = [*first.shape[:place], total, *first.shape[place + 1 :]]

    def element(index: Sequence[Term]) -> Term:
        end: Term = total
        at = index[place]
        found: Term | None = None
        for one in reversed(tensors):
            begin = end - one.shape[place]
            inside = [*index[:place], at - begin, *index[place + 1 :]]
            here = converted(one.element(inside), one._dtype, dtype)
            found = here if found is None else ite(lt(at, end), here, found)
            end = begin
        assert found is not None
        return found

    return TensorValue(shape, dtype, element, device=first.device, on_dtype=first.on_dtype)


@meaning("aten.stack.default")
def stack(world: World, tensors: Sequence[TensorValue], dim: Any = 0) -> TensorValue:
    if not tensors:
        raise Illegal("stack of nothing")
    first = tensors[0]
    for other in tensors[1:]:
        if other.rank != first.rank:
            raise Illegal("stack of several ranks")
        for a, b in zip(first.shape, other.shape, strict=True):
            world.require(eq(a, b), "stack of sizes that differ")
    place = dim_of(dim, first.rank + 1)
    return cat(world, [unsqueeze(world, one, place) for one in tensors], place)


def _pieces(x: TensorValue, place: int, sizes: Sequence[Term]) -> list[TensorValue]:
    found: list[TensorValue] = []
    begin: Term = number(0)
    for size in sizes:
        found.append(_piece(x, place, begin, size))
        begin = add(begin, size)
    return found


def _piece(x: TensorValue, place: int, begin: Term, size: Term) -> TensorValue:
    shape = [*x.shape[:place], size, *x.shape[place + 1 :]]

    def source(index: Sequence[Term]) -> Index:
        return [*index[:place], add(begin, index[place]), *index[place + 1 :]]

    return x.moved(shape, source)


@meaning("aten.split_with_sizes.default", "aten.split.sizes", "aten.split_with_sizes_copy.default")
def split_with_sizes(
    world: World, x: TensorValue, split_sizes: Any, dim: Any = 0
) -> list[TensorValue]:
    if not x.rank:
        raise Illegal("split of rank 0")
    place = dim_of(dim, x.rank)
    sizes = list(map(integer, split_sizes))
    for size in sizes:
        world.require(le(0, size), "split: a negative size")
    total = add(*sizes) if sizes else number(0)
    world.require(eq(total, x.shape[place]), "split: the sizes do not add up")
    return _pieces(x, place, sizes)


@meaning("aten.split.Tensor", "aten.split_copy.Tensor")
def split(world: World, x: TensorValue, split_size: Any, dim: Any = 0) -> list[TensorValue]:
    if not x.rank:
        raise Illegal("split of rank 0")
    place = dim_of(dim, x.rank)
    size, by = x.shape[place], integer(split_size)
    world.require(either(lt(0, by), both(eq(by, 0), eq(size, 0))), "split into pieces of nothing")
    if known_equal(world, by, size):
        return _pieces(x, place, [size])
    whole, step = as_int(size), as_int(by)
    if whole is not None and step is not None and whole > 0 and step > 0:
        sizes = [min(step, whole - start) for start in range(0, whole, step)]
        return _pieces(x, place, list(map(number, sizes)))
    cases = [
        (both(lt(mul(count - 1, by), size), le(size, mul(count, by))), count)
        for count in range(2, LONGEST + 1)
    ]
    count = world.one_of([(le(size, by), 1), *cases], f"number of pieces of {size} by {by}")
    return _pieces(x, place, [by] * (count - 1) + [size - mul(count - 1, by)])


@meaning("aten.chunk.default")
def chunk(world: World, x: TensorValue, chunks: Any, dim: Any = 0) -> list[TensorValue]:
    """Pieces of one size, as large as to be so many; of nothing there are so many."""
    if not x.rank or chunks < 1:
        raise Illegal("chunk of rank 0, or into none")
    place = dim_of(dim, x.rank)
    size = x.shape[place]
    if world.one_of([(eq(size, 0), True), (lt(0, size), False)], f"whether {size} is nothing"):
        return _pieces(x, place, [number(0)] * chunks)
    return split(world, x, quotient(add(size, chunks - 1), number(chunks)), dim)


@meaning("aten.unbind.int")
def unbind(world: World, x: TensorValue, dim: Any = 0) -> list[TensorValue]:
    if not x.rank:
        raise Illegal("unbind of rank 0")
    place = dim_of(dim, x.rank)
    count = as_int(x.shape[place])
    if count is None:
        cases = [(eq(x.shape[place], n), n) for n in range(LONGEST + 1)]
        count = world.one_of(cases, f"number of pieces of {x.shape[place]}")
    return [select(world, x, place, k) for k in range(count)]


@meaning("aten.constant_pad_nd.default")
def constant_pad(world: World, x: TensorValue, pad: Any, value: Any = 0) -> TensorValue:
    amounts = list(map(integer, pad))
    if len(amounts) % 2 or len(amounts) > 2 * x.rank:
        raise Illegal(f"{len(amounts)} pads of rank {x.rank}")
    shape = list(x.shape)
    before: list[Term] = [number(0)] * x.rank
    for k in range(len(amounts) // 2):
        place = x.rank - 1 - k
        low, high = amounts[2 * k], amounts[2 * k + 1]
        before[place] = low
        shape[place] = add(x.shape[place], low, high)
        world.require(le(0, shape[place]), "pad: a negative size")

    def element(index: Sequence[Term]) -> Term:
        at = [entry - low for entry, low in zip(index, before, strict=True)]
        ranges = [
            within(entry, size)
            for entry, size, low, new in zip(at, x.shape, before, shape, strict=True)
            if not (as_int(low) == 0 and new is size)
        ]
        inside = both(*ranges)
        if not ranges:
            return x.element(at)
        return ite(inside, x.element(at), number_as(value, x.dtype))

    return TensorValue(shape, x._dtype, element, device=x.device, on_dtype=x.on_dtype)


@meaning("aten.slice_scatter.default")
def slice_scatter(
    world: World,
    x: TensorValue,
    src: TensorValue,
    dim: Any = 0,
    start: Any = None,
    end: Any = None,
    step: Any = 1,
) -> TensorValue:
    if not x.rank:
        raise Illegal("slice_scatter of rank 0")
    place, by = dim_of(dim, x.rank), integer(step)
    world.require(lt(0, by), "the step of slice_scatter is not positive")
    first, last = slice_bounds(world, x.shape[place], start, end)
    length = last - first if as_int(by) == 1 else quotient(last - first + by - 1, by)
    if src.rank != x.rank:
        raise Illegal("slice_scatter: another rank")
    for k in range(x.rank):
        wanted = length if k == place else x.shape[k]
        world.require(eq(src.shape[k], wanted), "slice_scatter: other sizes")
    dtype, source = dtypes_of_both(x, src)

    def element(index: Sequence[Term]) -> Term:
        at = index[place]
        inside = [*index[:place], quotient(at - first, by), *index[place + 1 :]]
        written = converted(src.element(inside), source, dtype)
        hit = both(le(first, at), lt(at, last), eq(modulo(at - first, by), 0))
        return ite(hit, written, x.element(index))

    return TensorValue(x.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


@meaning("aten.select_scatter.default")
def select_scatter(
    world: World, x: TensorValue, src: TensorValue, dim: Any, index: Any
) -> TensorValue:
    if not x.rank:
        raise Illegal("select_scatter of rank 0")
    place = dim_of(dim, x.rank)
    size, chosen = x.shape[place], integer(index)
    world.require(both(le(mul(-1, size), chosen), lt(chosen, size)), "select_scatter out of range")
    at = ite(lt(chosen, 0), add(chosen, size), chosen)
    rest = [*x.shape[:place], *x.shape[place + 1 :]]
    if src.rank != len(rest):
        raise Illegal("select_scatter: another rank")
    for a, b in zip(src.shape, rest, strict=True):
        world.require(eq(a, b), "select_scatter: other sizes")
    dtype, source = dtypes_of_both(x, src)

    def element(entries: Sequence[Term]) -> Term:
        inside = [*entries[:place], *entries[place + 1 :]]
        written = converted(src.element(inside), source, dtype)
        return ite(eq(entries[place], at), written, x.element(entries))

    return TensorValue(x.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)
