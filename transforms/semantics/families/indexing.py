"""Ops whose indices are elements: index, index_select, gather, embedding, scatters, index_put.

If an index is out of range the op raises, so nothing is claimed there; a world that has
`elements_within` is told which indices are read, so that it can restrict a target to those of the
source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.index_maps import broadcast_shape, broadcast_to
from xductor.transforms.semantics.kernels import by_kernel, summed_by
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import (
    converted,
    fn,
    from_index,
    known_dtype,
    number_as,
    wide,
)
from xductor.transforms.semantics.terms import (
    BOOL,
    Int,
    Term,
    as_int,
    both,
    call,
    cast,
    constant,
    eq,
    fold,
    integer,
    ite,
    le,
    lt,
    mul,
    value,
)
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World, dim_of

INDICES = (torch.int64, torch.int32)


def _indices(x: TensorValue, op: str, allowed: Sequence[torch.dtype] = INDICES) -> None:
    if x.dtype not in allowed:
        raise Illegal(f"{op} by {x.dtype}")


def _noted(world: World, index: TensorValue, low: Int, size: Int) -> None:
    """Tell the world that elements of `index` must be at least `low` and below `size`."""
    told = getattr(world, "elements_within", None)
    if told is not None:
        told(index, integer(low), integer(size))


def _counted(world: World, index: TensorValue, at: Sequence[Term], size: Term) -> Term:
    """An element as an index from the front, where negative ones count from the end."""
    place = value(index.element(at))
    return ite(lt(place, 0), place + size, place)


@meaning("aten.index_select.default")
def index_select(world: World, x: TensorValue, dim: Any, index: TensorValue) -> TensorValue:
    _indices(index, "index_select")
    if index.rank > 1:
        raise Illegal("index_select by an index of a higher rank")
    place = dim_of(dim, x.rank)
    count = index.shape[0] if index.rank else integer(1)
    if not x.rank:
        raise NoMeaning("index_select of rank 0")
    _noted(world, index, 0, x.shape[place])

    def source(at: Sequence[Term]) -> list[Term]:
        chosen = value(index.element([at[place]] if index.rank else []))
        return [*at[:place], chosen, *at[place + 1 :]]

    return x.moved([*x.shape[:place], count, *x.shape[place + 1 :]], source)


def _sizes_below(
    world: World, index: TensorValue, x: TensorValue, place: int, op: str, *, whole: bool = False
) -> None:
    if max(index.rank, 1) != max(x.rank, 1):
        raise Illegal(f"{op}: an index of rank {index.rank} into rank {x.rank}")
    for k, (a, b) in enumerate(zip(index.shape, x.shape, strict=False)):
        if k != place or whole:
            # An index without elements may have any size, which is left out here.
            world.require(le(a, b), f"{op}: the index is larger")


@meaning("aten.gather.default")
def gather(
    world: World, x: TensorValue, dim: Any, index: TensorValue, sparse_grad: Any = False
) -> TensorValue:
    _indices(index, "gather")
    place = dim_of(dim, x.rank)
    # A tensor of rank 0 counts as one of rank 1.
    if max(x.rank, 1) != max(index.rank, 1):
        raise Illegal(f"gather: an index of rank {index.rank} into rank {x.rank}")
    if x.rank == index.rank and not _is_empty(index):
        _sizes_below(world, index, x, place, "gather")
    _noted(world, index, 0, x.shape[place] if x.rank else 1)

    def source(at: Sequence[Term]) -> list[Term]:
        if not x.rank:
            return []
        return [*at[:place], value(index.element(at)), *at[place + 1 :]]

    return x.moved(index.shape, source)


def _is_empty(x: TensorValue) -> bool:
    return any(as_int(size) == 0 for size in x.shape)


@meaning("aten.embedding.default")
def embedding(
    world: World,
    weight: TensorValue,
    indices: TensorValue,
    padding_idx: Any = -1,
    scale_grad_by_freq: Any = False,
    sparse: Any = False,
) -> TensorValue:
    """The padding index matters only to the derivative."""
    _indices(indices, "embedding")
    if weight.rank != 2:
        raise Illegal("embedding of a weight that is no matrix")
    _noted(world, indices, 0, weight.shape[0])
    return weight.moved(
        [*indices.shape, weight.shape[1]],
        lambda at: [value(indices.element(at[:-1])), at[-1]],
    )


@meaning("aten.take.default")
def take(world: World, x: TensorValue, index: TensorValue) -> TensorValue:
    from xductor.transforms.semantics.families.views import flatten

    _indices(index, "take", (torch.int64,))
    flat = flatten(world, x)
    size = flat.shape[0]
    _noted(world, index, mul(-1, size), size)
    return flat.moved(index.shape, lambda at: [_counted(world, index, at, size)])


@meaning("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index_tensors(world: World, x: TensorValue, indices: Any) -> TensorValue:
    """Integer indices. Their dims replace those indexed if these are adjacent, else go in front."""
    given = [*indices, *[None] * (x.rank - len(indices))]
    if len(given) > x.rank:
        raise Illegal("more indices than dims")
    places = [k for k, one in enumerate(given) if one is not None]
    if not places:
        raise NoMeaning("an index without a tensor")
    for k in places:
        if given[k].dtype in (torch.bool, torch.uint8):
            raise NoMeaning("an index by truth values, whose result has a size of its own")
        _indices(given[k], "index")
        _noted(world, given[k], mul(-1, x.shape[k]), x.shape[k])
    shape = broadcast_shape(world, [given[k].shape for k in places])
    wide_indices = {k: broadcast_to(world, given[k], shape) for k in places}
    together = places == list(range(places[0], places[-1] + 1))
    front = places[0] if together else 0
    kept = [k for k in range(x.rank) if k not in places]
    sizes = [x.shape[k] for k in kept]

    def source(at: Sequence[Term]) -> list[Term]:
        chosen = at[front : front + len(shape)]
        rest = dict(zip(kept, [*at[:front], *at[front + len(shape) :]], strict=True))
        return [
            _counted(world, wide_indices[k], chosen, x.shape[k]) if k in wide_indices else rest[k]
            for k in range(x.rank)
        ]

    return x.moved([*sizes[:front], *shape, *sizes[front:]], source)


# Scatters: with a single value, the order does not matter.


def _with_dim(x: TensorValue) -> TensorValue:
    """A tensor of rank 0 as one of rank 1, as scatters treat it."""
    return x if x.rank else x.moved([1], lambda _: [])


def _scattered(
    world: World, x: TensorValue, dim: Any, index: TensorValue, op: str
) -> tuple[int, Callable[[Sequence[Term]], Callable[[Term], Term]]]:
    """The dim, and a test of whether the index at a place in that dim points to an element."""
    _indices(index, op)
    if x.device != index.device:
        raise Illegal(f"{op} by an index on another device")
    place = dim_of(dim, x.rank)
    if not x.rank or x.rank != index.rank:
        if max(x.rank, 1) == max(index.rank, 1):
            raise NoMeaning(f"{op} of rank 0")
        raise Illegal(f"{op}: an index of rank {index.rank} into rank {x.rank}")
    if not _is_empty(index):
        _sizes_below(world, index, x, place, op)
    _noted(world, index, 0, x.shape[place])

    def hits(at: Sequence[Term]) -> Callable[[Term], Term]:
        inside = [lt(at[k], index.shape[k]) for k in range(x.rank) if k != place]

        def hit(k: Term) -> Term:
            there = value(index.element([*at[:place], k, *at[place + 1 :]]))
            return both(*inside, eq(there, at[place]))

        return hit

    return place, hits


@meaning("aten.scatter.value")
def scatter_value(
    world: World, x: TensorValue, dim: Any, index: TensorValue, value: Any
) -> TensorValue:
    dtype = known_dtype(x.dtype)
    rows = _with_dim(index)
    place, hits = _scattered(world, _with_dim(x), dim, rows, "scatter")
    written = number_as(value, dtype)

    def element(at: Sequence[Term]) -> Term:
        hit = hits(at if x.rank else [integer(0)])
        found = fold("any", [rows.shape[place]], lambda inner: hit(inner[0]), BOOL)
        return ite(found, written, x.element(at))

    return TensorValue(x.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


@meaning("aten.scatter_add.default")
def scatter_add(
    world: World, x: TensorValue, dim: Any, index: TensorValue, src: TensorValue
) -> TensorValue:
    dtype = known_dtype(x.dtype)
    if src.dtype is not dtype:
        raise Illegal("scatter_add of another dtype")
    if dtype is torch.bool:
        raise NoMeaning("scatter_add of truth values")
    place, hits = _scattered(world, x, dim, index, "scatter_add")
    if not _is_empty(index):
        _sizes_below(world, index, src, place, "scatter_add", whole=True)
    wider = wide(dtype)

    def element(at: Sequence[Term]) -> Term:
        hit = hits(at)

        def body(inner: tuple[Term, ...]) -> Term:
            added = src.element([*at[:place], inner[0], *at[place + 1 :]])
            return ite(hit(inner[0]), cast(added, wider), constant(0, wider))

        total = fold("sum", [index.shape[place]], body, wider)
        found = fn("add", cast(x.element(at), wider), total)
        return cast(by_kernel("scatter_add", found), dtype)

    return TensorValue(x.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


@meaning("aten.index_put.default", "aten._unsafe_index_put.default")
def index_put(
    world: World, x: TensorValue, indices: Any, values: TensorValue, accumulate: Any = False
) -> TensorValue:
    """By one index of rank 0 or 1. If two of its elements are equal, either one of the values is
    written, or all are added in an order that is up to the kernel."""
    place, index = _only_index(x, indices)
    dtype, size = known_dtype(x.dtype), x.shape[place]
    if values.dtype is not dtype:
        raise Illegal("index_put of another dtype")
    if accumulate and dtype is torch.bool:
        raise NoMeaning("index_put that adds truth values")
    _noted(world, index, mul(-1, size), size)
    count = index.shape[0] if index.rank else integer(1)
    written = [*x.shape[:place], *index.shape, *x.shape[place + 1 :]]
    for a, b in zip(broadcast_shape(world, [written, values.shape]), written, strict=False):
        world.require(eq(a, b), "index_put: the values are larger than what they are written to")
    if values.rank > len(written):
        raise Illegal("index_put of values of a higher rank")
    wide_values = broadcast_to(world, values, written)

    def value_at(at: Sequence[Term], k: Term) -> Term:
        inner = [k] if index.rank else []
        return wide_values.element([*at[:place], *inner, *at[place + 1 :]])

    def element(at: Sequence[Term]) -> Term:
        def hit(k: Term) -> Term:
            return eq(_counted(world, index, [k] if index.rank else [], size), at[place])

        found = fold("any", [count], lambda inner: hit(inner[0]), BOOL)
        if not accumulate:
            return ite(found, value_at(at, _last(count, hit)), x.element(at))
        wider = wide(dtype)

        def body(inner: tuple[Term, ...]) -> Term:
            added = cast(value_at(at, inner[0]), wider)
            return ite(hit(inner[0]), added, constant(0, wider))

        total = fn("add", cast(x.element(at), wider), fold("sum", [count], body, wider))
        return ite(found, cast(summed_by("index_put", total), dtype), x.element(at))

    return TensorValue(x.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


def _only_index(x: TensorValue, indices: Any) -> tuple[int, TensorValue]:
    """The dim that is indexed, and its index. Raises NoMeaning for more than one, or a mask."""
    given = list(indices)
    if len(given) > x.rank:
        raise Illegal("more indices than dims")
    places = [k for k, one in enumerate(given) if one is not None]
    if len(places) != 1:
        raise NoMeaning(f"index_put by {len(places)} indices")
    index = given[places[0]]
    if index.dtype in (torch.bool, torch.uint8):
        raise NoMeaning("index_put by truth values")
    _indices(index, "index_put")
    if index.rank > 1:
        raise NoMeaning("index_put by an index of a higher rank")
    return places[0], index


def _last(count: Term, hit: Callable[[Term], Term]) -> Term:
    """The place from which an element is written last; any place if it is not written."""

    def body(inner: tuple[Term, ...]) -> Term:
        return ite(hit(inner[0]), from_index(inner[0], torch.int64), constant(-1, torch.int64))

    return value(call("u.written_last", (fold("max", [count], body, torch.int64),), torch.int64))


@meaning("aten.index_fill.int_Scalar")
def index_fill(
    world: World, x: TensorValue, dim: Any, index: TensorValue, value: Any
) -> TensorValue:
    _indices(index, "index_fill", (torch.int64,))
    if index.rank > 1:
        raise Illegal("index_fill by an index of a higher rank")
    place, dtype = dim_of(dim, x.rank), known_dtype(x.dtype)
    if not x.rank:
        raise NoMeaning("index_fill of rank 0")
    size = x.shape[place]
    _noted(world, index, mul(-1, size), size)
    count = index.shape[0] if index.rank else integer(1)
    written = number_as(value, dtype)

    def element(at: Sequence[Term]) -> Term:
        def hit(inner: tuple[Term, ...]) -> Term:
            return eq(_counted(world, index, inner if index.rank else (), size), at[place])

        return ite(fold("any", [count], hit, BOOL), written, x.element(at))

    return TensorValue(x.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


@meaning("aten.one_hot.default")
def one_hot(world: World, x: TensorValue, num_classes: Any = -1) -> TensorValue:
    _indices(x, "one_hot", (torch.int64,))
    if as_int(num_classes) == -1:
        raise NoMeaning("one_hot with a number of classes that the elements give")
    classes = integer(num_classes)
    world.require(lt(0, classes), "one_hot of no classes")
    _noted(world, x, 0, classes)
    one, zero = constant(1, torch.int64), constant(0, torch.int64)

    def element(at: Sequence[Term]) -> Term:
        return ite(eq(value(x.element(at[:-1])), at[-1]), one, zero)

    return TensorValue([*x.shape, classes], torch.int64, element, device=x.device)


# Masks.


@meaning("aten.masked_fill.Tensor")
def masked_fill_tensor(
    world: World, x: TensorValue, mask: TensorValue, value: TensorValue
) -> TensorValue:
    if value.rank:
        raise Illegal("masked_fill with a value that is no single number")
    if mask.dtype is not torch.bool:
        raise Illegal("masked_fill: the mask is no bool")
    dtype = known_dtype(x.dtype)
    shape = broadcast_shape(world, [x.shape, mask.shape])
    wide_x, wide_mask = broadcast_to(world, x, shape), broadcast_to(world, mask, shape)
    own = value.dtype

    def element(at: Sequence[Term]) -> Term:
        written = converted(value.element([]), own, dtype)
        return ite(wide_mask.element(at), written, wide_x.element(at))

    return TensorValue(shape, dtype, element, device=x.device, on_dtype=x.on_dtype)
