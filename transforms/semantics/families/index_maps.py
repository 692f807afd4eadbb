"""Data movement: permute, expand, slice, select, flip, repeat, squeeze and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.terms import (
    Int,
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
    maximum,
    minimum,
    modulo,
    mul,
    negation,
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
    dims_of,
    known_equal,
)


@meaning(
    "aten.clone.default",
    "aten.contiguous.default",
    "aten.lift_fresh_copy.default",
)
def copied(world: World, x: TensorValue, memory_format: Any = None) -> TensorValue:
    return x.moved(x.shape, lambda index: index)


@meaning("prims.inductor_force_stride_order.default")
def laid_out(world: World, x: TensorValue, stride: Any) -> TensorValue:
    return x.moved(x.shape, lambda index: index)


@meaning(
    "aten.alias.default", "aten.detach.default", "aten.lift_fresh.default", "prims.view_of.default"
)
def aliased(world: World, x: TensorValue) -> TensorValue:
    return x.moved(x.shape, lambda index: index)


@meaning("aten.permute.default", "prims.transpose.default", "aten.permute_copy.default")
def permute(world: World, x: TensorValue, dims: Any) -> TensorValue:
    places = dims_of(dims, x.rank)
    if len(places) != x.rank:
        raise Illegal(f"permute of rank {x.rank} by {len(places)} dims")

    def source(index: Sequence[Term]) -> Index:
        found: list[Int] = [0] * x.rank
        for place, entry in zip(places, index, strict=True):
            found[place] = entry
        return found

    return x.moved([x.shape[place] for place in places], source)


@meaning("aten.transpose.int", "aten.transpose_copy.int")
def transpose(world: World, x: TensorValue, dim0: Any, dim1: Any) -> TensorValue:
    first, second = dim_of(dim0, x.rank), dim_of(dim1, x.rank)
    places = list(range(x.rank))
    if places:
        places[first], places[second] = places[second], places[first]
    return permute(world, x, places)


@meaning("aten.t.default", "aten.t_copy.default")
def t(world: World, x: TensorValue) -> TensorValue:
    if x.rank > 2:
        raise Illegal(f"t of rank {x.rank}")
    return permute(world, x, list(reversed(range(x.rank))))


@meaning("aten.numpy_T.default")
def numpy_t(world: World, x: TensorValue) -> TensorValue:
    return permute(world, x, list(reversed(range(x.rank))))


@meaning("aten.mT.default")
def matrix_t(world: World, x: TensorValue) -> TensorValue:
    if x.rank == 1:
        raise Illegal("mT of rank 1")
    return x if not x.rank else transpose(world, x, -2, -1)


@meaning("aten.movedim.int")
def movedim(world: World, x: TensorValue, source: Any, destination: Any) -> TensorValue:
    places = list(range(x.rank))
    if places:
        place = places.pop(dim_of(source, x.rank))
        places.insert(dim_of(destination, x.rank), place)
    return permute(world, x, places)


@meaning("aten.unsqueeze.default", "aten.unsqueeze_copy.default")
def unsqueeze(world: World, x: TensorValue, dim: Any) -> TensorValue:
    place = dim_of(dim, x.rank + 1)
    shape = [*x.shape[:place], number(1), *x.shape[place:]]
    return x.moved(shape, lambda index: [*index[:place], *index[place + 1 :]])


def _squeezed(world: World, x: TensorValue, dims: Sequence[int]) -> TensorValue:
    """Remove those of `dims` whose size is one; each choice of them is a case of its own."""
    gone: set[int] = set()
    for place in dims:
        if not x.rank:
            continue
        one = eq(x.shape[place], 1)
        if world.one_of([(one, True), (negation(one), False)], f"size {x.shape[place]} is 1"):
            gone.add(place)
    kept = [place for place in range(x.rank) if place not in gone]

    def source(index: Sequence[Term]) -> Index:
        found: list[Int] = [0] * x.rank
        for place, entry in zip(kept, index, strict=True):
            found[place] = entry
        return found

    return x.moved([x.shape[place] for place in kept], source)


@meaning("aten.squeeze.default")
def squeeze(world: World, x: TensorValue) -> TensorValue:
    return _squeezed(world, x, range(x.rank))


@meaning("aten.squeeze.dim", "aten.squeeze_copy.dim")
def squeeze_dim(world: World, x: TensorValue, dim: Any) -> TensorValue:
    return _squeezed(world, x, [dim_of(dim, x.rank)])


@meaning("aten.squeeze.dims", "prims.squeeze.default")
def squeeze_dims(world: World, x: TensorValue, dims: Any) -> TensorValue:
    return _squeezed(world, x, dims_of(dims, x.rank))


@meaning("aten.expand.default", "aten.expand_copy.default")
def expand(world: World, x: TensorValue, size: Any, implicit: bool = False) -> TensorValue:
    wanted = list(size)
    more = len(wanted) - x.rank
    if more < 0:
        raise Illegal(f"expand of rank {x.rank} to {len(wanted)} sizes")
    shape: list[Term] = [integer(one) for one in wanted[:more]]
    for one in shape:
        world.require(le(0, one), "a size of expand is negative")
    for old, new in zip(x.shape, map(integer, wanted[more:]), strict=True):
        kept = as_int(new) == -1 or known_equal(world, new, old)
        if kept:
            shape.append(old)
        else:
            keeps = eq(new, -1)
            world.require(either(eq(old, 1), eq(new, old), keeps), "expand of a size that is not 1")
            world.require(le(-1, new), "a size of expand is negative")
            shape.append(world.size(ite(keeps, old, new)))
    return x.moved(shape, lambda index: _broadcast_index(world, x.shape, shape, index))


def _broadcast_index(
    world: World, shape: Sequence[Term], wide: Sequence[Term], index: Sequence[Term]
) -> list[Term]:
    """The index of an operand's element for an index of the shape it is broadcast to."""
    more = len(wide) - len(shape)
    found: list[Term] = []
    for old, new, entry in zip(shape, wide[more:], index[more:], strict=True):
        if as_int(old) == 1:
            found.append(number(0))
        elif known_equal(world, old, new):
            found.append(entry)
        else:
            found.append(ite(eq(old, 1), number(0), entry))
    return found


