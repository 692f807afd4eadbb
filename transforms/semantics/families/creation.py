"""Tensors made from nothing: uniform ones, ranges, the identity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import example_of, from_index, known_dtype, number_as
from xductor.transforms.semantics.terms import (
    Term,
    as_int,
    constant,
    eq,
    integer,
    ite,
    le,
    mul,
    quotient,
)
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World


def _uniform(
    world: World, size: Sequence[Any], value: Any, dtype: torch.dtype, device: Any
) -> TensorValue:
    sizes = list(map(integer, size))
    for one in sizes:
        world.require(le(0, one), "a negative size")
    number = number_as(value, dtype)
    return TensorValue(sizes, dtype, lambda index: number, device=_place(device))


def _place(device: Any) -> torch.device:
    return torch.device("cpu") if device is None else torch.device(device)


def _dtype_of_number(value: Any) -> torch.dtype:
    example = example_of(value)
    if isinstance(example, bool):
        return torch.bool
    return torch.int64 if isinstance(example, int) else torch.get_default_dtype()


@meaning("aten.full.default")
def full(
    world: World,
    size: Any,
    fill_value: Any,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> TensorValue:
    return _uniform(world, size, fill_value, dtype or _dtype_of_number(fill_value), device)


def _filled(number: int) -> Callable[..., TensorValue]:
    def function(
        world: World,
        size: Any,
        dtype: torch.dtype | None = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
    ) -> TensorValue:
        return _uniform(world, size, number, dtype or torch.get_default_dtype(), device)

    return function


meaning("aten.zeros.default")(_filled(0))
meaning("aten.ones.default")(_filled(1))


@meaning("aten.full_like.default")
def full_like(
    world: World,
    x: TensorValue,
    fill_value: Any,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> TensorValue:
    chosen = x.dtype if dtype is None else dtype
    return _uniform(world, x.shape, fill_value, known_dtype(chosen), device or x.device)


def _filled_like(number: int) -> Callable[..., TensorValue]:
    def function(world: World, x: TensorValue, *rest: Any) -> TensorValue:
        return full_like(world, x, number, *rest)

    return function


meaning("aten.zeros_like.default")(_filled_like(0))
meaning("aten.ones_like.default")(_filled_like(1))


@meaning("aten.new_full.default")
def new_full(
    world: World,
    x: TensorValue,
    size: Any,
    fill_value: Any,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> TensorValue:
    chosen = x.dtype if dtype is None else dtype
    return _uniform(world, size, fill_value, chosen, device or x.device)


@meaning("aten.new_zeros.default")
def new_zeros(world: World, x: TensorValue, size: Any, *rest: Any) -> TensorValue:
    return new_full(world, x, size, 0, *rest)


@meaning("aten.new_ones.default")
def new_ones(world: World, x: TensorValue, size: Any, *rest: Any) -> TensorValue:
    return new_full(world, x, size, 1, *rest)


@meaning("aten.fill.Scalar")
def fill(world: World, x: TensorValue, value: Any) -> TensorValue:
    return _uniform(world, x.shape, value, known_dtype(x.dtype), x.device)


@meaning("prims.iota.default")
def iota(
    world: World,
    length: Any,
    start: Any,
    step: Any,
    dtype: torch.dtype,
    device: Any,
    requires_grad: Any = False,
) -> TensorValue:
    begin, by, count = integer(start), integer(step), integer(length)
    world.require(le(0, count), "a negative length")
    if dtype.is_floating_point:
        raise NoMeaning("iota of floats")
    return TensorValue(
        [count],
        dtype,
        lambda index: from_index(begin + mul(index[0], by), dtype),
        device=_place(device),
    )


@meaning("aten.arange.start_step")
def arange_step(
    world: World,
    start: Any,
    end: Any,
    step: Any = 1,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> TensorValue:
    items = (start, end, step)
    if any(not isinstance(one, int | Term) or isinstance(one, bool) for one in items):
        raise NoMeaning("arange of what is no integer")
    begin, last, by = map(integer, items)
    if as_int(by) is None or (as_int(by) or 0) <= 0:
        raise NoMeaning("arange with a step that is not known to be positive")
    world.require(le(begin, last), "arange: the end before the start")
    count = last - begin if as_int(by) == 1 else quotient(last - begin + by - 1, by)
    chosen = dtype or torch.int64
    if chosen.is_floating_point:
        raise NoMeaning("arange of floats")
    return iota(world, world.size(count), begin, by, chosen, device)


@meaning("aten.arange.start")
def arange_start(world: World, start: Any, end: Any, *rest: Any) -> TensorValue:
    return arange_step(world, start, end, 1, *rest)


@meaning("aten.arange.default")
def arange(world: World, end: Any, *rest: Any) -> TensorValue:
    return arange_step(world, 0, end, 1, *rest)


@meaning("aten.eye.default")
def eye(
    world: World,
    n: Any,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> TensorValue:
    count, chosen = integer(n), known_dtype(dtype or torch.get_default_dtype())
    world.require(le(0, count), "a negative size")
    one, zero = constant(1, chosen), constant(0, chosen)
    return TensorValue(
        [count, count],
        chosen,
        lambda index: ite(eq(index[0], index[1]), one, zero),
        device=_place(device),
    )


def _triangle(upper: bool) -> Callable[..., TensorValue]:
    def function(world: World, x: TensorValue, diagonal: Any = 0) -> TensorValue:
        if x.rank < 2:
            raise Illegal("a triangle of rank below 2")
        by = integer(diagonal)
        zero = constant(0, known_dtype(x.dtype))

        def element(index: Sequence[Term]) -> Term:
            row, column = index[-2], index[-1]
            kept = le(row + by, column) if upper else le(column, row + by)
            return ite(kept, x.element(index), zero)

        return TensorValue(x.shape, x.dtype, element, device=x.device, on_dtype=x.on_dtype)

    return function


meaning("aten.triu.default")(_triangle(True))
meaning("aten.tril.default")(_triangle(False))
