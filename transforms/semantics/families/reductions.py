"""Reductions: folds over some dims, in no order that a proof could rely on.

Sums and products of integers are int64; those of narrow floats are rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.families.elementwise import float_of
from xductor.transforms.semantics.kernels import by_kernel, summed_by
from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import (
    converted,
    fn,
    known_dtype,
    nonzero,
    number_as,
    wide,
)
from xductor.transforms.semantics.terms import (
    BOOL,
    FALSE,
    Sort,
    Term,
    call,
    cast,
    constant,
    eq,
    fold,
    ite,
    lt,
    mul,
    number,
    sort_of,
)
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World, dims_of

Elements = Callable[[Term], Term]


class Rows:
    """The elements of a tensor that are reduced to one.

    - `places`: the reduced dims in ascending order; `shape`: that of the result.
    """

    def __init__(self, x: TensorValue, places: Sequence[int], keepdim: bool) -> None:
        self.x = x
        self.places = sorted(places)
        self.keepdim = bool(keepdim)
        self.kept = [k for k in range(x.rank) if k not in self.places]
        self.extents = [x.shape[k] for k in self.places]

    @property
    def shape(self) -> list[Term]:
        x = self.x
        if self.keepdim:
            return [number(1) if k in self.places else x.shape[k] for k in range(x.rank)]
        return [x.shape[k] for k in self.kept]

    @property
    def count(self) -> Term:
        """How many elements are reduced to one."""
        return mul(*self.extents) if self.extents else number(1)

    def at(self, index: Sequence[Term], inner: Sequence[Term]) -> Term:
        """The element at an index of the result and an index of the reduced dims."""
        full: dict[int, Term] = dict(zip(self.places, inner, strict=True))
        for place, k in enumerate(self.kept):
            full[k] = index[k if self.keepdim else place]
        return self.x.element([full[k] for k in range(self.x.rank)])

    def fold(self, name: str, index: Sequence[Term], body: Elements, sort: Sort) -> Term:
        """A fold over `body` of the elements that are reduced to the one at an index."""
        return fold(name, self.extents, lambda inner: body(self.at(index, inner)), sort)


def reduced_dims(dims: Any, rank: int, *, empty_is_all: bool = True) -> list[int]:
    """The dims of a reduction; None means all of them, and so does an empty list by default."""
    if dims is None or (empty_is_all and isinstance(dims, list | tuple) and not dims):
        return list(range(rank))
    return [place for place in dims_of(dims, rank) if place < rank]


def _result(
    rows: Rows, dtype: torch.dtype, element: Callable[[Sequence[Term]], Term]
) -> TensorValue:
    x = rows.x
    return TensorValue(rows.shape, dtype, element, device=x.device, on_dtype=x.on_dtype)


def _total_dtype(x: TensorValue, dtype: torch.dtype | None) -> torch.dtype:
    """Sums and products of integers and truth values are int64 unless a dtype is given."""
    if dtype is not None:
        return known_dtype(dtype)
    found = known_dtype(x.dtype)
    return found if found.is_floating_point else torch.int64


def _cast_to(source: torch.dtype, dtype: torch.dtype) -> Elements:
    """Convert elements to the dtype of the result, as wide as the kernel accumulates them."""
    return lambda item: cast(converted(item, source, dtype), wide(dtype))


_OF_TRUTHS = {"sum": "any", "prod": "all"}


def _total(name: str, rows: Rows, dtype: torch.dtype | None) -> TensorValue:
    x = rows.x
    chosen = _total_dtype(x, dtype)
    body = _cast_to(x.dtype, chosen)
    if chosen is torch.bool:
        return _result(rows, chosen, lambda index: rows.fold(_OF_TRUTHS[name], index, body, BOOL))
    wider = wide(chosen)
    return _result(rows, chosen, lambda index: cast(rows.fold(name, index, body, wider), chosen))


@meaning("aten.sum.dim_IntList")
def sum_dims(
    world: World, x: TensorValue, dim: Any, keepdim: Any = False, dtype: Any = None
) -> TensorValue:
    return _total("sum", Rows(x, reduced_dims(dim, x.rank), keepdim), dtype)


@meaning("aten.sum.default")
def sum_all(world: World, x: TensorValue, dtype: Any = None) -> TensorValue:
    return sum_dims(world, x, None, False, dtype)


@meaning("aten.prod.dim_int")
def prod_dim(
    world: World, x: TensorValue, dim: Any, keepdim: Any = False, dtype: Any = None
) -> TensorValue:
    return _total("prod", Rows(x, reduced_dims(dim, x.rank), keepdim), dtype)


@meaning("aten.prod.default")
def prod_all(world: World, x: TensorValue, dtype: Any = None) -> TensorValue:
    return _total("prod", Rows(x, reduced_dims(None, x.rank), False), dtype)


def _prims_dims(x: TensorValue, dims: Any) -> list[int]:
    """Dims as prims take them, counted from the front."""
    if dims is None:
        raise Illegal("a reduction without a list of dims")
    if any(isinstance(dim, int) and dim < 0 for dim in dims):
        raise Illegal("a dim from the end")
    return reduced_dims(dims, x.rank)


@meaning("prims.sum.default")
def prims_sum(world: World, x: TensorValue, dims: Any, output_dtype: Any = None) -> TensorValue:
    if output_dtype is not None:
        raise NoMeaning("prims.sum with a dtype")
    return _total("sum", Rows(x, _prims_dims(x, dims), False), None)


@meaning("prims.prod.default")
def prims_prod(world: World, x: TensorValue, dims: Any, output_dtype: Any = None) -> TensorValue:
    if output_dtype is not None:
        raise NoMeaning("prims.prod with a dtype")
    if not dims:
        raise NoMeaning("prims.prod over no dim")
    return _total("prod", Rows(x, _prims_dims(x, dims), False), None)


# Means.


def count_as(count: Term, dtype: torch.dtype) -> Term:
    """A number of elements as a number of a dtype."""
    return number_as(count, dtype)


def mean_of(rows: Rows, index: Sequence[Term], body: Elements, wider: torch.dtype) -> Term:
    """The sum of some elements divided by their number, before rounding to a narrow dtype."""
    total = rows.fold("sum", index, body, wider)
    return fn("div", total, count_as(rows.count, wider))


@meaning("aten.mean.dim")
def mean_dims(
    world: World, x: TensorValue, dim: Any, keepdim: Any = False, dtype: Any = None
) -> TensorValue:
    chosen = known_dtype(x.dtype if dtype is None else dtype)
    if not chosen.is_floating_point:
        raise Illegal("a mean of what is no float")
    rows = Rows(x, reduced_dims(dim, x.rank), keepdim)
    body, wider = _cast_to(x.dtype, chosen), wide(chosen)

    def element(index: Sequence[Term]) -> Term:
        return cast(by_kernel("mean", mean_of(rows, index, body, wider)), chosen)

    return _result(rows, chosen, element)


@meaning("aten.mean.default")
def mean_all(world: World, x: TensorValue, dtype: Any = None) -> TensorValue:
    return mean_dims(world, x, None, False, dtype)


# Extremes, which need at least one element.


_EXTREME_OF_TRUTHS = {"max": "any", "min": "all"}


def _extreme(world: World, name: str, rows: Rows) -> TensorValue:
    dtype = known_dtype(rows.x.dtype)
    for size in rows.extents:
        world.require(lt(0, size), f"{name} of no elements")
    chosen = _EXTREME_OF_TRUTHS[name] if dtype is torch.bool else name
    return _result(
        rows, dtype, lambda index: rows.fold(chosen, index, lambda item: item, sort_of(dtype))
    )


def _chosen_place(world: World, name: str, rows: Rows) -> TensorValue:
    """The place of the extreme: the first one, or one of a NaN; opaque to proofs."""
    for size in rows.extents:
        world.require(lt(0, size), f"{name} of no elements")
    x = rows.x

    def body(item: Term) -> Term:
        return cast(item, torch.uint8) if item.sort == BOOL else item

    known_dtype(x.dtype)
    return TensorValue(
        rows.shape,
        torch.int64,
        lambda index: rows.fold(name, index, body, torch.int64),
        device=x.device,
        on_dtype=x.on_dtype,
    )


def _amax(name: str) -> Callable[..., TensorValue]:
    def function(world: World, x: TensorValue, dim: Any = (), keepdim: Any = False) -> TensorValue:
        return _extreme(world, name, Rows(x, reduced_dims(dim, x.rank), keepdim))

    return function


def _prims_amax(name: str) -> Callable[..., TensorValue]:
    def function(world: World, x: TensorValue, dims: Any, output_dtype: Any = None) -> TensorValue:
        if output_dtype is not None:
            raise NoMeaning("an extreme with a dtype")
        return _extreme(world, name, Rows(x, _prims_dims(x, dims), False))

    return function


def _max_all(name: str) -> Callable[..., TensorValue]:
    def function(world: World, x: TensorValue) -> TensorValue:
        return _extreme(world, name, Rows(x, reduced_dims(None, x.rank), False))

    return function


def _max_dim(name: str) -> Callable[..., list[TensorValue]]:
    def function(world: World, x: TensorValue, dim: Any, keepdim: Any = False) -> list[TensorValue]:
        rows = Rows(x, reduced_dims([dim], x.rank), keepdim)
        return [_extreme(world, name, rows), _chosen_place(world, f"arg{name}", rows)]

    return function


def _argmax(name: str) -> Callable[..., TensorValue]:
    def function(
        world: World, x: TensorValue, dim: Any = None, keepdim: Any = False
    ) -> TensorValue:
        if x.dtype is torch.bool:
            raise Illegal(f"{name} of truth values")
        dims = reduced_dims(None if dim is None else [dim], x.rank)
        return _chosen_place(world, name, Rows(x, dims, keepdim))

    return function


for _name in ("max", "min"):
    meaning(f"aten.a{_name}.default")(_amax(_name))
    meaning(f"prims.a{_name}.default")(_prims_amax(_name))
    meaning(f"aten.{_name}.default")(_max_all(_name))
    meaning(f"aten.{_name}.dim")(_max_dim(_name))
    meaning(f"aten.arg{_name}.default")(_argmax(f"arg{_name}"))


@meaning("aten.aminmax.default")
def aminmax(
    world: World, x: TensorValue, dim: Any = None, keepdim: Any = False
) -> list[TensorValue]:
    rows = Rows(x, reduced_dims(None if dim is None else [dim], x.rank), keepdim)
    return [_extreme(world, "min", rows), _extreme(world, "max", rows)]


# Truth.


def _truth(name: str, rows: Rows) -> TensorValue:
    """Whether any or all elements are not zero; a uint8 for elements of uint8."""
    dtype = known_dtype(rows.x.dtype)
    out = torch.uint8 if dtype is torch.uint8 else torch.bool
    if not rows.places:
        return _result(rows, out, lambda index: cast(nonzero(rows.at(index, ())), out))
    return _result(rows, out, lambda index: cast(rows.fold(name, index, nonzero, BOOL), out))


def _truth_dims(name: str) -> Callable[..., TensorValue]:
    def function(
        world: World, x: TensorValue, dim: Any = None, keepdim: Any = False
    ) -> TensorValue:
        places = reduced_dims(dim, x.rank, empty_is_all=False)
        return _truth(name, Rows(x, places, keepdim))

    return function


for _name in ("any", "all"):
    meaning(f"aten.{_name}.default", f"aten.{_name}.dim", f"aten.{_name}.dims")(_truth_dims(_name))


@meaning("aten.count_nonzero.dim_IntList")
def count_nonzero(world: World, x: TensorValue, dim: Any) -> TensorValue:
    known_dtype(x.dtype)
    rows = Rows(x, reduced_dims(dim, x.rank), False)

    def body(item: Term) -> Term:
        return cast(nonzero(item), torch.int64)

    return _result(rows, torch.int64, lambda index: rows.fold("sum", index, body, torch.int64))


@meaning("aten.count_nonzero.default")
def count_nonzero_dim(world: World, x: TensorValue, dim: Any = None) -> TensorValue:
    return count_nonzero(world, x, None if dim is None else [dim])


# Running totals.


def _running(name: str) -> Callable[..., TensorValue]:
    def function(world: World, x: TensorValue, dim: Any, dtype: Any = None) -> TensorValue:
        places = reduced_dims([dim], x.rank)
        chosen = _total_dtype(x, dtype)
        if chosen is torch.bool:
            raise Illegal(f"cum{name} of truth values")
        body, wider = _cast_to(x.dtype, chosen), wide(chosen)

        def element(index: Sequence[Term]) -> Term:
            if not places:
                return cast(body(x.element(index)), chosen)
            place = places[0]

            def upto(inner: tuple[Term, ...]) -> Term:
                return body(x.element([*index[:place], inner[0], *index[place + 1 :]]))

            found = fold(name, [index[place] + 1], upto, wider)
            return cast(summed_by(f"cum{name}", found), chosen)

        return TensorValue(x.shape, chosen, element, device=x.device, on_dtype=x.on_dtype)

    return function


meaning("aten.cumsum.default")(_running("sum"))
meaning("aten.cumprod.default")(_running("prod"))


# Variances: kernels of their own.


def variance_of(rows: Rows, index: Sequence[Term], correction: float, wider: torch.dtype) -> Term:
    """The sum of squared distances from the mean, over the number of elements less `correction`."""

    def body(item: Term) -> Term:
        return cast(item, wider)

    mean = mean_of(rows, index, body, wider)

    def square(item: Term) -> Term:
        apart = fn("sub", cast(item, wider), mean)
        return fn("mul", apart, apart)

    total = rows.fold("sum", index, square, wider)
    free = fn("sub", count_as(rows.count, wider), constant(correction, wider))
    return fn("div", total, fn("max", free, constant(0, wider)))


def _spread(x: TensorValue, dim: Any, correction: Any, keepdim: Any, root: bool) -> TensorValue:
    dtype = known_dtype(x.dtype)
    if not dtype.is_floating_point:
        raise Illegal("a variance of what is no float")
    by = 1 if correction is None else correction
    if not isinstance(by, bool | int | float):
        raise NoMeaning("a correction that may be any number")
    rows, wider = Rows(x, reduced_dims(dim, x.rank), keepdim), wide(dtype)

    def element(index: Sequence[Term]) -> Term:
        found = variance_of(rows, index, float(by), wider)
        if root:
            return cast(by_kernel("deviation", call("u.sqrt", (found,), wider)), dtype)
        return cast(by_kernel("variance", found), dtype)

    return _result(rows, dtype, element)


def _mean_beside(x: TensorValue, dim: Any, keepdim: Any) -> TensorValue:
    """The mean that a variance kernel also returns, which is NaN if an element is infinite."""
    dtype = known_dtype(x.dtype)
    rows, wider = Rows(x, reduced_dims(dim, x.rank), keepdim), wide(dtype)
    body = _cast_to(dtype, dtype)

    def element(index: Sequence[Term]) -> Term:
        return cast(by_kernel("mean_of_row", mean_of(rows, index, body, wider)), dtype)

    return _result(rows, dtype, element)


def _spread_family(name: str, root: bool) -> None:
    def by_correction(
        world: World, x: TensorValue, dim: Any = None, correction: Any = None, keepdim: Any = False
    ) -> TensorValue:
        return _spread(x, dim, correction, keepdim, root)

    def by_dim(
        world: World, x: TensorValue, dim: Any, unbiased: Any = True, keepdim: Any = False
    ) -> TensorValue:
        return _spread(x, dim, int(unbiased), keepdim, root)

    def of_all(world: World, x: TensorValue, unbiased: Any = True) -> TensorValue:
        return _spread(x, None, int(unbiased), False, root)

    def with_mean(
        world: World, x: TensorValue, dim: Any = None, correction: Any = None, keepdim: Any = False
    ) -> list[TensorValue]:
        return [_spread(x, dim, correction, keepdim, root), _mean_beside(x, dim, keepdim)]

    def with_mean_dim(
        world: World, x: TensorValue, dim: Any, unbiased: Any = True, keepdim: Any = False
    ) -> list[TensorValue]:
        return with_mean(world, x, dim, int(unbiased), keepdim)

    def with_mean_all(world: World, x: TensorValue, unbiased: Any = True) -> list[TensorValue]:
        return with_mean(world, x, None, int(unbiased), False)

    meaning(f"aten.{name}.correction")(by_correction)
    meaning(f"aten.{name}.dim")(by_dim)
    meaning(f"aten.{name}.default")(of_all)
    meaning(f"aten.{name}_mean.correction")(with_mean)
    meaning(f"aten.{name}_mean.dim")(with_mean_dim)
    meaning(f"aten.{name}_mean.default")(with_mean_all)


_spread_family("var", root=False)
_spread_family("std", root=True)


@meaning("prims.var.default")
def prims_var(
    world: World, x: TensorValue, dims: Any, correction: Any = 1, output_dtype: Any = None
) -> TensorValue:
    if output_dtype is not None:
        raise NoMeaning("prims.var with a dtype")
    return _spread(x, _prims_dims(x, dims), correction, False, False)


# log(sum(exp)).


@meaning("aten.logsumexp.default")
def logsumexp(world: World, x: TensorValue, dim: Any, keepdim: Any = False) -> TensorValue:
    if isinstance(dim, list | tuple) and not dim and x.rank:
        raise Illegal("logsumexp over no dim")
    dtype = float_of(known_dtype(x.dtype))
    rows, wider = Rows(x, reduced_dims(dim, x.rank), keepdim), wide(dtype)
    body = _cast_to(x.dtype, dtype)
    none = eq(rows.count, 0)

    def element(index: Sequence[Term]) -> Term:
        if none is FALSE:
            return cast(by_kernel("logsumexp", log_of_sum(rows, index, body, wider)), dtype)
        least = constant(float("-inf"), wider)
        found = by_kernel("logsumexp", log_of_sum(rows, index, body, wider))
        return cast(ite(none, least, found), dtype)

    return _result(rows, dtype, element)


def log_of_sum(rows: Rows, index: Sequence[Term], body: Elements, wider: torch.dtype) -> Term:
    """The log of the sum of exponentials, shifted by the largest element if that is finite."""
    largest = rows.fold("max", index, body, wider)
    infinite = call("eq", (fn("abs", largest), constant(float("inf"), wider)), BOOL)
    by = ite(infinite, constant(0, wider), largest)

    def shifted(item: Term) -> Term:
        return call("u.exp", (fn("sub", body(item), by),), wider)

    total = rows.fold("sum", index, shifted, wider)
    return fn("add", call("u.log", (total,), wider), by)