def broadcast_to(world: World, x: TensorValue, shape: Sequence[Term]) -> TensorValue:
    """An operand broadcast to the shape of a pointwise op's result."""
    if len(shape) == x.rank and all(a is b for a, b in zip(x.shape, shape, strict=True)):
        return x
    return x.moved(shape, lambda index: _broadcast_index(world, x.shape, shape, index))


def broadcast_shape(world: World, shapes: Sequence[Sequence[Term]]) -> tuple[Term, ...]:
    """The sizes of a pointwise op's result."""
    rank = max(map(len, shapes), default=0)
    result: list[Term] = []
    for place in range(-rank, 0):
        size: Term = number(1)
        for shape in shapes:
            if len(shape) >= -place:
                size = _joint_size(world, size, shape[place])
        result.append(size)
    return tuple(result)


def _joint_size(world: World, a: Term, b: Term) -> Term:
    if as_int(a) == 1 or a is b:
        return b
    if as_int(b) == 1 or known_equal(world, a, b):
        return a
    if a.key > b.key:
        a, b = b, a
    world.require(either(eq(a, b), eq(a, 1), eq(b, 1)), f"sizes {a} and {b} do not broadcast")
    return world.size(ite(eq(a, 1), b, a))


@meaning("aten.expand_as.default")
def expand_as(world: World, x: TensorValue, other: TensorValue) -> TensorValue:
    return expand(world, x, other.shape)


@meaning("prims.broadcast_in_dim.default")
def broadcast_in_dim(world: World, x: TensorValue, shape: Any, dims: Any) -> TensorValue:
    places = [int(dim) for dim in dims]
    sizes = list(map(integer, shape))
    if len(places) != x.rank:
        raise Illegal("broadcast_in_dim: a dim for each dim of the operand")
    for old, place in zip(x.shape, places, strict=True):
        world.require(either(eq(old, 1), eq(old, sizes[place])), "broadcast_in_dim")
    return x.moved(
        sizes,
        lambda index: _broadcast_index(
            world, x.shape, [sizes[k] for k in places], [index[k] for k in places]
        ),
    )


@meaning("aten.select.int", "aten.select_copy.int")
def select(world: World, x: TensorValue, dim: Any, index: Any) -> TensorValue:
    if not x.rank:
        raise Illegal("select of rank 0")
    place = dim_of(dim, x.rank)
    size, chosen = x.shape[place], integer(index)
    world.require(both(le(mul(-1, size), chosen), lt(chosen, size)), "select out of range")
    at = ite(lt(chosen, 0), add(chosen, size), chosen)
    shape = [*x.shape[:place], *x.shape[place + 1 :]]
    return x.moved(shape, lambda entries: [*entries[:place], at, *entries[place:]])


def slice_bounds(world: World, size: Term, start: Any, end: Any) -> tuple[Term, Term]:
    """Start and end of a slice, both between 0 and the size, with the end not before the start."""
    first = clamped(size, number(0) if start is None else integer(start))
    if end is None or (as_int(end) or 0) >= 2**63 - 1:
        return first, size
    last = clamped(size, integer(end))
    return first, maximum(first, last)


