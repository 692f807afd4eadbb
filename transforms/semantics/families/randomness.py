"""Random numbers: uninterpreted functions of the generator's state, which each draw advances.

A draw is identified by what was drawn before it: which functions, how many numbers, and of which
dtype. So two draws are equal only at the same place of the same sequence, and a rewrite that drops,
adds or swaps draws does not count as equal. The position of an element in its draw is its place in
row-major order, whatever the shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.registry import meaning
from xductor.transforms.semantics.scalars import fn, from_index, known_dtype, number_as, wide
from xductor.transforms.semantics.terms import (
    BOOL,
    Term,
    as_int,
    call,
    cast,
    constant,
    integer,
    le,
    linear,
    lt,
    mul,
    number,
)
from xductor.transforms.semantics.uninterpreted import DRAWN
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue, World


def _drawn(
    world: World,
    name: str,
    sizes: Sequence[Any],
    dtype: torch.dtype,
    device: torch.device,
    numbers: Sequence[Any] = (),
) -> TensorValue:
    """A tensor of the next numbers of the generator."""
    move: Callable[[Callable[[Term], Term]], Term] | None = getattr(world, "draw", None)
    if move is None:
        raise NoMeaning("a random op in a world without a generator")
    if dtype not in DRAWN:
        raise NoMeaning(f"random numbers of {dtype}")
    shape = list(map(integer, sizes))
    for size in shape:
        world.require(le(0, size), "a negative size")
    count = from_index(mul(*shape) if shape else number(1), torch.int64)
    kind = constant(DRAWN.index(dtype), torch.int64)
    given = [number_as(one, torch.float64) for one in numbers]
    state = move(lambda before: call(f"u.after.{name}", (before, count, kind, *given), torch.int64))

    def element(index: Sequence[Term]) -> Term:
        place = from_index(linear(index, shape) if shape else number(0), torch.int64)
        sort = BOOL if dtype is torch.bool else dtype
        return call(f"u.{name}", (state, count, kind, place, *given), sort)

    return TensorValue(shape, dtype, element, device=device)


def _floats(dtype: Any) -> torch.dtype:
    chosen = known_dtype(torch.get_default_dtype() if dtype is None else dtype)
    if not chosen.is_floating_point:
        raise Illegal("random floats of a dtype that is none")
    return chosen


def _place(device: Any) -> torch.device:
    return torch.device("cpu") if device is None else torch.device(device)


def _of_size(name: str) -> Callable[..., TensorValue]:
    def function(
        world: World,
        size: Any,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
    ) -> TensorValue:
        return _drawn(world, name, size, _floats(dtype), _place(device))

    return function


def _like(name: str) -> Callable[..., TensorValue]:
    def function(
        world: World,
        x: TensorValue,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        memory_format: Any = None,
    ) -> TensorValue:
        chosen = _floats(x.dtype if dtype is None else dtype)
        return _drawn(world, name, x.shape, chosen, device or x.device)

    return function


for _name in ("rand", "randn"):
    meaning(f"aten.{_name}.default")(_of_size(_name))
    meaning(f"aten.{_name}_like.default")(_like(_name))


@meaning("aten.randint.low")
def randint_low(
    world: World,
    low: Any,
    high: Any,
    size: Any,
    dtype: Any = torch.int64,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> TensorValue:
    world.require(lt(integer(low), integer(high)), "randint: the end is not above the start")
    # The schema's default is the number of int64.
    chosen = dtype if isinstance(dtype, torch.dtype) else torch.int64
    return _drawn(world, "randint", size, chosen, _place(device), (low, high))


@meaning("aten.randint.default")
def randint(world: World, high: Any, size: Any, *rest: Any) -> TensorValue:
    return randint_low(world, 0, high, size, *rest)


@meaning("aten.randperm.default")
def randperm(
    world: World,
    n: Any,
    dtype: Any = torch.int64,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> TensorValue:
    """The numbers below `n`, each once, in an unknown order."""
    chosen = dtype if isinstance(dtype, torch.dtype) else torch.int64
    return _drawn(world, "randperm", [n], chosen, _place(device))


@meaning("aten.bernoulli.p")
def bernoulli(world: World, x: TensorValue, p: Any, generator: Any = None) -> TensorValue:
    if generator is not None:
        raise NoMeaning("a generator of its own")
    return _kept(world, x, _probability(p), known_dtype(x.dtype))


def _kept(world: World, x: TensorValue, p: float, dtype: torch.dtype) -> TensorValue:
    """One with probability `p`, else zero."""
    return _drawn(world, "bernoulli", x.shape, dtype, x.device, (p,))


def _probability(p: Any) -> float:
    if not isinstance(p, int | float):
        raise NoMeaning("a probability that may be any")
    if not 0 <= p <= 1:
        raise Illegal("a probability that is none")
    return float(p)


def _floats_of(x: TensorValue) -> torch.dtype:
    dtype = known_dtype(x.dtype)
    if not dtype.is_floating_point:
        raise Illegal("dropout of what is no float")
    return dtype


def _like_of(x: TensorValue, element: Callable[[Sequence[Term]], Term]) -> TensorValue:
    return TensorValue(x.shape, x.dtype, element, device=x.device, on_dtype=x.on_dtype)


@meaning("aten.native_dropout.default")
def native_dropout(world: World, x: TensorValue, p: Any, train: Any) -> list[TensorValue]:
    """The mask is drawn as truth values; what it keeps is rounded, and then scaled."""
    drop, dtype = _probability(p), _floats_of(x)
    if any(as_int(size) == 0 for size in x.shape):
        raise NoMeaning("native_dropout of no elements, whose mask is of another dtype")
    if train is False or drop == 0:
        if train is not False:
            raise NoMeaning("native_dropout of nothing, which draws all the same")
        kept = constant(True, torch.bool)
        everything = TensorValue(x.shape, torch.bool, lambda index: kept, device=x.device)
        return [x.moved(x.shape, lambda index: index), everything]
    mask, wider = _kept(world, x, 1 - drop, torch.bool), wide(dtype)
    factor = constant(0.0 if drop == 1 else 1 / (1 - drop), wider)

    def element(index: Sequence[Term]) -> Term:
        kept = fn("mul", cast(x.element(index), wider), cast(mask.element(index), wider))
        return cast(fn("mul", cast(cast(kept, dtype), wider), factor), dtype)

    return [_like_of(x, element), mask]


@meaning("aten.dropout.default")
def dropout(world: World, x: TensorValue, p: Any, train: Any) -> TensorValue:
    """The mask is drawn in the tensor's dtype, and scaled before it is multiplied."""
    if train is False:
        return x.moved(x.shape, lambda index: index)
    drop = _probability(p)
    if not train or drop == 0:
        return x.moved(x.shape, lambda index: index)
    dtype = _floats_of(x)
    wider = wide(dtype)
    if drop == 1:  # nothing is drawn
        zero = constant(0, wider)
        return _like_of(
            x, lambda index: cast(fn("mul", cast(x.element(index), wider), zero), dtype)
        )
    mask, by = _kept(world, x, 1 - drop, dtype), constant(1 - drop, wider)

    def element(index: Sequence[Term]) -> Term:
        noise = cast(fn("div", cast(mask.element(index), wider), by), dtype)
        return cast(fn("mul", cast(x.element(index), wider), cast(noise, wider)), dtype)

    return _like_of(x, element)