def clamped(size: Term, place: Term) -> Term:
    """A bound of a slice, counted from the end if negative, and then clamped."""
    known = as_int(place)
    if known is not None and known >= 0:
        return minimum(place, size) if known else place
    from_end = maximum(add(place, size), number(0))
    if known is not None:
        return from_end
    return ite(lt(place, 0), from_end, minimum(place, size))


@meaning("aten.slice.Tensor", "aten.slice_copy.Tensor")
def slice_tensor(
    world: World, x: TensorValue, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1
) -> TensorValue:
    if not x.rank:
        raise Illegal("slice of rank 0")
    place = dim_of(dim, x.rank)
    size, by = x.shape[place], integer(step)
    world.require(lt(0, by), "the step of slice is not positive")
    first, last = slice_bounds(world, size, start, end)
    length = last - first if as_int(by) == 1 else quotient(last - first + by - 1, by)
    shape = [*x.shape[:place], world.size(length), *x.shape[place + 1 :]]

    def source(index: Sequence[Term]) -> Index:
        return [*index[:place], first + index[place] * by, *index[place + 1 :]]

    return x.moved(shape, source)


@meaning("aten.narrow.default", "aten.narrow_copy.default")
def narrow(world: World, x: TensorValue, dim: Any, start: Any, length: Any) -> TensorValue:
    if not x.rank:
        raise Illegal("narrow of rank 0")
    place = dim_of(dim, x.rank)
    size, first, count = x.shape[place], integer(start), integer(length)
    world.require(both(le(mul(-1, size), first), le(first, size)), "narrow: start out of range")
    at = ite(lt(first, 0), add(first, size), first)
    world.require(both(le(0, count), le(at + count, size)), "narrow: length out of range")
    shape = [*x.shape[:place], count, *x.shape[place + 1 :]]
    return x.moved(shape, lambda index: [*index[:place], at + index[place], *index[place + 1 :]])


@meaning("aten.flip.default")
def flip(world: World, x: TensorValue, dims: Any) -> TensorValue:
    turned = set(dims_of(dims, x.rank))

    def source(index: Sequence[Term]) -> Index:
        return [
            x.shape[place] - 1 - entry if place in turned else entry
            for place, entry in enumerate(index)
        ]

    return x.moved(x.shape, source)


@meaning("aten.roll.default")
def roll(world: World, x: TensorValue, shifts: Any, dims: Any = ()) -> TensorValue:
    if not dims:
        raise NoMeaning("roll of the flattened tensor")
    if len(shifts) != len(dims) or not x.rank:
        raise Illegal("roll: a shift for each dim")
    found = x
    for shift, dim in zip(shifts, dims, strict=True):
        found = _rolled(found, integer(shift), dim_of(dim, x.rank))
    return found


def _rolled(x: TensorValue, shift: Term, place: int) -> TensorValue:
    size = x.shape[place]

    def source(index: Sequence[Term]) -> Index:
        at = modulo(index[place] - shift, size)
        return [*index[:place], at, *index[place + 1 :]]

    return x.moved(x.shape, source)


@meaning("aten.repeat.default")
def repeat(world: World, x: TensorValue, repeats: Any) -> TensorValue:
    times = list(map(integer, repeats))
    more = len(times) - x.rank
    if more < 0:
        raise Illegal(f"repeat of rank {x.rank} by {len(times)} numbers")
    for one in times:
        world.require(le(0, one), "repeat by a negative number")
    shape = [one * size for one, size in zip(times, [number(1)] * more + [*x.shape], strict=True)]

    def source(index: Sequence[Term]) -> Index:
        return [
            entry if as_int(by) == 1 else modulo(entry, size)
            for entry, size, by in zip(index[more:], x.shape, times[more:], strict=True)
        ]

    return x.moved(shape, source)


@meaning("aten.diagonal.default")
def diagonal(
    world: World, x: TensorValue, offset: Any = 0, dim1: Any = 0, dim2: Any = 1
) -> TensorValue:
    first, second = dims_of([dim1, dim2], x.rank)
    by = integer(offset)
    down, right = maximum(mul(-1, by), number(0)), maximum(by, number(0))
    length = maximum(minimum(x.shape[first] - down, x.shape[second] - right), number(0))
    kept = [place for place in range(x.rank) if place not in (first, second)]

    def source(index: Sequence[Term]) -> Index:
        found: list[Int] = [0] * x.rank
        for place, entry in zip(kept, index[:-1], strict=True):
            found[place] = entry
        found[first], found[second] = index[-1] + down, index[-1] + right
        return found

    return x.moved([*[x.shape[place] for place in kept], world.size(length)], source)
